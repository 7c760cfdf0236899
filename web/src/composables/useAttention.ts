// What happened while the person looked elsewhere: a mark in the title, and where they want it a
// notification of the browser's.
import { useDocumentVisibility } from '@vueuse/core'
import { computed, ref, watch } from 'vue'
import { useI18n } from 'vue-i18n'

import { useRoute } from './useRoute'

import type { ListFrame, SessionItem } from '@/generated/protocol'
import { plainLine } from '@/lib/preview'
import { usePrefs } from '@/stores/prefs'
import { useSessions } from '@/stores/sessions'

export type Happening = 'done' | 'waits'

/** What a changed line of the list tells that the line before did not. */
export function happening(before: SessionItem | undefined, now: SessionItem): Happening | null {
  if (now.waiting && before?.waiting !== true) return 'waits'
  return before?.isRunning === true && !now.isRunning && !now.waiting ? 'done' : null
}

export function useAttention() {
  const { t } = useI18n()
  const { go } = useRoute()
  const sessions = useSessions()
  const prefs = usePrefs()
  const seen = useDocumentVisibility()
  const missed = ref<Happening | null>(null)

  watch(seen, (now) => {
    if (now === 'visible') missed.value = null
  })

  /** Call with a change of the list before it is taken. */
  function note(frame: ListFrame): void {
    if (seen.value === 'visible') return
    for (const item of frame.data) {
      const what = happening(sessions.byId.get(item.id), item)
      if (what === null) continue
      missed.value = what
      tell(item, what)
    }
  }

  function tell(item: SessionItem, what: Happening): void {
    if (!prefs.notify || !('Notification' in window) || Notification.permission !== 'granted') return
    const said = what === 'done' ? plainLine(item.lastMessage ?? '').slice(0, 140) : ''
    const words = [t(`notify.${what}`), said].filter(Boolean).join(' · ')
    const shown = new Notification(item.title || t('sidebar.untitled'), { body: words, tag: item.id })
    shown.onclick = () => {
      window.focus()
      go(item.id)
      shown.close()
    }
  }

  const MARKS: Record<Happening, string> = { done: '✓ ', waits: '◆ ' }
  const mark = computed(() => (missed.value === null ? '' : MARKS[missed.value]))
  return { note, mark }
}
