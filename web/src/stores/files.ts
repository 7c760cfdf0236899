// What the runs of the open conversation did to files.
import { defineStore } from 'pinia'
import { computed, ref } from 'vue'

import type { ErrorInfo, Restored, RunChanges } from '@/generated/protocol'
import { api, ApiError } from '@/lib/api'

export const useFiles = defineStore('files', () => {
  const sessionId = ref<string | null>(null)
  const runs = ref<RunChanges[]>([])
  const error = ref<ErrorInfo | null>(null)

  /** Files that are changed now: undone runs do not count. */
  const count = computed(
    () =>
      new Set(
        runs.value
          .filter((run) => run.state !== 'undone')
          .flatMap((run) => run.files.map((file) => file.path)),
      ).size,
  )

  async function load(id: string | null): Promise<void> {
    if (id !== sessionId.value) runs.value = []
    sessionId.value = id
    error.value = null
    if (id === null) return
    try {
      const found = await api.changes(id)
      if (sessionId.value === id) runs.value = found.runs
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure
      error.value = failure.info
    }
  }

  /** Puts the files of a run back, or what it made of them; null when that was refused. Without
   * a run the server's next one in that direction. */
  async function put(back: boolean, runId: string | null): Promise<Restored | null> {
    const id = sessionId.value
    if (id === null) return null
    try {
      const done = back ? await api.undo(id, runId) : await api.redo(id, runId)
      await load(id)
      return done
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure
      error.value = failure.info
      return null
    }
  }

  return { runs, error, count, load, put }
})
