// Commands that the person, or the conversation's folder, keeps as files: sent with a slash.
import { defineStore } from 'pinia'
import { ref } from 'vue'

import type { Command } from '@/generated/protocol'
import { api, ApiError } from '@/lib/api'

export const useWritten = defineStore('written', () => {
  const commands = ref<Command[]>([])
  let of: string | null | undefined

  /** Reads them once for a conversation, when they are first looked for. */
  async function load(sessionId: string | null): Promise<void> {
    if (of === sessionId) return
    of = sessionId
    try {
      const found = (await api.commands(sessionId)).commands
      if (of === sessionId) commands.value = found
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      // The page's own commands do without; the next slash asks again.
      of = undefined
    }
  }

  return { commands, load }
})
