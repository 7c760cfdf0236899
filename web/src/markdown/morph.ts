// Turns one run of nodes into another while keeping what is the same, so that a growing text
// neither flickers nor loses a selection. Text that only grew is appended to.

export function morphChildren(target: Node, wanted: Node): void {
  let old = target.firstChild
  let next = wanted.firstChild
  while (next) {
    const following = next.nextSibling
    if (old && sameKind(old, next)) {
      morphNode(old, next)
      old = old.nextSibling
    } else {
      target.insertBefore(next, old)
    }
    next = following
  }
  while (old) {
    const following: ChildNode | null = old.nextSibling
    old.remove()
    old = following
  }
}

function sameKind(a: Node, b: Node): boolean {
  return a.nodeType === b.nodeType && a.nodeName === b.nodeName
}

export function morphNode(old: Node, wanted: Node): void {
  if (old instanceof Text && wanted instanceof Text) {
    if (old.data === wanted.data) return
    if (wanted.data.startsWith(old.data)) old.appendData(wanted.data.slice(old.length))
    else old.data = wanted.data
    return
  }
  if (old instanceof Element && wanted instanceof Element) {
    syncAttributes(old, wanted)
    morphChildren(old, wanted)
  }
}

function syncAttributes(old: Element, wanted: Element): void {
  for (const { name } of [...old.attributes]) {
    if (!wanted.hasAttribute(name)) old.removeAttribute(name)
  }
  for (const { name, value } of wanted.attributes) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value)
  }
}
