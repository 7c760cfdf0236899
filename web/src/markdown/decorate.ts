// What a finished block gets beside its text: a head with the language and a copy button.
import { copyText } from '@/lib/clipboard'

const ICON =
  'M5.5 5.5v-2a1 1 0 0 1 1-1h6a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1h-2M3.5 5.5h6a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1h-6a1 1 0 0 1-1-1v-6a1 1 0 0 1 1-1z'
const SVG = 'http://www.w3.org/2000/svg'

export function decorate(node: Element, copyLabel: string): void {
  const blocks = node.nodeName === 'PRE' ? [node] : [...node.querySelectorAll('pre')]
  for (const block of blocks) {
    if (block.querySelector(':scope > .md-copy')) continue
    block.setAttribute('tabindex', '0')
    block.append(copyButton(copyLabel))
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
