import { nextTick } from 'vue'
import { beforeEach, describe, expect, it } from 'vitest'

import { show } from './helpers'

import SessionList from '@/components/sidebar/SessionList.vue'
import type { SessionItem } from '@/generated/protocol'
import { marked } from '@/lib/marks'
import { familiesOf } from '@/lib/tree'
import { usePrefs } from '@/stores/prefs'
import { emptySummary } from '@/transport/model'

const NOW = Date.now()

function item(id: string, more: Partial<SessionItem> = {}): SessionItem {
  return {
    id,
    title: `title ${id}`,
    model: null,
    mode: 'build',
    created_at: NOW,
    updated_at: NOW,
    parent_id: null,
    archived: false,
    isRunning: false,
    waiting: false,
    unread: false,
    lastMessage: `last ${id}`,
    todoSummary: emptySummary(),
    head: 0,
    ...more,
  }
}

beforeEach(() => {
  localStorage.clear()
  document.body.replaceChildren()
})

describe('families', () => {
  it('put every descendant under its root, oldest first, newest family on top', () => {
    const families = familiesOf([
      item('a', { updated_at: 1 }),
      item('b', { updated_at: 5 }),
      item('a2', { parent_id: 'a1', created_at: 3, updated_at: 9 }),
      item('a1', { parent_id: 'a', created_at: 2, updated_at: 2 }),
    ])
    expect(families.map((family) => family.root.id)).toEqual(['a', 'b'])
    expect(families[0]?.branches.map((branch) => branch.id)).toEqual(['a1', 'a2'])
  })

  it('let a branch of something deleted stand alone, and end where parents go in a circle', () => {
    const lost = familiesOf([item('x', { parent_id: 'gone' })])
    expect(lost.map((family) => family.root.id)).toEqual(['x'])
    const circle = familiesOf([item('x', { parent_id: 'y' }), item('y', { parent_id: 'x' })])
    expect(circle).toHaveLength(2)
  })
})

describe('the list of conversations', () => {
  const titles = (view: Awaited<ReturnType<typeof show>>) =>
    view.findAll('.title').map((title) => title.text())

  it('folds branches under their root until they are asked for', async () => {
    const items = [item('a'), item('b', { parent_id: 'a' })]
    const view = await show(SessionList, { items, currentId: 'a' })
    expect(titles(view)).toEqual(['title a'])
    const fold = view.get('.branches')
    expect(fold.attributes('aria-expanded')).toBe('false')
    await fold.trigger('click')
    expect(titles(view)).toEqual(['title a', 'title b'])
    expect(usePrefs().unfolded).toEqual(['a'])
  })

  it('keeps a branch in sight that waits, runs, is unread or is being read', async () => {
    const items = [
      item('a'),
      item('b', { parent_id: 'a', waiting: true }),
      item('c', { parent_id: 'a', isRunning: true }),
      item('d', { parent_id: 'a', unread: true }),
      item('e', { parent_id: 'a' }),
      item('f', { parent_id: 'a' }),
    ]
    const view = await show(SessionList, { items, currentId: 'e' })
    expect(titles(view)).toEqual(['title a', 'title b', 'title c', 'title d', 'title e'])
  })

  it('shows todos, then what happens, else the last message', async () => {
    const summary = { ...emptySummary(), total: 4, completed: 2 }
    const items = [
      item('a', { todoSummary: summary, isRunning: true }),
      item('b', { waiting: true }),
      item('c', { lastMessage: '**bold** `code`' }),
    ]
    const view = await show(SessionList, { items, currentId: null })
    const lines = view.findAll('.under').map((line) => line.text().replace(/\s+/g, ' '))
    expect(lines).toEqual(['📋 2/4执行中…', '等待你处理', 'bold code'])
  })

  it('keeps pinned conversations on top, the one pinned last first', async () => {
    const view = await show(SessionList, {
      items: [item('a'), item('b'), item('c')],
      currentId: null,
    })
    usePrefs().pin('b', true)
    usePrefs().pin('c', true)
    await nextTick()
    expect(view.findAll('h2').map((head) => head.text())).toEqual(['已置顶', '今天'])
    expect(titles(view)).toEqual(['title c', 'title b', 'title a'])
  })
})

describe('marks of a search', () => {
  it('are cut by code points', () => {
    expect(marked('🙂 思路 x', [[2, 4]])).toEqual([
      { text: '🙂 ', hit: false },
      { text: '思路', hit: true },
      { text: ' x', hit: false },
    ])
  })
})
