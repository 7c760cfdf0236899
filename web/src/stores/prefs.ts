// What this browser remembers about how the person likes the page.
import { useMediaQuery, useStorage } from '@vueuse/core'
import { defineStore } from 'pinia'
import { computed, watchEffect } from 'vue'

import { detectLocale, type Locale } from '@/i18n'

export type Theme = 'light' | 'dark' | 'system'
/** `auto`: open while it streams, folded after. */
export type ThinkingDisplay = 'auto' | 'open' | 'collapsed' | 'hidden'

// The plain string is also read by public/theme.js before the first paint.
const plain = { read: (text: string) => text, write: (value: string) => value }

export const usePrefs = defineStore('prefs', () => {
  const theme = useStorage<Theme>('silu.theme', 'system', localStorage, {
    serializer: { read: (text) => plain.read(text) as Theme, write: plain.write },
  })
  const locale = useStorage<Locale>('silu.locale', detectLocale(), localStorage, {
    serializer: { read: (text) => plain.read(text) as Locale, write: plain.write },
  })
  const thinking = useStorage<ThinkingDisplay>('silu.thinking', 'auto')
  const todoOpen = useStorage('silu.todo-open', true)
  const sidebarOpen = useStorage('silu.sidebar-open', true)
  /** Open or folded as the person chose, by block id; outlives a reload. */
  const thinkingChoices = useStorage<Record<string, boolean>>('silu.thinking-choices', {})

  /** A word from the browser when a run is done or waits and the page is not in view. */
  const notify = useStorage('silu.notify', false)
  /** Conversations kept at the top of the list, and families whose branches are shown. */
  const pins = useStorage<string[]>('silu.pins', [])
  /** Another try stands beside the answer it was asked for, instead of opening its branch. */
  const sideBySide = useStorage('silu.side-by-side', true)
  /** Models the person put first, `vendor/model-id`. */
  const favourites = useStorage<string[]>('silu.favourites', [])
  const unfolded = useStorage<string[]>('silu.unfolded', [])

  const systemDark = useMediaQuery('(prefers-color-scheme: dark)')
  const dark = computed(() =>
    theme.value === 'system' ? systemDark.value : theme.value === 'dark',
  )
  watchEffect(() => {
    document.documentElement.dataset.theme = dark.value ? 'dark' : 'light'
    const meta = document.querySelector<HTMLMetaElement>('meta[name="theme-color"]')
    if (meta) meta.content = dark.value ? '#17181b' : '#fcfbf9'
  })

  const KEPT_CHOICES = 500
  function chooseThinking(blockId: string, open: boolean): void {
    const entries = Object.entries(thinkingChoices.value).filter(([id]) => id !== blockId)
    entries.push([blockId, open])
    thinkingChoices.value = Object.fromEntries(entries.slice(-KEPT_CHOICES))
  }

  const without = (ids: readonly string[], id: string) => ids.filter((kept) => kept !== id)
  function pin(id: string, on: boolean): void {
    pins.value = on ? [id, ...without(pins.value, id)] : without(pins.value, id)
  }
  function like(ref: string, on: boolean): void {
    favourites.value = on ? [...without(favourites.value, ref), ref] : without(favourites.value, ref)
  }
  function unfold(id: string, on: boolean): void {
    unfolded.value = on ? [id, ...without(unfolded.value, id)].slice(0, KEPT_CHOICES) : without(unfolded.value, id)
  }

  return {
    theme,
    locale,
    thinking,
    todoOpen,
    sidebarOpen,
    thinkingChoices,
    dark,
    chooseThinking,
    notify,
    pins,
    favourites,
    sideBySide,
    like,
    unfolded,
    pin,
    unfold,
  }
})
