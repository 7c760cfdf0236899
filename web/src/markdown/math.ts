// Formulas in Markdown: `$…$` inside a line, `$$…$$` and `\[…\]` on their own, `\(…\)` inline. They
// become elements that hold their source; what they look like is drawn when they are seen.
import type MarkdownIt from 'markdown-it'
import type { StateBlock, StateInline } from 'markdown-it'

const DOLLAR = 0x24
const BACKSLASH = 0x5c

/** End of the formula that begins at `start`, or -1. A price such as $5 or $10 is no formula. */
function inlineEnd(text: string, start: number, close: string): number {
  let end = text.indexOf(close, start)
  while (end !== -1 && text.charCodeAt(end - 1) === BACKSLASH && close === '$') {
    end = text.indexOf(close, end + 1)
  }
  if (end <= start) return -1
  if (close !== '$') return end
  const spaced = /\s/.test(text.charAt(start)) || /\s/.test(text.charAt(end - 1))
  return spaced || /\d/.test(text.charAt(end + 1)) ? -1 : end
}

const OPENERS: readonly [string, string][] = [
  ['$$', '$$'],
  ['\\(', '\\)'],
  ['\\[', '\\]'],
  ['$', '$'],
]

function inline(state: StateInline, silent: boolean): boolean {
  const code = state.src.charCodeAt(state.pos)
  if (code !== DOLLAR && code !== BACKSLASH) return false
  const found = OPENERS.find(([open]) => state.src.startsWith(open, state.pos))
  if (!found) return false
  const [open, close] = found
  const start = state.pos + open.length
  const end = inlineEnd(state.src, start, close)
  if (end === -1 || end + close.length > state.posMax) return false
  if (!silent) {
    const token = state.push('math', 'span', 0)
    token.content = state.src.slice(start, end)
    token.meta = { display: open === '$$' || open === '\\[' }
  }
  state.pos = end + close.length
  return true
}

function block(state: StateBlock, first: number, last: number, silent: boolean): boolean {
  const lineOf = (line: number) =>
    state.src.slice((state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0), state.eMarks[line])
  const head = lineOf(first)
  const found = OPENERS.find(([open]) => (open === '$$' || open === '\\[') && head.startsWith(open))
  if (!found || (state.sCount[first] ?? 0) - state.blkIndent >= 4) return false
  const [open, close] = found
  const lines: string[] = []
  for (let line = first; line < last; line += 1) {
    const text = line === first ? head.slice(open.length) : lineOf(line)
    const end = text.indexOf(close)
    if (end === -1) {
      lines.push(text)
      continue
    }
    // Words behind the formula make it a part of a sentence.
    if (text.slice(end + close.length).trim() !== '') return false
    if (silent) return true
    const token = state.push('math', 'span', 0)
    token.block = true
    token.content = [...lines, text.slice(0, end)].join('\n').trim()
    token.meta = { display: true, own: true }
    token.map = [first, line + 1]
    state.line = line + 1
    return true
  }
  return false
}

/** Teaches the parser formulas. */
export function math(md: InstanceType<typeof MarkdownIt>): void {
  md.inline.ruler.before('escape', 'math', inline)
  md.block.ruler.before('fence', 'math', block, { alt: ['paragraph', 'blockquote', 'list'] })
  md.renderer.rules.math = (tokens, index) => {
    const token = tokens[index]
    if (!token) return ''
    const { display, own } = token.meta as { display: boolean; own?: boolean }
    const text = md.utils.escapeHtml(token.content)
    const span = `<span class="md-math${display ? '-block' : ''}">${text}</span>`
    return own ? `<p>${span}</p>\n` : span
  }
}
