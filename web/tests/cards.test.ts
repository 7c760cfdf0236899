import { nextTick } from 'vue'
import { beforeEach, describe, expect, it } from 'vitest'

import { show } from './helpers'

import TodoCard from '@/components/chat/TodoCard.vue'
import ToolCard from '@/components/cards/ToolCard.vue'
import TurnMeta from '@/components/chat/TurnMeta.vue'
import TokenMeter from '@/components/composer/TokenMeter.vue'
import type { Todo } from '@/generated/protocol'
import { newBlock, newTurn, summarise, type Block, type Turn } from '@/transport/model'

beforeEach(() => {
  localStorage.clear()
  document.body.replaceChildren()
})

function todo(id: string, status: Todo['status']): Todo {
  return { id, content: `item ${id}`, status, origin: 'agent', plan_revision: null, reason: null }
}

describe('the todo card', () => {
  const todos = [
    todo('1', 'completed'),
    todo('2', 'in_progress'),
    todo('3', 'cancelled'),
    todo('4', 'pending'),
  ]
  const props = { todos, summary: summarise(todos), running: true }

  it('counts, draws a bar, and marks each state', async () => {
    const view = await show(TodoCard, props)
    expect(view.text()).toContain('任务规划')
    expect(view.text()).toContain('1/4 完成')
    expect(view.find('[role=progressbar]').attributes()).toMatchObject({
      'aria-valuenow': '1',
      'aria-valuemax': '4',
    })
    expect(view.find<HTMLElement>('.bar i').element.style.width).toBe('25%')
    const states = view.findAll('li').map((item) => item.attributes('data-status'))
    expect(states).toEqual(['completed', 'in_progress', 'cancelled', 'pending'])
    expect(view.findAll('li')[1]?.text()).toContain('进行中')
    expect(view.findAll('li')[2]?.text()).toContain('已取消')
  })

  it('folds to one line that still names what is being done', async () => {
    const view = await show(TodoCard, props)
    await view.find('button').trigger('click')
    await nextTick()
    expect(view.find('li').exists()).toBe(false)
    expect(view.find('button').text()).toContain('item 2')
    expect(view.find('button').attributes('aria-expanded')).toBe('false')
  })

  it('is not there when there is nothing to do', async () => {
    const view = await show(TodoCard, { todos: [], summary: summarise([]), running: false })
    expect(view.find('section').exists()).toBe(false)
  })
})

describe('the tool card', () => {
  function call(given: Partial<Block>): Block {
    const block = newBlock('b', 'm', 'tool_call')
    return Object.assign(block, { name: 'read_file', text: '{"path":"a/b.py"}' }, given)
  }
  const outcome = {
    summary: 'x = 1',
    resultRef: null,
    pictures: [],
    truncated: false,
    durationMs: 100,
  }

  it.each([
    [{ done: false }, 'preparing'],
    [{ done: true }, 'running'],
    [{ done: true, outcome: { ...outcome, status: 'ok' as const } }, 'ok'],
    [{ done: true, outcome: { ...outcome, status: 'error' as const } }, 'error'],
    [{ done: true, interrupted: true }, 'interrupted'],
  ])('shows %o as %s, at the same place', async (given, state) => {
    const view = await show(ToolCard, { block: call(given), over: false })
    expect(view.attributes('data-state')).toBe(state)
    expect(view.find('code').text()).toBe('read_file')
  })

  it('shows the pictures a tool gave back', async () => {
    const given = { ...outcome, pictures: ['abc'], status: 'ok' as const }
    const view = await show(ToolCard, { block: call({ done: true, outcome: given }), over: false })
    await view.find('button').trigger('click')
    expect(view.find('img').attributes('src')).toBe('/api/v1/blobs/abc')
  })

  it('opens to arguments and result', async () => {
    const done = call({ done: true, outcome: { ...outcome, status: 'ok' } })
    const view = await show(ToolCard, { block: done, over: true })
    expect(view.text()).toContain('a/b.py')
    expect(view.text()).toContain('查看结果')
    await view.find('button').trigger('click')
    expect(view.findAll('pre').map((node) => node.text())).toEqual([
      '{\n  "path": "a/b.py"\n}',
      'x = 1',
    ])
    expect(view.text()).toContain('收起')
  })

  it('shows arguments that are no JSON as they came', async () => {
    const cut = call({ text: '{"path": "a/', done: true, interrupted: true })
    const view = await show(ToolCard, { block: cut, over: true })
    await view.find('button').trigger('click')
    expect(view.find('pre').text()).toBe('{"path": "a/')
  })
})

describe('the end of a run', () => {
  async function meta(given: Partial<Turn>) {
    return show(TurnMeta, { turn: Object.assign(newTurn('t', 'r'), given) }, 'en')
  }

  it('says nothing more than the figures when all went well', async () => {
    const view = await meta({ status: 'completed', startedAt: 1000, endedAt: 19_240 })
    expect(view.text()).toBe('18.2 s')
  })

  it('says one state after a stop, whatever else came', async () => {
    const view = await meta({ status: 'cancelled', reason: 'person' })
    expect(view.text()).toBe('Stopped')
  })

  it('says why it ended early, and what to change', async () => {
    const view = await meta({ status: 'incomplete', reason: 'thinking_used_limit' })
    expect(view.text()).toContain('Lower the level or raise the limit')
  })
})

describe('the meter', () => {
  it('stands in the words of the contract', async () => {
    const current = {
      inputTokens: 12345,
      outputTokens: 2100,
      totalTokens: 14445,
      reasoningTokens: 1,
      cachedTokens: 1,
      apiCalls: 3,
      cost: null,
    }
    const context = { usedTokens: 41_000, maxTokens: 128_000, percent: 81, source: 'vendor' }
    const view = await show(TokenMeter, { tokens: { current, context }, running: true })
    expect(view.text()).toContain('↑12.3K ↓2.1K · 3次')
    expect(view.text()).toContain('上下文 81%')
    expect(view.find('.dot').attributes('data-load')).toBe('bad')
  })
})
