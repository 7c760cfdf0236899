// What the lines of the list do, with a word to the person about it.
import { useI18n } from 'vue-i18n'

import type { RowAct } from '@/components/sidebar/SessionRow.vue'

import type { SessionItem } from '@/generated/protocol'
import { api, ApiError } from '@/lib/api'
import { useActs } from '@/stores/acts'
import { usePrefs } from '@/stores/prefs'
import { useSessions } from '@/stores/sessions'
import { useUi } from '@/stores/ui'

const UNDO_MS = 6_500

export function useListActs(leave: (id: string) => void, go: (id: string) => void) {
  const { t } = useI18n()
  const sessions = useSessions()
  const prefs = usePrefs()
  const acts = useActs()
  const ui = useUi()
  const nameOf = (item: SessionItem) => item.title || t('sidebar.untitled')

  async function attempt(work: Promise<unknown>): Promise<boolean> {
    try {
      await work
      return true
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      ui.toast(error.message || t('error.unreachable'))
      return false
    }
  }

  async function archive(item: SessionItem, away: boolean): Promise<void> {
    if (!(await attempt(sessions.archive(item.id, away)))) return
    if (!away) return
    leave(item.id)
    ui.toast(t('side.archived', { title: nameOf(item) }), {
      action: t('common.undo'),
      run: () => void attempt(sessions.archive(item.id, false)),
      ms: UNDO_MS,
    })
  }

  async function fork(item: SessionItem): Promise<void> {
    const id = await acts.fork(item.id, null)
    if (id !== null) go(id)
  }

  /** A conversation from an exported file; it is then the open one. */
  async function bringIn(file: Blob): Promise<void> {
    await attempt(
      api.importSession(file).then((view) => {
        sessions.put(view)
        go(view.id)
      }),
    )
  }

  function act(item: SessionItem, what: RowAct): void {
    switch (what) {
      case 'pin':
        prefs.pin(item.id, !prefs.pins.includes(item.id))
        break
      case 'fork':
        void fork(item)
        break
      case 'export':
        ui.exporting = item.id
        break
      case 'archive':
        void archive(item, !item.archived)
        break
    }
  }

  function remove(item: SessionItem): void {
    leave(item.id)
    void attempt(sessions.remove(item.id))
    ui.toast(t('sidebar.deleted', { title: nameOf(item) }), {
      action: t('common.undo'),
      run: () => void attempt(sessions.undoRemove()),
      ms: UNDO_MS,
    })
  }

  return {
    act,
    bringIn,
    remove,
    rename: (item: SessionItem, title: string) => void attempt(sessions.rename(item.id, title)),
    showArchive: () => attempt(sessions.loadArchive()),
  }
}
