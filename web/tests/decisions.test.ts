// What the person decides: calls, questions, plans, tasks.
import { flushPromises } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, describe, expect, it, vi } from 'vitest'

import { connect, opened } from './gateway'
import { session, show } from './helpers'

import CompareColumn from '@/components/chat/CompareColumn.vue'
import TodoCard from '@/components/chat/TodoCard.vue'
import TurnView from '@/components/chat/TurnView.vue'
import type { Plan, Todo, Wait } from '@/generated/protocol'
import { lineChanges } from '@/lib/plans'
import { useChat } from '@/stores/chat'
import { newBlock, newSession, newTurn, summarise, type Block, type SessionModel, type Turn } from '@/transport/model'
import { turnsOf } from '@/transport/history'

beforeEach(() => {
  localStorage.clear()
  document.body.replaceChildren()
  vi.unstubAllGlobals()
})

function call(id: string, name: string, args: unknown, given: Partial<Block> = {}): Block {
  const block = newBlock(id, 'm', 'tool_call')
  const text = JSON.stringify(args)
  return Object.assign(block, { callId: `c-${id}`, name, text, done: true, ...given })
}

function turn(blocks: Block[], given: Partial<Turn> = {}): Turn {
  const made = Object.assign(newTurn('t', 'r'), { status: 'running', model: 'demo/x' }, given)
  made.messages.push({ id: 'm', attempt: 1, blocks })
  return made
}

/** The turn on the page of an open session, beside a server that takes everything. */
async function stage(made: Turn, given: Partial<SessionModel> = {}) {
  const model = Object.assign(session(), { turns: [made], running: made.status === 'running' }, given)
  const view = await show(TurnView, { turn: made }, 'en')
  const gateway = await connect((command) => (command.type === 'send' ? { message_id: 'u' } : {}))
  opened(model)
  await flushPromises()
  return { view, gateway }
}

const SHELL: Wait = {
  type: 'approval_request',
  data: {
    approval_id: 'a1',
    call_id: 'c-b',
    name: 'shell',
    arguments: '{"command":"git push"}',
    suggested_patterns: ['git push', 'git *'],
  },
}
const ASKED: Wait = {
  type: 'question',
  data: { question_id: 'q1', text: 'Which one?', choices: ['left', 'right'] },
}
const shell = () => call('b', 'shell', { command: 'git push' })

describe('a call that waits for the person', () => {
  it('opens its card with the command and is allowed once', async () => {
    const { view, gateway } = await stage(turn([shell()]), { waits: [SHELL] })
    expect(view.find('.tool').attributes('data-state')).toBe('waiting')
    expect(view.find('.approval').text()).toContain('git push')
    await view.get('.button.primary').trigger('click')
    expect(gateway.taken).toEqual([
      {
        type: 'approve',
        session: 's',
        data: { approval_id: 'a1', decision: 'allow', scope: 'once', pattern: null, reason: null },
      },
    ])
  })

  it('is allowed for the session with the pattern that was picked', async () => {
    const { view, gateway } = await stage(turn([shell()]), { waits: [SHELL] })
    await view.findAll('input[type=radio]')[1]?.setValue(true)
    await view.findAll('.approval .button')[1]?.trigger('click')
    expect(gateway.taken[0]?.data).toMatchObject({ scope: 'session', pattern: 'git *' })
  })

  it('is denied with a reason the model will read', async () => {
    const { view, gateway } = await stage(turn([shell()]), { waits: [SHELL] })
    await view.get('.why').setValue('not on a Friday')
    await view.get('form').trigger('submit')
    expect(gateway.taken[0]?.data).toMatchObject({ decision: 'deny', reason: 'not on a Friday' })
  })

  it('shows the change it would make as a diff', async () => {
    const diff = '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n'
    const wait = { ...SHELL, data: { ...SHELL.data, name: 'edit_file', diff } }
    const { view } = await stage(turn([shell()]), { waits: [wait] })
    expect(view.findAll('.diff [data-kind]').map((row) => row.attributes('data-kind'))).toEqual([
      'file',
      'hunk',
      'del',
      'add',
    ])
  })

  it('is the same card when somebody has answered it', async () => {
    const made = turn([shell()])
    const { view } = await stage(made, { waits: [SHELL] })
    const card = view.find('.tool').element
    opened(Object.assign(session(), { turns: [made], running: true }))
    await flushPromises()
    expect(view.find('.approval').exists()).toBe(false)
    expect(view.find('.tool').element).toBe(card)
    expect(view.find('.tool').attributes('data-state')).toBe('running')
  })
})

describe('a question of the model', () => {
  it('is answered with a choice', async () => {
    const { view, gateway } = await stage(turn([]), { waits: [ASKED] })
    await view.findAll('.choices button')[1]?.trigger('click')
    expect(gateway.taken[0]).toMatchObject({
      type: 'answer_question',
      data: { question_id: 'q1', answer: 'right' },
    })
  })

  it('is answered in own words, but not with none', async () => {
    const { view, gateway } = await stage(turn([]), { waits: [ASKED] })
    await view.get('.own').trigger('submit')
    expect(gateway.taken).toEqual([])
    await view.get('.own input').setValue(' neither ')
    await view.get('.own').trigger('submit')
    expect(gateway.taken[0]?.data).toMatchObject({ answer: 'neither' })
  })
})

const PLAN: Plan = {
  plan_id: 'p',
  revision: 2,
  status: 'draft',
  goal: 'Move house',
  steps: [
    { id: '1', text: 'pack the books', todo_ids: ['1'] },
    { id: '2', text: 'hire a van', todo_ids: [] },
  ],
  active_todo_ids: ['1'],
  constraints: ['before May'],
  open_questions: [],
}
function written(id: string, revision: number, steps: string[]): Block {
  const args = { goal: 'Move house', steps: steps.map((text) => ({ text })) }
  return call(id, 'plan', args, {
    outcome: {
      status: 'ok',
      summary: `{"plan":{"plan_id":"p","revision":${revision},"goal":"Move…`,
      resultRef: null,
      pictures: [],
      truncated: true,
      durationMs: 1,
    },
  })
}
const first = () => written('b1', 1, ['pack everything', 'hire a van'])
const second = () => written('b2', 2, ['pack the books', 'hire a van'])
function todo(id: string, status: Todo['status'], content = `item ${id}`): Todo {
  return { id, content, status, origin: 'agent', plan_revision: null, reason: null }
}

describe('the plan', () => {
  it('shows the newest draft open, older revisions as superseded', async () => {
    const { view } = await stage(turn([first(), second()]), { plan: PLAN })
    const cards = view.findAll('.plan')
    expect(cards.map((card) => card.attributes('data-state'))).toEqual(['quiet', 'waiting'])
    expect(cards[0]?.text()).toContain('superseded')
    expect(cards[0]?.find('.steps').exists()).toBe(false)
    expect(cards[1]?.text()).toContain('revision 2')
  })

  it('shows how far the tasks of each step are', async () => {
    const todos = [todo('1', 'completed')]
    const { view } = await stage(turn([second()]), { plan: { ...PLAN, status: 'approved' }, todos })
    expect(view.findAll('.steps li').map((step) => step.attributes('data-state'))).toEqual([
      'completed',
      'none',
    ])
  })

  it('shows word by word what a revision changed', async () => {
    const { view } = await stage(turn([first(), second()]), { plan: PLAN })
    await view.get('.changes').trigger('click')
    expect(view.findAll('.plan-diff del').map((node) => node.text())).toEqual(['everything'])
    expect(view.findAll('.plan-diff ins').map((node) => node.text())).toEqual(['the books'])
  })

  it('is approved by its revision, and a run begins where none is on', async () => {
    const { view, gateway } = await stage(turn([second()], { status: 'completed' }), { plan: PLAN })
    await view.get('.plan .button.primary').trigger('click')
    await flushPromises()
    await vi.waitUntil(() => gateway.taken.length === 2)
    expect(gateway.taken).toMatchObject([
      { type: 'approve_plan', data: { plan_id: 'p', revision: 2 } },
      { type: 'send', data: { text: 'Carry out the plan.' } },
    ])
  })

  it('is carried out in the column of a comparison in which it was approved', async () => {
    const made = turn([second()], { status: 'completed' })
    const column = await show(CompareColumn, { name: 'A', sessionId: 's', turn: made }, 'en')
    const gateway = await connect((command) => (command.type === 'send' ? { message_id: 'u' } : {}))
    opened(Object.assign(newSession('other'), { n: 0, loaded: true }))
    useChat().open.set('s', Object.assign(session(), { turns: [made], plan: PLAN }))
    await flushPromises()
    await column.get('.plan .button.primary').trigger('click')
    await vi.waitUntil(() => gateway.taken.length === 2)
    expect(gateway.taken.map(({ type, session: id }) => [type, id])).toEqual([
      ['approve_plan', 's'],
      ['send', 's'],
    ])
  })

  it('says that it is being written while it streams', async () => {
    const open = call('b', 'plan', {}, { text: '{"goal": "Mov', done: false })
    const { view } = await stage(turn([open]))
    expect(view.get('.plan').text()).toContain('being written…')
  })

  it('stays an ordinary call where it was only read or was refused', async () => {
    const read = call('b', 'plan', {})
    const { view } = await stage(turn([read]))
    expect(view.find('.plan').exists()).toBe(false)
    expect(view.find('.tool code').text()).toBe('plan')
  })

  it('pairs edited lines and keeps what was only added or removed apart', () => {
    const lines = lineChanges(['a', 'old words', 'gone'], ['a', 'new words', 'z', 'y'])
    expect(lines.map((line) => line.kind)).toEqual(['same', 'edit', 'edit', 'add'])
    expect(lineChanges(['a'], [])[0]?.kind).toBe('del')
  })
})

describe('the tasks in the person’s hands', () => {
  const todos = [todo('1', 'in_progress'), todo('2', 'pending'), todo('3', 'cancelled')]

  async function card() {
    setActivePinia(createPinia())
    const view = await show(TodoCard, { todos, summary: summarise(todos), running: true }, 'en')
    const gateway = await connect()
    opened(session())
    const sent = () => gateway.taken.at(-1)?.data.todos as Todo[]
    const press = (name: string) => view.get(`button[aria-label="${name}"]`).trigger('click')
    return { view, sent, press }
  }

  it('are added as the person’s own, at the end', async () => {
    const { view, sent } = await card()
    await view.get('.add input').setValue('buy boxes')
    await view.get('.add').trigger('submit')
    expect(sent()).toHaveLength(4)
    expect(sent().at(-1)).toMatchObject({ content: 'buy boxes', status: 'pending', origin: 'person' })
  })

  it('are reordered', async () => {
    const { sent, press } = await card()
    await press('Move “item 2” up')
    expect(sent().map(({ id }) => id)).toEqual(['2', '1', '3'])
    expect(document.querySelector('[aria-label="Move “item 1” up"]')).toBeNull()
  })

  it('are reworded; Escape keeps the old words', async () => {
    const { view, sent, press } = await card()
    await press('Edit “item 2”')
    await view.get('.words').setValue('something else')
    await view.get('.words').trigger('keydown', { key: 'Escape' })
    expect(sent()).toBeUndefined()
    await press('Edit “item 2”')
    await view.get('.words').setValue('something else')
    await view.get('.words').trigger('keydown', { key: 'Enter' })
    expect(sent()[1]).toMatchObject({ id: '2', content: 'something else' })
  })

  it.each([
    ['Mark “item 1” as completed', 0, 'completed'],
    ['Cancel “item 2”', 1, 'cancelled'],
    ['Take up “item 3” again', 2, 'pending'],
  ])('%s', async (name, index, status) => {
    const { sent, press } = await card()
    await press(name)
    expect(sent()[index]?.status).toBe(status)
  })
})

describe('a skill', () => {
  const execution = {
    skill_id: 'k1',
    name: 'release',
    label: 'Release notes',
    status: 'done',
    result: '# Notes',
    result_type: 'markdown',
    started_at: 1_000,
    ended_at: 3_500,
  }

  it('is restored from the history to the call that began it, with its result', async () => {
    const base = { thinking_content: null, created_at: 1, run_id: 'r', content: '' }
    const segment = { ...emptySegment(), type: 'tool_call', id: 'b', call_id: 'c', name: 'skill' }
    const [restored] = turnsOf([
      { ...base, id: 'u', role: 'user', segments: [], metadata: {} },
      {
        ...base,
        id: 'm',
        role: 'assistant',
        segments: [{ ...segment, arguments: '{"name":"release"}' }],
        metadata: { skillExecutions: [execution], status: 'completed' },
      },
    ])
    if (!restored) throw new Error('no turn')
    expect(restored.skills[0]).toMatchObject({ after: 'b', status: 'done' })
    const { view } = await stage(restored)
    const card = view.get('.skill')
    expect(card.text()).toContain('Release notes')
    expect(card.text()).toContain('2.5 s')
    await card.get('button').trigger('click')
    expect(card.find('h1').text()).toBe('Notes')
  })
})

function emptySegment() {
  return {
    text: null,
    kind: null,
    started_at: null,
    duration_ms: null,
    tokens: null,
    interrupted: false,
    status: null,
    summary: null,
    result_ref: null,
    truncated: false,
    data: null,
    pictures: [],
  }
}
