// What a finished block gets beside its text: a copy button, and once it is seen colours for its
// code and the drawing of its formulas and diagrams.
import { highlighted } from './highlight'
import { sanitise } from './sanitise'

import { copyText } from '@/lib/clipboard'

const ICON =
  'M5.5 5.5v-2a1 1 0 0 1 1-1h6a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1h-2M3.5 5.5h6a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1h-6a1 1 0 0 1-1-1v-6a1 1 0 0 1 1-1z'
const SVG = 'http://www.w3.org/2000/svg'

/** Words for what is added. */
export interface Labels {
  copy: string
  diagram: string
  failed: (why: string) => string
}

export function decorate(node: Element, labels: Labels): void {
  const blocks = node.nodeName === 'PRE' ? [node] : [...node.querySelectorAll('pre')]
  for (const block of blocks) {
    if (block.querySelector(':scope > .md-copy')) continue
    block.setAttribute('tabindex', '0')
    block.append(copyButton(labels.copy))
  }
  for (const element of dressed(node)) whenSeen(element, labels)
}

const DRESSED = 'pre[data-lang] > code, .md-math, .md-math-block'
function dressed(node: Element): Element[] {
  const within = [...node.querySelectorAll(DRESSED)]
  return node.matches(DRESSED) ? [node, ...within] : within
}

const labelsOf = new WeakMap<Element, Labels>()

/** Seen, or about to be: what is far away is neither loaded for nor drawn. */
const seen =
  typeof IntersectionObserver === 'undefined'
    ? null
    : new IntersectionObserver(
        (entries) => {
          for (const { isIntersecting, target } of entries) {
            if (!isIntersecting) continue
            seen?.unobserve(target)
            const labels = labelsOf.get(target)
            if (labels) void dress(target as HTMLElement, labels)
          }
        },
        { rootMargin: '300px' },
      )

function whenSeen(element: Element, labels: Labels): void {
  // It has been drawn: a formula has nodes inside, coloured code has spans.
  if (element.firstElementChild !== null) return
  if (element.parentElement?.querySelector(':scope > .md-diagram')) return
  labelsOf.set(element, labels)
  seen?.observe(element)
}

/** Draws what was seen; nodes whose text was replaced meanwhile are left alone. */
export async function dress(element: HTMLElement, labels: Labels): Promise<void> {
  const source = element.textContent
  const block = element.parentElement
  if (element.nodeName !== 'CODE') {
    const { drawFormula } = await import('./formula')
    if (element.textContent !== source) return
    drawFormula(element, source, element.className === 'md-math-block')
  } else if (block?.dataset.lang === 'mermaid') {
    await drawDiagram(block, source, labels)
  } else {
    const html = await highlighted(source, block?.dataset.lang ?? '')
    if (html === null || element.textContent !== source) return
    element.replaceChildren(sanitise(html))
  }
}

/** The picture goes into the block, before its source, which can still be read and copied. */
async function drawDiagram(block: HTMLElement, source: string, labels: Labels): Promise<void> {
  const { diagramOf } = await import('./diagram')
  try {
    const picture = document.createElement('img')
    picture.className = 'md-diagram'
    picture.alt = labels.diagram
    picture.src = URL.createObjectURL(await diagramOf(source))
    if (block.querySelector(':scope > code')?.textContent === source) block.prepend(picture)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    block.dataset.note = labels.failed(error.message.split('\n')[0] ?? '')
  }
}

function copyButton(label: string): HTMLButtonElement {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'md-copy'
  button.setAttribute('aria-label', label)
  button.title = label
  const svg = document.createElementNS(SVG, 'svg')
  svg.setAttribute('viewBox', '0 0 16 16')
  svg.setAttribute('aria-hidden', 'true')
  const path = document.createElementNS(SVG, 'path')
  path.setAttribute('d', ICON)
  svg.append(path)
  button.append(svg)
  return button
}

export function onDecorationClick(event: MouseEvent): void {
  if (!(event.target instanceof Element)) return
  const button = event.target.closest('.md-copy')
  const code = button?.parentElement?.querySelector('code')
  if (!button || !code) return
  void copyText(code.textContent).then((copied) => {
    if (!copied) return
    button.classList.add('done')
    setTimeout(() => {
      button.classList.remove('done')
    }, 1200)
  })
}
