// The drawing of diagrams; loaded with the first one that is seen.
import mermaid from 'mermaid'

import { newId } from '@/lib/ids'

/** The diagram as an SVG picture; what cannot be read is an `Error` that says why. */
export async function diagramOf(source: string): Promise<Blob> {
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: 'strict',
    suppressErrorRendering: true,
    htmlLabels: false,
    flowchart: { htmlLabels: false },
    // The style sheet turns its colours round in the dark.
    theme: 'neutral',
    fontFamily: 'system-ui, sans-serif',
  })
  const { svg } = await mermaid.render(`diagram-${newId()}`, source)
  return new Blob([sized(svg)], { type: 'image/svg+xml' })
}

/** In its own size: it comes with a width of 100 %, which a picture takes for all there is. */
function sized(svg: string): string {
  const root = new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement
  const [, , width, height] = (root.getAttribute('viewBox') ?? '').split(/[\s,]+/).map(Number)
  if (!width || !height) return svg
  root.setAttribute('width', String(width))
  root.setAttribute('height', String(height))
  root.removeAttribute('style')
  return new XMLSerializer().serializeToString(root)
}
