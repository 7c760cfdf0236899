import { describe, expect, it } from 'vitest'

import type { CallView } from '@/generated/protocol'
import { byRun, stretches, waterfall } from '@/lib/waterfall'

const call = (more: Partial<CallView>) =>
  ({
    id: 'c',
    run_id: 'r',
    started_at: 1_000,
    first_byte_ms: null,
    first_thinking_ms: null,
    first_text_ms: null,
    duration_ms: null,
    ...more,
  }) as CallView

describe('a call', () => {
  it('waits, thinks and answers, each until the next begins', () => {
    const drawn = stretches(call({ first_thinking_ms: 200, first_text_ms: 900, duration_ms: 1_000 }))
    expect(drawn).toEqual([
      { kind: 'wait', from: 0, to: 200 },
      { kind: 'think', from: 200, to: 900 },
      { kind: 'text', from: 900, to: 1_000 },
    ])
  })

  it('that was cut in its thought ends there, and one that told nothing has no stretch', () => {
    expect(stretches(call({ first_thinking_ms: 200 }))).toEqual([{ kind: 'wait', from: 0, to: 200 }])
    expect(stretches(call({}))).toEqual([])
  })
})

describe('a run', () => {
  it('has its calls on one axis, with the gap that a tool took between them', () => {
    const first = call({ id: 'a', first_text_ms: 0, duration_ms: 400 })
    const second = call({ id: 'b', started_at: 1_600, first_text_ms: 200, duration_ms: 400 })
    const { rows, totalMs } = waterfall([first, second])
    expect(totalMs).toBe(1_000)
    expect(rows.map((row) => row.spans)).toEqual([
      [{ kind: 'text', from: 0, width: 40 }],
      [
        { kind: 'wait', from: 60, width: 20 },
        { kind: 'text', from: 80, width: 20 },
      ],
    ])
  })

  it('stands before the older ones', () => {
    const calls = [call({ id: 'a', run_id: '1' }), call({ id: 'b', run_id: '2' }), call({ id: 'c', run_id: '2' })]
    expect(byRun(calls).map((run) => run.map(({ id }) => id))).toEqual([['b', 'c'], ['a']])
  })
})
