import { describe, expect, it } from 'vitest'

import { show } from './helpers'

import UsageTable from '@/components/usage/UsageTable.vue'
import type { Spent } from '@/generated/protocol'
import { barsOf, dayKey, daysOf, startOf } from '@/lib/spending'

const NOON = new Date(2026, 2, 30, 12).getTime()

function spent(key: string, more: Partial<Spent> = {}): Spent {
  return {
    key,
    calls: 1,
    input_tokens: 1_234,
    output_tokens: 500,
    reasoning_tokens: 300,
    cache_read_tokens: null,
    cache_write_tokens: null,
    untold: 0,
    cost: 0.0012,
    unpriced: 0,
    ...more,
  }
}

describe('usage', () => {
  it('has a column for each day, also across a change of clocks', () => {
    const days = daysOf([spent('2026-03-29')], 3, NOON)
    expect(days.map((day) => day.key)).toEqual(['2026-03-28', '2026-03-29', '2026-03-30'])
    expect(days.map((day) => day.thinking)).toEqual([0, 300, 0])
    expect(dayKey(startOf(3, NOON))).toBe('2026-03-28')
  })

  it('tells thinking from answers, of which output is the sum', () => {
    expect(barsOf([spent('m')])[0]).toMatchObject({ thinking: 300, answer: 200, input: 1_234 })
    expect(barsOf([spent('m', { reasoning_tokens: null })])[0]).toMatchObject({ answer: 500 })
  })

  it('shows a dash for what no call told', async () => {
    const bars = barsOf([spent('m', { reasoning_tokens: null, cost: null })])
    const view = await show(UsageTable, { bars, nameOf: (key: string) => key.toUpperCase() })
    const cells = view.findAll('tbody th, tbody td:not(.wide)').map((cell) => cell.text())
    expect(cells).toEqual(['M', '–', '500', '1.2K', '1', '–'])
  })
})
