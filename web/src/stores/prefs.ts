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

  return {
    theme,
    locale,
    thinking,
    todoOpen,
    sidebarOpen,
    thinkingChoices,
    dark,
    chooseThinking,
  }
})
