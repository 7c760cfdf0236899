// The sidebar's list.
import { defineStore } from 'pinia'
import { computed, ref } from 'vue'

import { useConnection } from './connection'

import type { ErrorInfo, ListFrame, SessionItem } from '@/generated/protocol'
import { api, ApiError } from '@/lib/api'

const UNDO_MS = 7_000

export const useSessions = defineStore('sessions', () => {
  const connection = useConnection()
  const byId = ref(new Map<string, SessionItem>())
  const n = ref(0)
  const loaded = ref(false)
  const error = ref<ErrorInfo | null>(null)
  /** Deleted on the page and not yet on the server: the way back is still open. */
  const leaving = ref<{ id: string; title: string } | null>(null)
  let leaveTimer: ReturnType<typeof setTimeout> | undefined

  const list = computed(() =>
    [...byId.value.values()]
      .filter((item) => !item.archived && item.id !== leaving.value?.id)
      .sort((a, b) => b.updated_at - a.updated_at),
  )

  async function load(): Promise<void> {
    try {
      const answer = await api.sessions()
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

  /** Hides it at once; the server hears of it when the time for undoing is over. */
  function remove(id: string): void {
    void settle()
    leaving.value = { id, title: byId.value.get(id)?.title ?? '' }
    leaveTimer = setTimeout(() => void settle(), UNDO_MS)
  }

  function undoRemove(): void {
    clearTimeout(leaveTimer)
    leaving.value = null
  }

  async function settle(): Promise<void> {
    clearTimeout(leaveTimer)
    const item = leaving.value
    if (!item) return
    const kept = byId.value.get(item.id)
    byId.value.delete(item.id)
    leaving.value = null
    try {
      await api.deleteSession(item.id)
    } catch (failure) {
      if (kept) byId.value.set(item.id, kept)
      throw failure
    }
  }

  return {
    byId,
    list,
    loaded,
    error,
    leaving,
    load,
    subscribe,
    take,
    put,
    rename,
    remove,
    undoRemove,
    settle,
  }
})
