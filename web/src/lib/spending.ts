// Usage as a page draws it: days without gaps, answers told from thoughts.
import type { Spent } from '@/generated/protocol'

export interface Bar {
  key: string
  spent: Spent | null
  thinking: number
  answer: number
  input: number
}

const DAY_MS = 86_400_000

/** Local date as the server writes days. */
export function dayKey(time: number): string {
  const date = new Date(time)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

function bar(key: string, spent: Spent | null): Bar {
  const thinking = spent?.reasoning_tokens ?? 0
  // Output includes thinking; what is not thought is said.
  const answer = Math.max(0, (spent?.output_tokens ?? 0) - thinking)
  return { key, spent, thinking, answer, input: spent?.input_tokens ?? 0 }
}

export const barsOf = (rows: readonly Spent[]): Bar[] => rows.map((row) => bar(row.key, row))

/** A bar for each of the last days, oldest first, also for those without a call. */
export function daysOf(rows: readonly Spent[], days: number, now: number): Bar[] {
  const known = new Map(rows.map((row) => [row.key, row]))
  const noon = new Date(now).setHours(12, 0, 0, 0)
  return Array.from({ length: days }, (_, index) => {
    const key = dayKey(noon - (days - 1 - index) * DAY_MS)
    return bar(key, known.get(key) ?? null)
  })
}

export const startOf = (days: number, now: number): number =>
  new Date(now - (days - 1) * DAY_MS).setHours(0, 0, 0, 0)
