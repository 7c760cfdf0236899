/** 999 → `999`, 1234 → `1.2K`, 12345 → `12.3K`, 1234567 → `1.2M`. */
export function compactNumber(value: number): string {
  if (value < 1000) return String(Math.round(value))
  const thousands = Math.round(value / 100) / 10
  if (thousands < 1000) return `${thousands.toFixed(1)}K`
  return `${(Math.round(value / 100_000) / 10).toFixed(1)}M`
}

export type Load = 'ok' | 'warn' | 'bad' | 'unknown'

/** How full the context is, as a colour: ≤ 50 green, ≤ 80 amber, above red. */
export function contextLoad(percent: number | null): Load {
  if (percent === null) return 'unknown'
  if (percent <= 50) return 'ok'
  return percent <= 80 ? 'warn' : 'bad'
}

/** A percentage with at most one decimal: 32 → `32`, 32.4 → `32.4`. */
export function percentText(percent: number): string {
  return String(Math.round(percent * 10) / 10)
}

export interface Duration {
  unit: 'seconds' | 'minutes'
  seconds: number
  minutes: number
}

/** Whole seconds below a minute, else minutes and seconds; at least one second is shown. */
export function splitDuration(ms: number): Duration {
  const total = Math.max(1, Math.round(ms / 1000))
  if (total < 60) return { unit: 'seconds', seconds: total, minutes: 0 }
  return { unit: 'minutes', seconds: total % 60, minutes: Math.floor(total / 60) }
}

/** `40 ms`, `0.1 s`, `18.2 s`, `2:05`: for tools and whole runs. */
export function clockText(ms: number): string {
  if (ms < 95) return `${Math.max(Math.round(ms), 0)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

export function costText(cost: number): string {
  return `$${cost < 0.01 ? cost.toFixed(4) : cost.toFixed(2)}`
}
