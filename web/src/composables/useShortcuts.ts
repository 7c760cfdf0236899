import { useEventListener } from '@vueuse/core'

import { isTyping, pressed, SHORTCUTS, type ShortcutId } from '@/lib/shortcuts'

/** Listens for the page's shortcuts. Under an open sheet only the one that closes it works. */
export function useShortcuts(actions: Record<ShortcutId, () => void>): void {
  const ids = Object.keys(SHORTCUTS) as ShortcutId[]
  useEventListener(window, 'keydown', (event: KeyboardEvent) => {
    if (event.isComposing || event.defaultPrevented) return
    const id = ids.find((name) => pressed(event, SHORTCUTS[name]))
    if (id === undefined) return
    const plain = SHORTCUTS[id].length === 1
    if (plain && isTyping(event.target)) return
    if (id !== 'palette' && document.querySelector('dialog[open]') !== null) return
    event.preventDefault()
    actions[id]()
  })
}
