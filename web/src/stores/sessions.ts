// The sidebar's list.
import { defineStore } from 'pinia'
import { computed, ref } from 'vue'

import { useConnection } from './connection'

import type { ErrorInfo, ListFrame, SessionItem } from '@/generated/protocol'
import { api, ApiError } from '@/lib/api'

const UNDO_MS = 7_000
const PAGE = 200

export const useSessions = defineStore('sessions', () => {
  const connection = useConnection()
  const byId = ref(new Map<string, SessionItem>())
  const n = ref(0)
  const loaded = ref(false)
  const limit = ref(PAGE)
  /** There may be older ones than those that were read. */
  const more = ref(false)
  const error = ref<ErrorInfo | null>(null)
  /** In the bin since a moment: the way back is still open. */
  const leaving = ref<SessionItem | null>(null)
  let leaveTimer: ReturnType<typeof setTimeout> | undefined

  const list = computed(() =>
    [...byId.value.values()]
      .filter((item) => !item.archived)
      .sort((a, b) => b.updated_at - a.updated_at),
  )

  async function load(): Promise<void> {
    try {
      const answer = await api.sessions({ limit: limit.value })
      more.value = answer.sessions.length === limit.value
      byId.value = new Map(answer.sessions.map((item) => [item.id, item]))
      n.value = answer.n
      error.value = null
      loaded.value = true
      subscribe()
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure
      error.value = failure.info
    }
  }

  function subscribe(): void {
    if (!loaded.value) return
    connection.command('subscribe', { list: true, since: n.value }).catch(() => undefined)
  }

  function take(frame: ListFrame): void {
    n.value = Math.max(n.value, frame.n)
    for (const item of frame.data) put(item)
    for (const id of frame.gone) byId.value.delete(id)
  }

  function put(item: SessionItem): void {
    byId.value.set(item.id, item)
  }

  /** Archived conversations, read when somebody looks at them. */
  const shelf = ref<SessionItem[]>([])
  async function loadArchive(): Promise<void> {
    shelf.value = (await api.sessions({ archived: true })).sessions
  }

  async function loadMore(): Promise<void> {
    limit.value += PAGE
    await load()
  }

  async function archive(id: string, away: boolean): Promise<void> {
    const view = await api.patchSession(id, { archived: away })
    put(view)
    shelf.value = shelf.value.filter((item) => item.id !== id)
    if (away) shelf.value.unshift(view)
  }

  async function rename(id: string, title: string): Promise<void> {
    const item = byId.value.get(id)
    const before = item?.title
    if (item) item.title = title
    try {
      await api.patchSession(id, { title })
    } catch (failure) {
      if (item && before !== undefined) item.title = before
      throw failure
    }
  }

  /** Into the bin at once; deleted for good when the time for undoing is over. A page that is
   * closed before leaves it in the bin, which the server empties. */
  async function remove(id: string): Promise<void> {
    void settle()
    const item = byId.value.get(id) ?? shelf.value.find((kept) => kept.id === id)
    if (item === undefined) return
    byId.value.delete(id)
    shelf.value = shelf.value.filter((kept) => kept.id !== id)
    leaving.value = item
    try {
      await api.trashSession(id)
    } catch (failure) {
      leaving.value = null
      back(item)
      throw failure
    }
    leaveTimer = setTimeout(() => void settle(), UNDO_MS)
  }

  function back(item: SessionItem): void {
    if (item.archived) shelf.value.unshift(item)
    else put(item)
  }

  async function undoRemove(): Promise<void> {
    clearTimeout(leaveTimer)
    const item = leaving.value
    if (!item) return
    leaving.value = null
    back(await api.restoreSession(item.id))
  }

  async function settle(): Promise<void> {
    clearTimeout(leaveTimer)
    const item = leaving.value
    leaving.value = null
    if (item) await api.deleteSession(item.id)
  }

  return {
    byId,
    list,
    loaded,
    more,
    loadMore,
    error,
    load,
    subscribe,
    take,
    put,
    shelf,
    loadArchive,
    archive,
    rename,
    remove,
    undoRemove,
    settle,
  }
})
