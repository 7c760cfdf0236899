export type DayGroup = 'today' | 'yesterday' | 'week' | 'earlier'

const DAY = 86_400_000

/** Which heading of the sidebar a time falls under, in the reader's own days. */
export function dayGroup(time: number, now: number): DayGroup {
  const midnight = new Date(now)
  midnight.setHours(0, 0, 0, 0)
  const start = midnight.getTime()
  if (time >= start) return 'today'
  if (time >= start - DAY) return 'yesterday'
  return time >= start - 7 * DAY ? 'week' : 'earlier'
}
