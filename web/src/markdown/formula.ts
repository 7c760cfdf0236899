// The drawing of formulas, with its fonts a part of the page that is loaded with the first one.
import 'katex/dist/katex.min.css'

import katex from 'katex'

/** Draws into `element`. KaTeX makes nodes, not text, so that the page's strict policy holds. */
export function drawFormula(element: HTMLElement, source: string, display: boolean): void {
  katex.render(source, element, {
    displayMode: display,
    throwOnError: false,
    trust: false,
    strict: 'ignore',
    maxSize: 40,
    maxExpand: 400,
  })
}
