// The calls of a run on one axis of time: what each waited, thought and answered, and when.
import type { CallView } from '@/generated/protocol'

export type SpanKind = 'wait' | 'think' | 'text'

export interface Span {
  kind: SpanKind
  /** Percent of the run. */
  from: number
  width: number
}

export interface WaterfallRow {
  call: CallView
  spans: Span[]
  /** Milliseconds since the run's first call. */
  startMs: number
}

export interface Waterfall {
  rows: WaterfallRow[]
  totalMs: number
}

/** Where one call's stretches begin and end, in milliseconds from its own start. */
export function stretches(call: CallView): { kind: SpanKind; from: number; to: number }[] {
  const end = call.duration_ms ?? call.first_text_ms ?? call.first_thinking_ms ?? call.first_byte_ms
  if (end === null) return []
  const marks: { kind: SpanKind; from: number }[] = [{ kind: 'wait', from: 0 }]
  if (call.first_thinking_ms !== null) marks.push({ kind: 'think', from: call.first_thinking_ms })
  if (call.first_text_ms !== null) marks.push({ kind: 'text', from: call.first_text_ms })
  // A model may answer before it thinks again: what came first is drawn first.
  marks.sort((a, b) => a.from - b.from)
  return marks
    .map((mark, index) => ({ ...mark, to: marks[index + 1]?.from ?? end }))
    .filter((stretch) => stretch.to > stretch.from)
}

export function waterfall(calls: readonly CallView[]): Waterfall {
  const start = Math.min(...calls.map((call) => call.started_at))
  const ends = calls.map((call) => call.started_at - start + (stretches(call).at(-1)?.to ?? 0))
  const totalMs = Math.max(1, ...ends)
  const share = (ms: number) => (ms / totalMs) * 100
  const rows = calls.map((call) => {
    const startMs = call.started_at - start
    const spans = stretches(call).map(({ kind, from, to }) => ({
      kind,
      from: share(startMs + from),
      width: share(to - from),
    }))
    return { call, spans, startMs }
  })
  return { rows, totalMs }
}

/** Calls by run, the newest run first, its calls in order. */
export function byRun(calls: readonly CallView[]): CallView[][] {
  const runs = new Map<string, CallView[]>()
  for (const call of calls) runs.set(call.run_id, [...(runs.get(call.run_id) ?? []), call])
  return [...runs.values()].reverse()
}
