// Formulas, colours and diagrams: what becomes one, and what stays text.
import { beforeEach, describe, expect, it } from 'vitest'

import { decorate, dress } from '@/markdown/decorate'
import { renderAll } from '@/markdown/parser'
import { sanitise } from '@/markdown/sanitise'
import { StreamRenderer } from '@/markdown/stream'

const LABELS = { copy: 'Copy', diagram: 'Diagram', failed: (why: string) => `cannot: ${why}` }

beforeEach(() => {
  document.body.replaceChildren()
})

function drawn(source: string): HTMLElement {
  const root = document.createElement('div')
  root.append(sanitise(renderAll(source)))
  document.body.append(root)
  return root
}
const formulas = (root: HTMLElement) =>
  [...root.querySelectorAll('.md-math, .md-math-block')].map((node) => [
    node.className,
    node.textContent,
  ])

describe('a formula', () => {
  it.each([
    ['so $a_1 * b_2$ holds', [['md-math', 'a_1 * b_2']]],
    ['\\(x<y\\) and \\[z\\]', [['md-math', 'x<y'], ['md-math-block', 'z']]],
    ['$$\n\\frac{1}{2}\n$$', [['md-math-block', '\\frac{1}{2}']]],
    ['$$E=mc^2$$', [['md-math-block', 'E=mc^2']]],
    ['- in a list:\n  $$\n  a\n  $$', [['md-math-block', 'a']]],
    ['它等于 $x$。', [['md-math', 'x']]],
  ])('is found in %j', (source, wanted) => {
    expect(formulas(drawn(source))).toEqual(wanted)
  })

  it.each([
    'It costs $5 or $10.',
    'Set $HOME and $PATH',
    'escaped \\$x\\$',
    '`$code$`',
    '```\n$$a$$\n```',
    '$ a $',
    '$$ never closed',
  ])('is not seen in %j', (source) => {
    expect(formulas(drawn(source))).toEqual([])
  })

  it('comes out the same when it streams in, letter by letter', () => {
    const source = 'First $a+b$, then\n\n$$\n\\sum_{k=0}^5 k\n$$\n\nand $c$ at last.'
    const root = document.createElement('div')
    const renderer = new StreamRenderer(root)
    for (let end = 1; end < source.length; end += 1) renderer.update(source.slice(0, end))
    renderer.finish(source)
    expect(formulas(root)).toEqual(formulas(drawn(source)))
    expect(formulas(root)).toHaveLength(3)
  })

  it('is drawn with its source kept for those who do not see it', async () => {
    const root = drawn('$x^2$')
    const node = root.querySelector<HTMLElement>('.md-math')
    if (!node) throw new Error('no formula')
    await dress(node, LABELS)
    expect(node.querySelector('.katex-mathml annotation')?.textContent).toBe('x^2')
  })

  it('that cannot be read shows its source instead of failing', async () => {
    const root = drawn('$\\frac{$')
    const node = root.querySelector<HTMLElement>('.md-math')
    if (!node) throw new Error('no formula')
    await dress(node, LABELS)
    expect(node.textContent).toContain('\\frac{')
  })
})

describe('code', () => {
  async function coloured(source: string): Promise<HTMLElement> {
    const root = drawn(source)
    for (const child of root.children) decorate(child, LABELS)
    const code = root.querySelector<HTMLElement>('pre > code')
    if (!code) throw new Error('no code')
    await dress(code, LABELS)
    return code
  }

  it('gets colours by its language, also by a short name, and keeps every letter', async () => {
    const code = await coloured('```py\ndef f(x):\n    return "<b>"\n```')
    expect(code.querySelector('.hljs-keyword')?.textContent).toBe('def')
    expect(code.querySelector('.hljs-string')?.textContent).toBe('"<b>"')
    expect(code.textContent).toBe('def f(x):\n    return "<b>"\n')
  })

  it('of a language nobody knows stays as it is', async () => {
    const code = await coloured('```klingon\nqapla\n```')
    expect(code.children).toHaveLength(0)
  })

  it('cannot bring nodes of its own through the colours', async () => {
    const code = await coloured('```html\n<img src=x onerror=alert(1)>\n```')
    expect(code.querySelector('img')).toBeNull()
    expect(code.textContent).toContain('onerror')
  })
})
