// The thinking block, line by line as the workspace was specified.
import { nextTick, reactive } from 'vue'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { show, thinkingBlock } from './helpers'

import ThinkingBlock from '@/components/chat/ThinkingBlock.vue'
import TurnView from '@/components/chat/TurnView.vue'
import { usePrefs } from '@/stores/prefs'
import { newBlock, newTurn, type Block } from '@/transport/model'

beforeEach(() => {
  localStorage.clear()
  vi.useFakeTimers({
    toFake: [
      ...(['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] as const),
      ...(['Date', 'performance', 'requestAnimationFrame', 'cancelAnimationFrame'] as const),
    ],
  })
})
afterEach(() => {
  vi.useRealTimers()
  document.getSelection()?.removeAllRanges()
  document.body.replaceChildren()
})

async function settle(ms = 0): Promise<void> {
  await nextTick()
  // One frame more, for what waits for the next painting.
  await vi.advanceTimersByTimeAsync(ms + 20)
  await nextTick()
}

async function block(given: Partial<Block> = {}, locale: 'en' | 'zh-CN' = 'zh-CN') {
  const data = reactive(thinkingBlock(given)) as Block
  const view = await show(ThinkingBlock, { block: data }, locale)
  await settle()
  return { data, view, button: () => view.find('button.toggle') }
}

const expanded = (view: { find(selector: string): { attributes(): Record<string, string> } }) =>
  view.find('button.toggle').attributes()['aria-expanded']

describe('1 · open or folded is the person’s choice, else the policy', () => {
  it('is open while it streams and folded in the history', async () => {
    expect(expanded((await block()).view)).toBe('true')
    expect(expanded((await block({ id: 'b2', done: true, durationMs: 6000 })).view)).toBe('false')
  })

  it('keeps the choice when it is drawn anew, and after a reload of the page', async () => {
    const first = await block({ done: true })
    await first.button().trigger('click')
    await settle()
    first.view.unmount()
    expect(expanded((await block({ done: true })).view)).toBe('true')
    expect(JSON.parse(localStorage.getItem('silu.thinking-choices') ?? '{}')).toEqual({ b1: true })
  })

  it('stays folded when the person folded it while it streamed', async () => {
    const { view, data, button } = await block()
    await button().trigger('click')
    data.text += ' more'
    await settle(1000)
    expect(expanded(view)).toBe('false')
  })

  it.each([
    ['open', 'true'],
    ['collapsed', 'false'],
  ] as const)('follows the setting “%s” where nothing was chosen', async (policy, open) => {
    const { view } = await block()
    usePrefs().thinking = policy
    await settle()
    expect(expanded(view)).toBe(open)
  })
})

describe('2 · folding by itself waits for the reader', () => {
  it('folds 0.3 s after the end', async () => {
    const { view, data } = await block()
    data.done = true
    await settle(100)
    expect(expanded(view)).toBe('true')
    await settle(250)
    expect(expanded(view)).toBe('false')
  })

  it('does not fold under the pointer, and does once it left', async () => {
    const { view, data } = await block()
    const enter = new MouseEvent('pointerenter') as MouseEvent & { pointerType?: string }
    Object.defineProperty(enter, 'pointerType', { value: 'mouse' })
    view.element.dispatchEvent(enter)
    data.done = true
    await settle(2000)
    expect(expanded(view)).toBe('true')
    view.element.dispatchEvent(new MouseEvent('pointerleave'))
    await settle(400)
    expect(expanded(view)).toBe('false')
  })

  it('does not fold while the focus is inside', async () => {
    const { view, data } = await block()
    view.find<HTMLElement>('.scroller').element.focus()
    data.done = true
    await settle(2000)
    expect(expanded(view)).toBe('true')
    ;(document.activeElement as HTMLElement).blur()
    await settle(400)
    expect(expanded(view)).toBe('false')
  })

  it('does not fold while its text is selected', async () => {
    const { view, data } = await block()
    const text = view.find('.md p').element.firstChild
    if (!text) throw new Error('no text')
    document.getSelection()?.setBaseAndExtent(text, 0, text, 2)
    document.dispatchEvent(new Event('selectionchange'))
    data.done = true
    await settle(2000)
    expect(expanded(view)).toBe('true')
  })
})

describe('3 · duration and tokens come from the server', () => {
  it('shows what was stored', async () => {
    const { view } = await block({ done: true, durationMs: 6000, tokens: 412 })
    expect(view.text()).toContain('思考了 6 秒')
    expect(view.text()).toContain('412 tokens')
  })

  it('shows no number where none is known', async () => {
    const { view } = await block({ done: true })
    expect(view.text()).toBe('思考过程')
  })

  it('goes on from the server’s start after a reload', async () => {
    vi.setSystemTime(100_000)
    const { view } = await block({ startedAt: 60_000 })
    expect(view.find('.figures').text()).toBe('40 秒')
    await settle(5000)
    expect(view.find('.figures').text()).toBe('45 秒')
  })

  it('stands still once it ended', async () => {
    vi.setSystemTime(10_000)
    const { view, data } = await block({ startedAt: 7_000 })
    Object.assign(data, { done: true, durationMs: 3_000 })
    await settle(20_000)
    expect(view.text()).toContain('思考了 3 秒')
  })
})

async function turn(blocks: Block[], status: 'running' | 'completed' = 'completed') {
  const data = newTurn('t', 'r')
  data.status = status
  data.messages = [{ id: 'm1', attempt: 1, blocks }]
  const view = await show(TurnView, { turn: reactive(data) })
  await settle()
  return view
}

function part(id: string, kind: Block['kind'], given: Partial<Block> = {}): Block {
  return Object.assign(newBlock(id, 'm1', kind), { text: `text of ${id}`, done: true }, given)
}

describe('4 · several blocks in a turn', () => {
  it('stand in order, between the tools', async () => {
    const view = await turn([
      part('a', 'thinking', { durationMs: 2000 }),
      part('b', 'tool_call', { name: 'read_file', text: '{"path":"x"}' }),
      part('c', 'thinking', { durationMs: 9000 }),
      part('d', 'tool_call', { name: 'list_files', text: '{}' }),
      part('e', 'content'),
    ])
    const order = [...view.element.querySelectorAll('.think, .tool, .text')].map((node) =>
      node.className.split(' ').find((name: string) => ['think', 'tool', 'text'].includes(name)),
    )
    expect(order).toEqual(['think', 'tool', 'think', 'tool', 'text'])
    expect(view.text()).toContain('思考了 2 秒')
    expect(view.text()).toContain('思考了 9 秒')
  })
})

describe('5 · it ends with whatever ends it', () => {
  it('is marked when it was interrupted', async () => {
    const { view } = await block({ done: true, interrupted: true, durationMs: 4000 })
    expect(view.text()).toContain('思考 4 秒 后被中断')
    expect(view.classes()).toContain('interrupted')
  })
})

describe('6 · withheld, summarised and interrupted thinking look different', () => {
  it('says that the vendor withheld it, and offers nothing to open', async () => {
    const { view } = await block({ text: '', done: true, thinkingKind: 'redacted', durationMs: 12_000 })
    expect(view.text()).toBe('思考了 12 秒，内容被厂商隐藏')
    expect(view.find('button').exists()).toBe(false)
  })

  it('says so in English too', async () => {
    const given = { text: '', done: true, thinkingKind: 'redacted', durationMs: 12_000 } as const
    expect((await block(given, 'en')).view.text()).toBe('Thought for 12 s, withheld by the vendor')
  })

  it('says that it is a summary', async () => {
    const { view } = await block({ done: true, thinkingKind: 'summary', durationMs: 5000 })
    expect(view.text()).toContain('厂商仅提供摘要')
    expect(view.classes()).toContain('summary')
  })
})

describe('7 · empty thinking', () => {
  it('is no block', async () => {
    const view = await turn([part('a', 'thinking', { text: ' ' }), part('b', 'content')])
    expect(view.find('.think').exists()).toBe(false)
  })
})

describe('8 · Markdown, only while open', () => {
  it('is drawn by the shared renderer and sanitiser', async () => {
    const { view } = await block({ text: '**a** <img src=x onerror=y>' })
    expect(view.find('.md strong').text()).toBe('a')
    expect(view.find('.md img').exists()).toBe(false)
  })

  it('keeps no nodes while folded', async () => {
    const { view, data } = await block()
    expect(view.find('.md').exists()).toBe(true)
    data.done = true
    await settle(1000)
    await settle(1000)
    expect(view.find('.md').exists()).toBe(false)
  })

  it('follows its own tail until the reader scrolls up, and again from the end', async () => {
    const { view, data } = await block()
    const box = view.find<HTMLElement>('.scroller').element
    let height = 500
    Object.defineProperty(box, 'scrollHeight', { get: () => height })
    Object.defineProperty(box, 'clientHeight', { get: () => 100 })
    data.text += '\n\nmore'
    await settle(50)
    expect(box.scrollTop).toBe(500)
    box.dispatchEvent(new WheelEvent('wheel', { deltaY: -300 }))
    box.scrollTop = 200
    box.dispatchEvent(new Event('scroll'))
    height = 800
    data.text += '\n\neven more'
    await settle(50)
    expect(box.scrollTop).toBe(200)
    box.scrollTop = 700
    box.dispatchEvent(new Event('scroll'))
    height = 900
    data.text += '\n\nand more'
    await settle(50)
    expect(box.scrollTop).toBe(900)
  })
})

describe('9 · copying', () => {
  it('has its own button; the answer’s copy holds the answer only', async () => {
    const written: string[] = []
    Object.defineProperty(navigator, 'clipboard', {
      configurable: true,
      value: { writeText: (text: string) => Promise.resolve(void written.push(text)) },
    })
    const view = await turn([
      part('a', 'thinking', { text: 'secret thought' }),
      part('b', 'content', { text: 'part one' }),
      part('c', 'tool_call', { name: 'x', text: '{}' }),
      part('d', 'content', { text: 'part two' }),
    ])
    await view.find('footer button').trigger('click')
    await view.find('.think button.toggle').trigger('click')
    await settle(10)
    await view.find('.think .copy').trigger('click')
    await settle()
    expect(written).toEqual(['part one\n\npart two', 'secret thought'])
  })
})

describe('10 · a real button', () => {
  it('says what it controls and whether that is open', async () => {
    const { view, button } = await block({ done: true })
    const { 'aria-controls': controls, type } = button().attributes()
    expect(type).toBe('button')
    expect(document.getElementById(controls ?? '')).not.toBeNull()
    await button().trigger('click')
    await settle(10)
    expect(expanded(view)).toBe('true')
    expect(view.find('.md').exists()).toBe(true)
  })
})

it('is not shown at all when the person hides thinking', async () => {
  const view = await turn([part('a', 'thinking'), part('b', 'content')])
  usePrefs().thinking = 'hidden'
  await settle()
  expect(view.find('.think').exists()).toBe(false)
})
