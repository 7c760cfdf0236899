import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'

import { renderAll } from '@/markdown/parser'
import { sanitise } from '@/markdown/sanitise'
import { StreamRenderer } from '@/markdown/stream'

function whole(text: string): string {
  const holder = document.createElement('div')
  holder.append(sanitise(renderAll(text)))
  return holder.innerHTML
}

/** HTML without the breaks between tags, the attributes of each in one order. */
function squeezed(html: string): string {
  const tag = /<(\w+)((?: [\w-]+="[^"]*")+)>/g
  return html
    .replace(/>\s+</g, '><')
    .replace(tag, (_all, name: string, list: string) => {
      const attributes = [...list.matchAll(/[\w-]+="[^"]*"/g)].map(([attribute]) => attribute)
      return `<${name} ${attributes.sort().join(' ')}>`
    })
    .trim()
}

function streamed(text: string, cuts: readonly number[]): { during: string; after: string } {
  const root = document.createElement('div')
  const renderer = new StreamRenderer(root)
  for (const cut of cuts) renderer.update(text.slice(0, cut))
  renderer.update(text)
  const during = squeezed(root.innerHTML)
  renderer.finish(text)
  return { during, after: squeezed(root.innerHTML) }
}

const everyCut = (text: string) => Array.from({ length: text.length }, (_, index) => index)

const CASES: Record<string, string> = {
  prose: 'First line\nstill first.\n\nSecond **bold** and `code`.\n',
  chinese: '列要可空，这样旧行**不用**回填。\n\n迁移必须在一个事务里。',
  'an unclosed fence': 'Look:\n\n```python\ndef f():\n    return 1\n',
  'a fence with blank lines': '```\na\n\n\nb\n```\n\nafter',
  'an ordered list that starts late': '3. three\n4. four\n\n5. five\n6. six\n\nend',
  'a list that becomes loose': '- a\n- b\n\n- c\n\ntext',
  'a nested list': '- a\n  - b\n    - c\n- d\n\n  more of d\n- e',
  'lists of two kinds': '- a\n- b\n\n1. x\n2. y\n\n* star',
  'a setext heading': 'Title\n=====\n\nUnder\n---\n\ntext',
  'a lazy quote': '> quoted\nlazily\n\n> again\n> more',
  'a reference that is defined later': 'See [the page][p] now.\n\nMore.\n\n[p]: https://example.com "t"\n',
  'a reference that is defined before': '[p]: https://example.com/long/path\n\nSee [p] now.\n\nEnd.',
  'a table': '| a | b |\n|---|--:|\n| 1 | 2 |\n| 3 | 4 |\n\nafter',
  'unclosed emphasis': 'this is **not closed and `neither\n\nnext *one',
  'html of the model': 'a <b onclick="x()">b</b>\n\n<script>alert(1)</script>\n\n<img src=x onerror=y>',
  'headings without blanks': '# one\n## two\ntext\n### three',
  rules: 'a\n\n---\n\n- - -\n\n***',
  'code by indent': 'x:\n\n    let a = 1\n    let b = 2\n\ny',
  'hard breaks and links': 'a  \nb https://example.com/x_y_z c\\\nd',
}

/** Hundreds of drawings; on a busy machine they take more than the usual five seconds. */
const PATIENCE_MS = 30_000

describe('streamed Markdown', () => {
  for (const [name, text] of Object.entries(CASES)) {
    it(`shows ${name} as one render would`, () => {
      expect(streamed(text, everyCut(text)).after).toBe(squeezed(whole(text)))
    })
    it(`shows ${name} so already before the end, unless later words change it`, () => {
      const later = name.endsWith('defined later')
      if (!later) expect(streamed(text, everyCut(text)).during).toBe(squeezed(whole(text)))
    })
  }

  it('shows any mixture as one render would, whatever the cuts', () => {
    const piece = fc.constantFrom(
      ...['\n', '\n\n', '- ', '1. ', '2. ', '> ', '```\n', '# ', '  ', '    ', '**', '`', '|', '---'],
      ...['word ', '思路', '[a](b) ', '\n\n[r]: https://e.org\n\n', '[r] ', '===\n', '* ', '\\'],
    )
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 24 }),
        fc.array(fc.nat(200), { maxLength: 12 }),
        (pieces, cuts) => {
          const text = pieces.join('')
          const ordered = cuts.map((cut) => Math.min(cut, text.length)).sort((a, b) => a - b)
          expect(streamed(text, ordered).after).toBe(squeezed(whole(text)))
        },
      ),
      { numRuns: 600 },
    )
  }, PATIENCE_MS)

  it('leaves the nodes of finished blocks alone', () => {
    const root = document.createElement('div')
    const renderer = new StreamRenderer(root)
    renderer.update('First paragraph.\n\nSecond')
    const first = root.firstElementChild
    renderer.update('First paragraph.\n\nSecond one is longer.\n\n- a\n')
    renderer.finish('First paragraph.\n\nSecond one is longer.\n\n- a\n- b')
    expect(root.firstElementChild).toBe(first)
  })

  it('removes hardly a node while a long list, a fence or prose grows', () => {
    const list = Array.from({ length: 400 }, (_, index) => `- item ${index} with **bold**`).join('\n')
    const fence = `\`\`\`js\n${'let a = 1 // and more of it\n'.repeat(300)}\`\`\`\n`
    const prose = '旧行不用回填，迁移必须在一个事务里。'.repeat(300)
    for (const text of [list, fence, prose]) {
      const root = document.createElement('div')
      const renderer = new StreamRenderer(root)
      const observer = new MutationObserver(() => undefined)
      observer.observe(root, { childList: true, subtree: true })
      let removed = 0
      for (let cut = 0; cut <= text.length; cut += 120) {
        renderer.update(text.slice(0, cut))
        for (const record of observer.takeRecords()) removed += record.removedNodes.length
      }
      renderer.finish(text)
      for (const record of observer.takeRecords()) removed += record.removedNodes.length
      expect(removed).toBeLessThan(100)
    }
  })

  it('starts anew when the text is another one', () => {
    const root = document.createElement('div')
    const renderer = new StreamRenderer(root)
    renderer.update('first attempt\n\nwith more')
    renderer.update('second')
    expect(squeezed(root.innerHTML)).toBe('<p>second</p>')
  })
})

describe('what a model, a tool or a vendor wrote', () => {
  afterEach(() => {
    document.body.replaceChildren()
  })

  const ATTACKS = [
    '<img src=x onerror="window.hit=1">',
    '[click](javascript:alert(1))',
    '[click](data:text/html,<script>alert(1)</script>)',
    '<svg onload="window.hit=1"><a href="javascript:1">x</a></svg>',
    '<details open ontoggle="window.hit=1">x</details>',
    '<iframe src="https://evil.example"></iframe>',
    '<style>*{display:none}</style>',
    '![x](https://evil.example/pixel.png)',
    '![x](//evil.example/pixel.png)',
    '<form action="https://evil.example"><button>x</button></form>',
    '<https://ok.example> <javascript:alert(1)>',
  ]

  it.each(ATTACKS)('runs nothing and loads nothing: %s', (attack) => {
    const root = document.createElement('div')
    document.body.append(root)
    const renderer = new StreamRenderer(root)
    for (const cut of everyCut(attack)) {
      renderer.update(attack.slice(0, cut))
      harmless(root)
    }
    renderer.finish(attack)
    harmless(root)
  })

  it('stays harmless even if the first wall fell', () => {
    for (const attack of ATTACKS) {
      const root = document.createElement('div')
      root.append(sanitise(attack))
      harmless(root)
    }
  })

  it('opens links in a new tab, without telling where from', () => {
    const root = document.createElement('div')
    root.append(sanitise(renderAll('[x](https://example.com)')))
    expect(root.querySelector('a')).toMatchObject({
      target: '_blank',
      rel: 'noopener noreferrer nofollow',
    })
  })

  function harmless(root: HTMLElement): void {
    expect(root.querySelector('script, style, iframe, svg, object, embed, form, details')).toBeNull()
    for (const element of root.querySelectorAll('*')) {
      for (const { name, value } of element.attributes) {
        expect(name.startsWith('on')).toBe(false)
        expect(name).not.toBe('style')
        if (name === 'href') expect(value).toMatch(/^(https?:|mailto:|#)/)
        if (name === 'src') expect(value).toMatch(/^(data:image|blob:)/)
      }
    }
  }
})
