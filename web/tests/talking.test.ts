// What the person does with an answer and with the message they write.
import { enableAutoUnmount, mount } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { connect, opened, settle, type Gateway } from './gateway'
import { session, show } from './helpers'

import ThinkingBlock from '@/components/chat/ThinkingBlock.vue'
import TurnView from '@/components/chat/TurnView.vue'
import UserBubble from '@/components/chat/UserBubble.vue'
import Composer from '@/components/composer/Composer.vue'
import ModelList from '@/components/composer/ModelList.vue'
import QueueList from '@/components/composer/QueueList.vue'
import type { ModelInfo } from '@/generated/protocol'
import { i18n } from '@/i18n'
import { useChat } from '@/stores/chat'
import { useModels } from '@/stores/models'
import { usePrefs } from '@/stores/prefs'
import { newBlock, newTurn, type SessionModel, type Turn } from '@/transport/model'

enableAutoUnmount(afterEach)
beforeEach(() => {
  localStorage.clear()
  document.body.replaceChildren()
  vi.unstubAllGlobals()
})

function answered(given: Partial<Turn> = {}): Turn {
  const turn = newTurn('u', 'r')
  turn.user = { id: 'u', text: 'Why?', attachments: [] }
  const block = Object.assign(newBlock('b', 'm', 'content'), { text: 'Because.', done: true })
  turn.messages.push({ id: 'm', attempt: 1, blocks: [block] })
  return Object.assign(turn, { status: 'completed', model: 'a/one', ...given })
}

const VIEW = { parent_id: 's', todos: [], queue: [], waits: [], head: 0, isRunning: false }
/** A branch as the server makes it: the same question, answered anew. */
function routes({ path }: { path: string }): unknown {
  if (path.startsWith('/sessions/s2/messages')) {
    const asked = { id: 'u2', role: 'user', content: 'Why?', run_id: 'r2', metadata: {} }
    const message = { ...asked, thinking_content: null, created_at: 1, segments: [] }
    return { messages: [message], before: null, head: 0 }
  }
  return path.startsWith('/sessions') ? { ...VIEW, id: 's2', title: 'Branch' } : {}
}

async function stage(made: Turn): Promise<{ view: Awaited<ReturnType<typeof show>>; gateway: Gateway }> {
  const view = await show(TurnView, { turn: made }, 'en')
  const gateway = await connect(() => ({ session_id: 's2', message_id: 'u2', taken: true }), routes)
  const model = opened(Object.assign(session(), { turns: [made] }))
  await view.setProps({ turn: model.turns[0] })
  await settle()
  return { view, gateway }
}

const button = (name: string) => {
  const found = [...document.querySelectorAll<HTMLButtonElement>('button')].find(
    (one) => (one.getAttribute('aria-label') ?? one.textContent.trim()) === name,
  )
  if (!found) throw new Error(`no button ${name}`)
  return found
}
async function press(name: string): Promise<void> {
  button(name).click()
  await settle()
}
async function openMenu(): Promise<void> {
  const found = document.querySelector<HTMLButtonElement>('button[title="Regenerate"]')
  found?.click()
  await settle()
}

/** The models the server would list. */
function offer(models: ModelInfo[]): void {
  const store = useModels()
  store.models = models
  store.loaded = true
}

describe('asking again', () => {
  it('puts the new answer beside the old one, and keeps the one that is chosen', async () => {
    const { view, gateway } = await stage(answered())
    await openMenu()
    await press('Again, the same way')
    expect(gateway.taken[0]).toEqual({ type: 'regenerate', session: 's', data: { message_id: 'u' } })
    await vi.waitUntil(() => view.findAll('.compare .one').length === 2)
    expect(view.findAll('.one')[0]?.text()).toContain('Because.')
    await view.findAll('.one .choice')[1]?.trigger('click')
    await settle()
    expect(useChat().currentId).toBe('s2')
    expect(view.find('.compare').exists()).toBe(false)
  })

  it('still stands side by side after a reload', async () => {
    const first = await stage(answered())
    await openMenu()
    await press('Again, the same way')
    first.view.unmount()
    const { view } = await stage(answered())
    expect(view.findAll('.compare .one')).toHaveLength(2)
  })

  it('opens the branch where side by side is not wanted', async () => {
    const { view } = await stage(answered())
    await openMenu()
    usePrefs().sideBySide = false
    await press('Again, the same way')
    expect(view.find('.compare').exists()).toBe(false)
    expect(useChat().currentId).toBe('s2')
  })

  it('can be at another level or with another model', async () => {
    const { gateway } = await stage(answered())
    offer([info('a/one', { thinking_levels: ['off', 'high'] }), info('b/two')])
    await openMenu()
    await press('High')
    await press('Close the comparison')
    await openMenu()
    await press('With another model')
    document.querySelectorAll<HTMLElement>('[role=option]')[1]?.click()
    await settle()
    expect(gateway.taken.map(({ data }) => data)).toEqual([
      { message_id: 'u', level: 'high' },
      { message_id: 'u', model: 'b/two' },
    ])
  })
})

describe('a message of the person', () => {
  it('keeps what is being written into it while it is out of the list', async () => {
    const props = { id: 'u', text: 'Why?', attachments: [], editable: true }
    const first = await show(UserBubble, props, 'en')
    await first.get('[aria-label="Edit and ask again"]').trigger('click')
    await first.get('.edit textarea').setValue('Why not')
    first.unmount()
    const again = mount(UserBubble, { props, global: { plugins: [i18n] } })
    expect((again.get('.edit textarea').element as HTMLTextAreaElement).value).toBe('Why not')
    await again.get('.edit').trigger('keydown', { key: 'Escape' })
    expect(again.find('.edit').exists()).toBe(false)
    expect(again.get('.bubble').text()).toBe('Why?')
  })

  it('is edited in place and asked again in a branch', async () => {
    const { view, gateway } = await stage(answered())
    await press('Edit and ask again')
    const field = view.get('.edit textarea')
    expect((field.element as HTMLTextAreaElement).value).toBe('Why?')
    await field.setValue('How?')
    await view.get('.edit').trigger('submit')
    await settle()
    expect(gateway.taken[0]?.data).toEqual({ message_id: 'u', text: 'How?' })
    expect(useChat().currentId).toBe('s2')
  })

  it('shows its pictures and names its files', async () => {
    const turn = answered()
    turn.user = {
      id: 'u',
      text: 'See',
      attachments: [
        { kind: 'image', name: 'cat.png', sha256: 'aa', mediaType: 'image/png', size: 1 },
        { kind: 'file', name: 'notes.txt', sha256: 'bb', mediaType: 'text/plain', size: 1 },
      ],
    }
    const { view } = await stage(turn)
    expect(view.get('.attached img').attributes()).toMatchObject({
      src: '/api/v1/blobs/aa',
      alt: 'Picture cat.png',
    })
    expect(view.get('.attached .file').text()).toBe('notes.txt')
  })
})

describe('an answer', () => {
  it('is branched off', async () => {
    const { gateway } = await stage(answered())
    await press('Branch')
    await settle()
    expect(gateway.asked.find(({ path }) => path === '/sessions/s/fork')?.body).toMatchObject({
      message_id: 'm',
    })
    expect(useChat().currentId).toBe('s2')
  })

  it('that was cut is continued with a word', async () => {
    const { gateway } = await stage(answered({ status: 'incomplete', finish: 'length' }))
    await press('Continue')
    expect(gateway.taken[0]).toMatchObject({
      type: 'send',
      data: { text: 'Go on exactly where your answer was cut off.' },
    })
  })

  it('that is whole offers no such thing', async () => {
    await stage(answered({ finish: 'stop' }))
    expect(() => button('Continue')).toThrow('no button')
  })
})

async function compose(given: Partial<SessionModel> = {}) {
  const view = await show(Composer, {}, 'en')
  const answer = { message_id: 'x', taken: true }
  const gateway = await connect(() => answer, ({ path }) =>
    path.startsWith('/blobs') ? { sha256: 'ff', size: 3, media_type: 'text/plain', name: 'a' } : {},
  )
  opened(Object.assign(session(), given))
  await settle()
  return { view, gateway, field: view.get('textarea') }
}

describe('the message field', () => {
  it('speaks to the run that is on with Ctrl+Enter, and queues with Enter', async () => {
    const { field, gateway } = await compose({ running: true, runId: 'r' })
    await field.setValue('use rye')
    await field.trigger('keydown', { key: 'Enter', ctrlKey: true })
    await settle()
    expect((field.element as HTMLTextAreaElement).value).toBe('')
    await field.setValue('and then bake')
    await field.trigger('keydown', { key: 'Enter' })
    await settle()
    expect(gateway.taken.map(({ type, data }) => [type, data.text])).toEqual([
      ['steer', 'use rye'],
      ['send', 'and then bake'],
    ])
  })

  it('takes files that are pasted and sends them by their hash', async () => {
    const { view, field, gateway } = await compose()
    const file = new File(['abc'], 'a.txt', { type: 'text/plain' })
    const paste = new Event('paste', { bubbles: true, cancelable: true })
    Object.assign(paste, { clipboardData: { files: [file] } })
    field.element.dispatchEvent(paste)
    await settle()
    expect(view.get('.attached').text()).toContain('a.txt')
    await view.get('form').trigger('submit')
    await settle()
    expect(gateway.taken[0]?.data.parts).toEqual([
      {
        type: 'file',
        media_type: 'text/plain',
        name: 'a.txt',
        blob: { sha256: 'ff', size: 3, media_type: 'text/plain', name: 'a.txt' },
      },
    ])
    expect(view.find('.attached').exists()).toBe(false)
  })
})

describe('while a run is on', () => {
  it('a queued message is reworded', async () => {
    const queue = [{ message_id: 'q', text: 'later' }]
    const view = await show(QueueList, { queue }, 'en')
    const gateway = await connect()
    opened(session())
    await press('Edit the queued message')
    await view.get('.words').setValue('much later')
    await view.get('.words').trigger('keydown', { key: 'Enter' })
    expect(gateway.taken).toMatchObject([
      { type: 'queue_edit', data: { message_id: 'q', text: 'much later' } },
    ])
  })

  it('a thought is cut short for an answer, and only while it streams', async () => {
    const block = Object.assign(newBlock('b', 'm', 'thinking'), { text: 'hm', startedAt: 1 })
    const view = await show(ThinkingBlock, { block }, 'en')
    const gateway = await connect()
    opened(Object.assign(session(), { running: true, runId: 'r' }))
    await settle()
    await press('Answer now')
    expect(gateway.taken).toMatchObject([{ type: 'answer_now', data: { run_id: 'r' } }])
    await view.setProps({ block: { ...block, done: true } })
    expect(view.find('.answer-now').exists()).toBe(false)
  })
})

function info(ref: string, capability: Partial<ModelInfo['capability']> = {}): ModelInfo {
  const known = {
    thinking: 'supported',
    thinking_levels: [],
    images: 'supported',
    tools: 'supported',
    own_tools: [],
  }
  return {
    ref,
    vendor: ref.slice(0, 1),
    model: ref.slice(2),
    label: ref.slice(2),
    vendor_label: ref.slice(0, 1).toUpperCase(),
    capability: { ...known, context_window: 8000, ...capability },
    demo: false,
    local: false,
  } as unknown as ModelInfo
}

describe('the list of models', () => {
  it('puts favourites first, says what each can do, and is searched', async () => {
    const view = await show(ModelList, { current: 'a/one' }, 'en')
    offer([info('a/one'), info('b/two', { tools: 'unsupported' })])
    await settle()
    const names = () => view.findAll('[role=option] .name').map((node) => node.text())
    expect(names()).toEqual(['one', 'two'])
    expect(view.findAll('.hint')[1]?.text()).toMatch(/^thinks\s*images\s*no tools · 8.0K$/)
    await view.findAll('.star')[1]?.trigger('click')
    expect(names()).toEqual(['two', 'one'])
    expect(usePrefs().favourites).toEqual(['b/two'])
    await view.get('input').setValue('one')
    expect(names()).toEqual(['one'])
    await view.get('input').trigger('keydown', { key: 'Enter' })
    expect(view.emitted('choose')).toEqual([['a/one']])
  })
})
