// Markdown to HTML text, in top-level pieces. Raw HTML of the model is shown, never interpreted;
// the sanitiser behind this is a second wall.
import MarkdownIt from 'markdown-it'
import type { Token } from 'markdown-it'

import { math } from './math'

export type Env = Record<string, unknown>

export const md = new MarkdownIt({ html: false, linkify: true, breaks: false, typographer: false })
md.use(math)

// The page loads nothing from other hosts: a picture of another host becomes a link to it.
md.renderer.rules.image = (tokens, index, options, env, self) => {
  const token = tokens[index]
  if (!token) return ''
  const source = String(token.attrGet('src') ?? '')
  const alt = self.renderInlineAsText(token.children ?? [], options, env)
  const text = md.utils.escapeHtml(alt || source)
  if (/^(data:image\/(png|jpeg|gif|webp);|blob:)/.test(source)) {
    return `<img src="${md.utils.escapeHtml(source)}" alt="${text}">`
  }
  return `<a href="${md.utils.escapeHtml(source)}">${text}</a>`
}

// Attributes of style are forbidden by the page's policy; alignment becomes a class.
for (const name of ['th_open', 'td_open']) {
  md.renderer.rules[name] = (tokens, index, options, _env, self) => {
    const token = tokens[index]
    if (!token) return ''
    const align = /text-align:(\w+)/.exec(String(token.attrGet('style') ?? ''))?.[1]
    token.attrs = align ? [['class', `align-${align}`]] : null
    return self.renderToken(tokens, index, options)
  }
}
md.renderer.rules.table_open = () => '<div class="md-table"><table>'
md.renderer.rules.table_close = () => '</table></div>'

md.renderer.rules.fence = (tokens, index) => {
  const token = tokens[index]
  if (!token) return ''
  const language = /^[\w+#.-]+/.exec(md.utils.unescapeAll(token.info).trim())?.[0] ?? ''
  const label = language ? ` data-lang="${md.utils.escapeHtml(language)}"` : ''
  return `<pre${label}><code>${md.utils.escapeHtml(token.content)}</code></pre>\n`
}
md.renderer.rules.code_block = (tokens, index) =>
  `<pre><code>${md.utils.escapeHtml(tokens[index]?.content ?? '')}</code></pre>\n`

/** One top-level block: its tokens and the line it starts on. */
export interface Piece {
  tokens: Token[]
  line: number
}

export function pieces(source: string, env: Env): Piece[] {
  const found: Piece[] = []
  let depth = 0
  let current: Piece | null = null
  for (const token of md.parse(source, env)) {
    if (depth === 0 && current === null) {
      current = { tokens: [], line: token.map?.[0] ?? 0 }
      found.push(current)
    }
    current?.tokens.push(token)
    depth += token.nesting
    if (depth === 0) current = null
  }
  return found
}

export function htmlOf(tokens: Token[], env: Env): string {
  return md.renderer.render(tokens, md.options, env)
}

export function renderAll(source: string): string {
  return md.render(source, {})
}
