"""Images and files for requests in tests: some can be sent, some cannot."""

from silu.types.parts import BlobRef, FilePart, ImagePart, UnknownPart

PNG = ImagePart(media_type="image/png", data="AAAA", id="i1")
WEB = ImagePart(media_type="image/png", url="https://e.x/a.png", id="i2")
GONE = ImagePart(media_type="image/png", blob=BlobRef(sha256="0", size=1), id="i3")
PDF = FilePart(media_type="application/pdf", name="a_b.pdf", data="AAAA", id="f1")
NOTES = FilePart(media_type="text/plain", name="n", data="aGk=", id="f2")
LOST = FilePart(media_type="application/zip", name="z", id="f3")
UNKNOWN = UnknownPart(raw={"type": "new"}, id="u")
