// What is open on the page, the one status line for screen readers, and short messages.
import { defineStore } from 'pinia'
import { ref } from 'vue'

export type SettingsSection = 
  | 'models'
  | 'approvals'
  | 'mcp'
  | 'written'
  | 'access'
  | 'appearance'
  | 'server'

export interface Toast {
  id: number
  text: string
  action: string | null
  run: (() => void) | null
}

/** Where a reader wants to be brought: to a message, or with null to the end. */
export interface Goal {
  sessionId: string
  messageId: string | null
}

export const useUi = defineStore('ui', () => {
  const settings = ref<SettingsSection | null>(null)
  const inspector = ref(false)
  const files = ref(false)
  const usage = ref(false)
  const drawer = ref(false)
  const status = ref('')
  /** A message somebody wants to be brought to, once its conversation is there. */
  const goal = ref<Goal | null>(null)
  const palette = ref(false)
  const keys = ref(false)
  const find = ref(false)
  /** The conversation that is to be saved as a file. */
  const exporting = ref<string | null>(null)
  /** Messages that are being edited: their words so far, by the message's id. */
  const edits = ref(new Map<string, string>())
  const toasts = ref<Toast[]>([])
  let nextToast = 1

  function openSettings(section: SettingsSection = 'models'): void {
    drawer.value = false
    settings.value = section
  }

  function openUsage(): void {
    drawer.value = false
    usage.value = true
  }

  function toast(text: string, options: { action?: string; run?: () => void; ms?: number } = {}) {
    const id = nextToast
    nextToast += 1
    toasts.value.push({ id, text, action: options.action ?? null, run: options.run ?? null })
    setTimeout(() => {
      dismiss(id)
    }, options.ms ?? 4_000)
    return id
  }

  function dismiss(id: number): void {
    toasts.value = toasts.value.filter((item) => item.id !== id)
  }

  return {
    settings,
    inspector,
    files,
    usage,
    drawer,
    status,
    goal,
    palette,
    keys,
    find,
    exporting,
    edits,
    toasts,
    openSettings,
    openUsage,
    toast,
    dismiss,
  }
})
