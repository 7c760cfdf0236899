import { nextTick, ref } from 'vue'
import { beforeEach, describe, expect, it, vi } from 'vitest'

import { session, show } from './helpers'

import SlashMenu from '@/components/composer/SlashMenu.vue'
import { happening } from '@/composables/useAttention'
import type { Command } from '@/composables/useCommands'
import { useInputHistory } from '@/composables/useInputHistory'
import type { SessionItem } from '@/generated/protocol'
import { matchesIn, rangesIn } from '@/lib/find'
import { rank } from '@/lib/rank'
import { keyNames, pressed, SHORTCUTS, type KeyPress } from '@/lib/shortcuts'
import { useChat } from '@/stores/chat'
import { newBlock, newTurn } from '@/transport/model'

beforeEach(() => {
  localStorage.clear()
  document.body.replaceChildren()
})

const press = (key: string, more: Partial<KeyPress> = {}): KeyPress => ({
  key,
  code: '',
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...more,
})

describe('shortcuts', () => {
  it('are Ctrl here and ⌘ on a Mac', () => {
    expect(pressed(press('k', { ctrlKey: true }), SHORTCUTS.palette, false)).toBe(true)
    expect(pressed(press('k', { ctrlKey: true }), SHORTCUTS.palette, true)).toBe(false)
    expect(pressed(press('k', { metaKey: true }), SHORTCUTS.palette, true)).toBe(true)
    expect(keyNames(SHORTCUTS.new, true)).toEqual(['⌘', '⇧', 'O'])
    expect(keyNames(SHORTCUTS.new, false)).toEqual(['Ctrl', 'Shift', 'O'])
  })

  it('with Alt go by the place of the key, which types another character', () => {
    const typed = press('π', { code: 'KeyP', altKey: true })
    expect(pressed(typed, SHORTCUTS.mode, true)).toBe(true)
  })

  it('are not taken from those with one more key', () => {
    const reload = press('K', { ctrlKey: true, shiftKey: true })
    expect(pressed(reload, SHORTCUTS.palette, false)).toBe(false)
  })

  it('no two are the same', () => {
    expect(new Set(Object.values(SHORTCUTS)).size).toBe(Object.keys(SHORTCUTS).length)
  })
})

describe('what fits the words', () => {
  it('needs every word, and the beginning of a word goes before its middle', () => {
    const names = ['reopen', 'open the list', 'close']
    expect(rank(names, 'open', (name) => name)).toEqual(['open the list', 'reopen'])
    expect(rank(names, 'list open', (name) => name)).toEqual(['open the list'])
    expect(rank(names, '', (name) => name)).toEqual(names)
  })
})

describe('the slash menu', () => {
  const command = (name: string): Command => ({
    name,
    icon: 'plus',
    text: `does ${name}`,
    shortcut: null,
    argument: null,
    run: vi.fn(),
  })
  const commands = [command('plan'), command('build'), command('stop')]
  const key = (name: string) => new KeyboardEvent('keydown', { key: name })

  it('is there for a slash at the start, and narrows with each letter', async () => {
    const view = await show(SlashMenu, { text: '/', commands, listId: 'l' })
    expect(view.findAll('[role=option]')).toHaveLength(3)
    await view.setProps({ text: '/b' })
    expect(view.findAll('[role=option]').map((one) => one.text())).toEqual(['/builddoes build'])
    await view.setProps({ text: 'a /b' })
    expect(view.find('[role=listbox]').exists()).toBe(false)
  })

  it('is walked by arrows, taken by Enter, and gone after Escape', async () => {
    const view = await show(SlashMenu, { text: '/', commands, listId: 'l' })
    const menu = view.vm as unknown as { onKey: (event: KeyboardEvent) => boolean }
    expect(menu.onKey(key('ArrowDown'))).toBe(true)
    await nextTick()
    expect(view.findAll('[aria-selected=true]').map((one) => one.text())).toEqual(['/builddoes build'])
    expect(menu.onKey(key('Enter'))).toBe(true)
    expect(view.emitted('take')).toEqual([[commands[1]]])
    menu.onKey(key('Escape'))
    await nextTick()
    expect(view.find('[role=listbox]').exists()).toBe(false)
    expect(menu.onKey(key('Enter'))).toBe(false)
  })
})

describe('earlier messages', () => {
  async function field() {
    await show(SlashMenu, { text: '', commands: [], listId: 'l' })
    const model = session()
    for (const text of ['first', 'second']) {
      const turn = newTurn(text, null)
      turn.user = { id: text, text, attachments: [] }
      model.turns.push(turn)
    }
    const chat = useChat()
    chat.open.set(model.id, model)
    chat.currentId = model.id
    const text = ref('')
    const history = useInputHistory(text)
    const press = async (key: string) => {
      const taken = history.onKey(new KeyboardEvent('keydown', { key }))
      await nextTick()
      return taken
    }
    return { text, press }
  }

  it('come back into an empty field, newest first, and leave it empty again', async () => {
    const { text, press } = await field()
    await press('ArrowUp')
    expect(text.value).toBe('second')
    await press('ArrowUp')
    await press('ArrowUp')
    expect(text.value).toBe('first')
    await press('ArrowDown')
    await press('ArrowDown')
    expect(text.value).toBe('')
  })

  it('never replace what the person is writing', async () => {
    const { text, press } = await field()
    text.value = 'mine'
    expect(await press('ArrowUp')).toBe(false)
    text.value = ''
    await press('ArrowUp')
    text.value = 'second, changed'
    await nextTick()
    expect(await press('ArrowUp')).toBe(false)
    expect(text.value).toBe('second, changed')
  })
})

describe('search in a conversation', () => {
  const turn = newTurn('t', 'r')
  turn.user = { id: 'u', text: 'Stairs and stairs', attachments: [] }
  const thought = Object.assign(newBlock('b1', 'm', 'thinking'), { text: 'stairs?' })
  const answer = Object.assign(newBlock('b2', 'm', 'content'), { text: 'No STAIRS.' })
  turn.messages.push({ id: 'm', attempt: 1, blocks: [thought, answer] })

  it('finds every occurrence in order, in thoughts only when asked', () => {
    expect(matchesIn([turn], 'stairs', false).map((match) => match.messageId)).toEqual(['u', 'u', 'm'])
    const all = matchesIn([turn], 'Stairs', true)
    expect(all.map((match) => match.thoughtId)).toEqual([null, null, 'b1', null])
    expect(all.map((match) => match.nth)).toEqual([0, 1, 2, 3])
    expect(matchesIn([turn], ' ', true)).toEqual([])
  })

  it('marks what is drawn', () => {
    document.body.innerHTML = '<p>Ab ab</p><p>x<b>AB</b></p>'
    expect(rangesIn(document.body, 'ab').map(String)).toEqual(['Ab', 'ab', 'AB'])
  })
})

describe('what happened meanwhile', () => {
  const line = (more: Partial<SessionItem>) => more as SessionItem
  it('is the end of a run, or that it waits for the person', () => {
    const runs = line({ isRunning: true, waiting: false })
    const rests = line({ isRunning: false, waiting: false })
    const waits = line({ isRunning: false, waiting: true })
    expect(happening(runs, rests)).toBe('done')
    expect(happening(runs, waits)).toBe('waits')
    expect(happening(waits, waits)).toBeNull()
    expect(happening(undefined, rests)).toBeNull()
    expect(happening(runs, runs)).toBeNull()
  })
})
