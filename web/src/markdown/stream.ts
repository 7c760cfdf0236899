// Markdown that grows. Finished top-level blocks are committed and never parsed again; only the
// open tail is, and of the tail only what changed touches the page. List items are compared one
// by one, because a list stays open for as long as it grows. At the end one full render is
// compared with what is shown: later link definitions may have changed earlier text.
import { htmlOf, pieces, renderAll, type Env, type Piece } from './parser'
import { morphChildren, morphNode } from './morph'
import { sanitise } from './sanitise'

/** A stretch of output: `html` as rendered, and the nodes that stand for it. */
interface Unit {
  html: string
  nodes: ChildNode[]
}

interface ListUnit {
  open: string
  element: Element
  items: Unit[]
}

export class StreamRenderer {
  private source = ''
  private committedAt = 0
  private committedHtml = ''
  private env: Env = {}
  private tail: Unit[] = []
  private list: ListUnit | null = null
  private finished = false

  constructor(
    private readonly root: HTMLElement,
    private readonly onCommit: (node: Element) => void = () => undefined,
  ) {}

  /** Shows `text`; what was shown before should be its beginning, else all is drawn anew. */
  update(text: string): void {
    if (text === this.source && !this.finished) return
    if (this.finished || !text.startsWith(this.source)) this.reset()
    this.source = text
    const open = text.slice(this.committedAt)
    // A copy, because a definition that is still being written would be kept half-written.
    const env: Env = { references: { ...(this.env.references as object | undefined) } }
    const found = pieces(open, env)
    const keep = this.firstOpen(found, open)
    const boundary = found[keep]
    if (boundary && keep > 0) {
      const length = lineOffset(open, boundary.line)
      pieces(open.slice(0, length), this.env)
      this.committedAt += length
    }
    for (const piece of found.slice(0, keep)) this.commitPiece(piece, env)
    this.drawTail(found.slice(keep), env)
  }

  /** The text is whole: shows exactly what a single render of it shows. */
  finish(text: string): void {
    this.update(text)
    const shown = this.committedHtml + this.tail.map((unit) => unit.html).join('') + this.listHtml()
    const whole = renderAll(text)
    if (whole !== shown) this.replaceAll(whole)
    for (const node of this.root.children) this.onCommit(node)
    this.finished = true
  }

  private reset(): void {
    this.root.replaceChildren()
    this.source = ''
    this.committedAt = 0
    this.committedHtml = ''
    this.env = {}
    this.tail = []
    this.list = null
    this.finished = false
  }

  /**
   * Index of the first block that may still change: the last one, and also the one before it
   * while the last one's first line is unfinished ("1" may become "1. …" and join the list).
   */
  private firstOpen(found: Piece[], open: string): number {
    const last = found.at(-1)
    if (!last) return 0
    const start = lineOffset(open, last.line)
    const lineDone = open.indexOf('\n', start) !== -1
    return Math.max(0, found.length - (lineDone ? 1 : 2))
  }

  private commitPiece(piece: Piece, env: Env): void {
    const html = htmlOf(piece.tokens, env)
    this.committedHtml += html
    const unit = this.tail.shift()
    if (unit) {
      if (unit.html !== html) morphUnit(this.root, unit, solidNodes(sanitise(html)))
      this.announce(unit.nodes)
      return
    }
    const nodes = solidNodes(sanitise(html))
    if (this.list) this.commitList(nodes)
    else this.root.append(...nodes)
    this.announce(nodes)
  }

  private announce(nodes: readonly ChildNode[]): void {
    for (const node of nodes) if (node instanceof Element && node.isConnected) this.onCommit(node)
  }

  /** The list that grew is now a finished block; its nodes stay where they fit. */
  private commitList(nodes: ChildNode[]): void {
    const list = this.list
    this.list = null
    const [wanted] = nodes
    if (!list || !wanted) return
    if (wanted.nodeName === list.element.nodeName) morphNode(list.element, wanted)
    else list.element.replaceWith(...nodes)
  }

  private drawTail(found: Piece[], env: Env): void {
    const last = found.at(-1)
    const list = last !== undefined && isList(last) ? last : null
    if (list === null) this.dropList()
    const plain = list === null ? found : found.slice(0, -1)
    const wanted = plain.map((piece) => htmlOf(piece.tokens, env))
    drawUnits(this.root, this.tail, wanted, this.list?.element ?? null, (html) => sanitise(html))
    if (list !== null) this.drawList(list, env)
  }

  private drawList(piece: Piece, env: Env): void {
    const { open, items } = listParts(piece, env)
    let list = this.list
    if (list === null || list.open !== open) {
      list?.element.remove()
      const element = sanitise(`${open}</${open.slice(1, 3)}>`).firstElementChild
      if (!element) return
      list = this.list = { open, element, items: [] }
      this.root.append(element)
    }
    drawUnits(list.element, list.items, items, null, (html) => itemNodes(open, html))
  }

  private dropList(): void {
    this.list?.element.remove()
    this.list = null
  }

  private listHtml(): string {
    if (!this.list) return ''
    const { open, items } = this.list
    return `${open}\n${items.map((item) => item.html).join('')}</${open.slice(1, 3)}>\n`
  }

  private replaceAll(html: string): void {
    const wanted = document.createDocumentFragment()
    wanted.append(...solidNodes(sanitise(html)))
    morphChildren(this.root, wanted)
    this.tail = []
    this.list = null
  }
}

function isList(piece: Piece): boolean {
  const type = piece.tokens[0]?.type
  return type === 'bullet_list_open' || type === 'ordered_list_open'
}

/** The list's opening tag and the HTML of each item, in order. */
function listParts(piece: Piece, env: Env): { open: string; items: string[] } {
  const first = piece.tokens[0]
  const open = first ? htmlOf([first], env).trim() : '<ul>'
  const items: string[] = []
  let start = 1
  let depth = 0
  for (let index = 1; index < piece.tokens.length - 1; index += 1) {
    depth += piece.tokens[index]?.nesting ?? 0
    if (depth !== 0) continue
    items.push(htmlOf(piece.tokens.slice(start, index + 1), env))
    start = index + 1
  }
  return { open, items }
}

/** Items are cleaned inside a list of their own: the parser drops a `li` that stands alone. */
function itemNodes(open: string, html: string): DocumentFragment {
  const list = sanitise(`${open}${html}</${open.slice(1, 3)}>`).firstElementChild
  const fragment = document.createDocumentFragment()
  if (list) fragment.append(...list.childNodes)
  return fragment
}

/** Makes the units of `parent` stand for `wanted`; the new ones go before `before`. */
function drawUnits(
  parent: Element,
  units: Unit[],
  wanted: readonly string[],
  before: Element | null,
  clean: (html: string) => DocumentFragment,
): void {
  for (const [index, html] of wanted.entries()) {
    const unit = units[index]
    if (unit?.html === html) continue
    const nodes = solidNodes(clean(html))
    if (unit) {
      morphUnit(parent, unit, nodes)
      unit.html = html
    } else {
      for (const node of nodes) parent.insertBefore(node, before)
      units.push({ html, nodes })
    }
  }
  for (const unit of units.splice(wanted.length)) for (const node of unit.nodes) node.remove()
}

function morphUnit(parent: Element, unit: Unit, nodes: ChildNode[]): void {
  const [old] = unit.nodes
  const [next] = nodes
  const single = unit.nodes.length === 1 && nodes.length === 1
  if (single && old && next && old.nodeName === next.nodeName) morphNode(old, next)
  else replaceUnit(parent, unit, nodes)
}

function replaceUnit(parent: Element, unit: Unit, nodes: ChildNode[]): void {
  const place = unit.nodes[0] ?? null
  for (const node of nodes) parent.insertBefore(node, place)
  for (const node of unit.nodes) node.remove()
  unit.nodes = nodes
}

/** Without the line breaks between blocks, which are no content. */
function solidNodes(fragment: DocumentFragment): ChildNode[] {
  return [...fragment.childNodes].filter(
    (node) => !(node instanceof Text && node.data.trim() === ''),
  )
}

function lineOffset(text: string, line: number): number {
  let offset = 0
  for (let left = line; left > 0; left -= 1) {
    const next = text.indexOf('\n', offset)
    if (next === -1) return text.length
    offset = next + 1
  }
  return offset
}
