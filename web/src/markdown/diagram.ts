// The drawing of diagrams; loaded with the first one that is seen.
import mermaid from 'mermaid'

import { newId } from '@/lib/ids'

/** The diagram as an SVG picture; what cannot be read is an `Error` that says why. */
export async function diagramOf(source: string, dark: boolean): Promise<Blob> {
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: 'strict',
    suppressErrorRendering: true,
    htmlLabels: false,
    flowchart: { htmlLabels: false },
    theme: dark ? 'dark' : 'neutral',
    fontFamily: 'system-ui, sans-serif',
  })
  const { svg } = await mermaid.render(`diagram-${newId()}`, source)
  return new Blob([svg], { type: 'image/svg+xml' })
}
