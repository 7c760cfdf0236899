import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { delta, fact, session } from './helpers'

import type { Segment } from '@/generated/protocol'
import { codePoints } from '@/lib/text'
import { applyDelta, applyFact } from '@/transport/apply'
import { blocksOf, type SessionModel } from '@/transport/model'
import { turnsOf } from '@/transport/history'
import { applySnapshot, knownBlocks } from '@/transport/snapshot'

const blocks = (model: SessionModel) => model.turns.flatMap((turn) => [...blocksOf(turn)])
const texts = (model: SessionModel) => blocks(model).map((block) => block.text)

function expectTurn(model: SessionModel) {
  const turn = model.turns[0]
  if (!turn) throw new Error('no turn')
  return turn
}

const start = { message_id: 'm1', block_id: 'b1', attempt: 1, kind: 'full' as const, started_at: 9 }
const end = { ...start, duration_ms: 40, tokens: 7, length: 5, interrupted: false }

function notice(kind: string, text: string): Segment {
  return {
    type: 'notice',
    id: kind,
    kind,
    text,
    started_at: null,
    duration_ms: null,
    tokens: null,
    interrupted: false,
    call_id: null,
    name: null,
    arguments: null,
    status: null,
    summary: null,
    result_ref: null,
    pictures: [],
    truncated: false,
    data: null,
  }
}

describe('text of a block', () => {
  it('may come before the fact that opens it', () => {
    const model = session()
    expect(applyDelta(model, delta('thinking', 0, 'hmm'))).toBe('done')
    applyFact(model, fact('thinking_start', 1, start))
    applyDelta(model, delta('thinking', 3, ', ok'))
    expect(texts(model)).toEqual(['hmm, ok'])
    expect(blocks(model)[0]).toMatchObject({ startedAt: 9, done: false })
  })

  it('that is told twice is shown once, whatever the cuts', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }),
        fc.array(fc.tuple(fc.nat(70), fc.integer({ min: 1, max: 30 })), { maxLength: 30 }),
        (text, pieces) => {
          const model = session()
          const points = [...text]
          let known = 0
          const send = (from: number, to: number) => {
            const outcome = applyDelta(
              model,
              delta('content', from, points.slice(from, to).join('')),
            )
            // A hole is told and changes nothing; anything else brings the text on.
            if (from > known) expect(outcome).toBe('resume')
            else known = Math.max(known, to)
          }
          for (const [from, length] of pieces) {
            send(Math.min(from, points.length), Math.min(from + length, points.length))
          }
          send(known, points.length)
          expect(texts(model).join('')).toBe(text)
          expect(blocks(model)[0]?.length).toBe(codePoints(text))
        },
      ),
    )
  })

  it('of a higher attempt clears what lower ones showed, of a lower one is ignored', () => {
    const model = session()
    applyDelta(model, delta('thinking', 0, 'first try'))
    applyDelta(model, delta('content', 0, 'half an ans', { block_id: 'b2' }))
    applyDelta(model, delta('thinking', 0, 'second', { block_id: 'b3', attempt: 2 }))
    expect(texts(model)).toEqual(['second'])
    expect(applyDelta(model, delta('thinking', 0, 'late', { block_id: 'b9' }))).toBe('ignored')
    expect(texts(model)).toEqual(['second'])
  })

  it('that is shorter than its end says is asked for', () => {
    const model = session()
    applyFact(model, fact('thinking_start', 1, start))
    applyDelta(model, delta('thinking', 0, 'ab'))
    expect(applyFact(model, fact('thinking_done', 2, end))).toBe('resume')
    expect(blocks(model)[0]).toMatchObject({ done: true, durationMs: 40, tokens: 7 })
    expectTurn(model).status = 'running'
    expect(knownBlocks(model)).toEqual({ b1: 2 })
    applyDelta(model, { ...delta('thinking', 2, 'cde', { attempt: 0 }), run_id: '' })
    expect(texts(model)).toEqual(['abcde'])
    expect(model.turns).toHaveLength(1)
  })
})

describe('facts', () => {
  it('are applied once and in order; a hole asks for what is missing', () => {
    const model = session()
    const added = { message_id: 'u1', role: 'user' as const, text: 'hi', attachments: [] }
    expect(applyFact(model, fact('message_added', 1, added))).toBe('done')
    expect(applyFact(model, fact('message_added', 1, added))).toBe('ignored')
    expect(applyFact(model, fact('mode_update', 3, { mode: 'plan' }))).toBe('resume')
    expect([model.n, model.mode, model.turns.length]).toEqual([1, 'build', 1])
  })

  it('bring the pictures and files of a message that another page sent', () => {
    const model = session()
    const note = { kind: 'file' as const, name: 'n.txt', sha256: 'ab', media_type: 'text/plain', size: 3 }
    const said = { message_id: 'u1', role: 'user' as const, text: 'hi' }
    applyFact(model, fact('message_added', 1, { ...said, attachments: [note] }))
    expect(model.turns[0]?.user?.attachments).toEqual([
      { kind: 'file', name: 'n.txt', sha256: 'ab', mediaType: 'text/plain', size: 3 },
    ])
  })

  it('end a thought at the first answer, by the server’s clock', () => {
    const model = session()
    applyFact(model, fact('thinking_start', 1, { ...start, started_at: 500 }))
    const content = { message_id: 'm1', block_id: 'b2', attempt: 1, kind: 'text' as const }
    applyFact(model, fact('content_start', 2, content))
    expect(blocks(model)[0]).toMatchObject({ done: true, durationMs: 502 })
  })

  it.each(['cancelled', 'failed', 'interrupted'] as const)(
    'that end a run as %s close its open thought and keep it',
    (status) => {
      const model = session()
      applyFact(model, fact('thinking_start', 1, start))
      applyDelta(model, delta('thinking', 0, 'on and'))
      const usage = {
        inputTokens: null,
        outputTokens: null,
        totalTokens: null,
        reasoningTokens: null,
        cachedTokens: null,
        apiCalls: 1,
        cost: null,
      }
      const done = { status, reason: null, finish_reason: null, usage, skillExecutions: [] }
      applyFact(model, fact('done', 2, done))
      expect(blocks(model)[0]).toMatchObject({ text: 'on and', done: true, interrupted: true })
      expect(model.running).toBe(false)
    },
  )

  it('keep thinking, tool and thinking in the order they came', () => {
    const model = session()
    applyFact(model, fact('thinking_start', 1, start))
    const call = { message_id: 'm1', block_id: 'b2', attempt: 1, call_id: 'c', name: 'read_file' }
    applyFact(model, fact('tool_call_start', 2, { ...call, effect: ['read'] }))
    const result = { status: 'ok' as const, summary: 's', result_ref: null, truncated: false }
    const rest = { name: 'read_file', duration_ms: 3, pictures: [] }
    const said = { call_id: 'c', message_id: 'm2', ...rest, ...result }
    applyFact(model, fact('tool_result', 3, said))
    applyFact(model, fact('thinking_start', 4, { ...start, message_id: 'm3', block_id: 'b3' }))
    expect(blocks(model).map((block) => block.id)).toEqual(['b1', 'b2', 'b3'])
    expect(blocks(model)[1]?.outcome).toMatchObject({ status: 'ok', durationMs: 3 })
  })

  it('give a call’s one thought the call’s thinking tokens when they are told', () => {
    const model = session()
    const tokens = (n: number, reasoningTokens: number) => {
      const counts = { inputTokens: 1, outputTokens: 1, totalTokens: 2, cachedTokens: null }
      const current = { ...counts, reasoningTokens, apiCalls: 1, cost: null }
      const context = { usedTokens: 1, maxTokens: null, percent: null, source: 'vendor' as const }
      applyFact(model, fact('token_update', n, { current, context }))
    }
    applyFact(model, fact('thinking_start', 1, start))
    tokens(2, 128)
    applyFact(model, fact('thinking_start', 3, { ...start, message_id: 'm2', block_id: 'b2' }))
    tokens(4, 138)
    expect(blocks(model).map((block) => block.tokens)).toEqual([128, 10])
  })

  it('bring a message that was sent in another tab, and take back the one sent here', () => {
    const model = session()
    model.pending.push({ clientId: 'c', messageId: 'u1', text: 'hi', attachments: [], error: null })
    applyFact(model, fact('message_added', 1, { message_id: 'u1', role: 'user', text: 'hi', attachments: [] }))
    expect(model.pending).toEqual([])
    expect(model.turns.map((turn) => turn.user?.text)).toEqual(['hi'])
    const level = { requested: 'default', effective: 'high', source: 'model', notes: [] }
    const begun = { model: 'v/m', level, mode: 'build' as const, user_message_id: 'u1' }
    applyFact(model, fact('run_start', 2, begun))
    expect(model.turns).toHaveLength(1)
    expect(model.turns[0]).toMatchObject({ runId: 'r', model: 'v/m', status: 'running' })
  })

  it('take back what was sent here even before it is acknowledged', () => {
    const model = session()
    model.pending.push({ clientId: 'c', messageId: null, text: 'hi', attachments: [], error: null })
    applyFact(model, fact('message_added', 1, { message_id: 'u1', role: 'user', text: 'hi', attachments: [] }))
    expect(model.pending).toEqual([])
  })

  it('of a kind this page does not know still count', () => {
    const model = session()
    const strange = { ...fact('mode_update', 1, { mode: 'plan' }), type: 'from_the_future' }
    applyFact(model, strange as never)
    expect(model.n).toBe(1)
  })

  it('of a run go on below words that were said during it, live as in the history', () => {
    const model = session()
    const level = { requested: 'low', effective: 'low', source: 'session' as const, notes: [] }
    const begun = { level, model: 'a/b', mode: 'build', user_message_id: 'u' } as const
    applyFact(model, fact('message_added', 1, { message_id: 'u', role: 'user', text: 'go', attachments: [] }))
    applyFact(model, fact('run_start', 2, begun))
    applyDelta(model, delta('content', 0, 'first'))
    applyFact(model, fact('message_added', 3, { message_id: 'u2', role: 'user', text: 'also', attachments: [] }))
    applyDelta(model, delta('content', 0, 'second', { message_id: 'm2', block_id: 'b2' }))
    expect(model.turns.map((turn) => [turn.user?.text, [...blocksOf(turn)].map((b) => b.text)])).toEqual([
      ['go', ['first']],
      ['also', ['second']],
    ])
    expect(model.turns.map((turn) => turn.status)).toEqual([null, 'running'])
    expect(model.turns[1]?.model).toBe('a/b')
  })

  it('of what was said to a run are shown once, whether the history or the log tells them', () => {
    const model = session()
    const [turn] = turnsOf([
      {
        id: 'm',
        role: 'tool',
        run_id: 'r',
        content: '',
        thinking_content: null,
        created_at: 1,
        metadata: {},
        segments: [
          notice('steering', '<silu-x>\nThe person said:\nuse rye\nTake it into account.\n</silu-x>'),
          notice('mode', '<silu-x>\nbuild mode\n</silu-x>'),
        ],
      },
    ])
    if (!turn) throw new Error('no turn')
    model.turns = [turn]
    applyFact(model, fact('notice', 1, { kind: 'steering', text: 'use rye', params: {} }))
    expect(turn.notices.map(({ kind, text }) => [kind, text])).toEqual([['steering', 'use rye']])
  })
})

describe('what is told again after the history was read', () => {
  it('brings no text of runs that are not on the page, and no second run', () => {
    const model = session()
    model.replayUntil = 9
    const old = { ...delta('content', 0, 'old', { message_id: 'far' }), run_id: '' }
    expect(applyDelta(model, old)).toBe('ignored')
    expect(applyDelta(model, { ...old, run_id: 'r' })).toBe('ignored')
    const level = { requested: 'default', effective: 'high', source: 'model', notes: [] }
    const begun = { model: 'v/m', level, mode: 'build' as const, user_message_id: 'u' }
    expect(applyFact(model, fact('run_start', 1, begun))).toBe('ignored')
    expect(model.turns).toEqual([])
  })
})

describe('a snapshot', () => {
  it('brings the running answer as it is, and the open thought goes on from there', () => {
    const model = session()
    applyDelta(model, delta('thinking', 0, 'old try'))
    const block = { message_id: 'm1', block_id: 'b7', attempt: 2, kind: 'thinking' as const }
    applySnapshot(model, {
      type: 'snapshot',
      session_id: 's',
      run_id: 'r',
      data: {
        n: 40,
        blocks: [{ ...block, text: '新的🧠', started_at: 5, done: false, call_id: null, name: null }],
        todos: [
          { id: '1', content: 'x', status: 'completed', origin: 'agent', plan_revision: null, reason: null },
        ],
        plan: null,
        tokens: null,
        waits: [],
        queue: [],
        level: null,
        mode: 'plan',
        is_running: true,
      },
    })
    expect([model.n, model.mode, model.running, model.todoSummary.completed]).toEqual([
      40,
      'plan',
      true,
      1,
    ])
    applyDelta(model, delta('thinking', 3, '想法', { block_id: 'b7', attempt: 2 }))
    expect(texts(model)).toEqual(['新的🧠想法'])
  })

  it('of a session at rest closes what was open', () => {
    const model = session()
    applyFact(model, fact('thinking_start', 1, start))
    expectTurn(model).status = 'running'
    applySnapshot(model, {
      type: 'snapshot',
      session_id: 's',
      run_id: null,
      data: {
        n: 9,
        blocks: [],
        todos: [],
        plan: null,
        tokens: null,
        waits: [],
        queue: [],
        level: null,
        mode: 'build',
        is_running: false,
      },
    })
    expect(model.running).toBe(false)
    expect(blocks(model).every((block) => block.done)).toBe(true)
  })
})
