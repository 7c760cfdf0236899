"""Documents and pages as text, made by a program of its own: a file made to harm can only harm
that program, which has limits in time, memory and output."""

from silu.tools.documents.reader import Extract, Order, extract

__all__ = ["Extract", "Order", "extract"]
