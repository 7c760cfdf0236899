// The token meter as a value; the browser shows what the server counted and never estimates.
import { compactNumber, contextLoad, percentText, type Load } from './format'

import type { TokenUpdate } from '@/generated/protocol'

export interface MeterView {
  /** Shown while a run is on, or null before its first call. */
  run: { in: string; out: string; n: number } | null
  percent: string | null
  load: Load
}

const shown = (count: number | null) => (count === null ? '–' : compactNumber(count))

export function meterView(tokens: TokenUpdate | null, running: boolean): MeterView {
  const percent = tokens?.context.percent ?? null
  const current = tokens?.current ?? null
  return {
    run:
      running && current && current.apiCalls > 0
        ? { in: shown(current.inputTokens), out: shown(current.outputTokens), n: current.apiCalls }
        : null,
    percent: percent === null ? null : percentText(percent),
    load: contextLoad(percent),
  }
}
