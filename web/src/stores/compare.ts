// Answers that stand side by side: an answer of a session, and the same question asked in a branch.
import { useStorage } from '@vueuse/core'
import { defineStore } from 'pinia'

import type { Branch } from './acts'

const KEPT = 100

export const useCompare = defineStore('compare', () => {
  /** The branch beside an answer, by the session and the message that was asked. */
  const beside = useStorage<Record<string, Branch>>('silu.compare', {})
  const keyOf = (sessionId: string, messageId: string) => `${sessionId}/${messageId}`

  function start(sessionId: string, messageId: string, branch: Branch): void {
    const others = Object.entries(beside.value).slice(1 - KEPT)
    beside.value = { ...Object.fromEntries(others), [keyOf(sessionId, messageId)]: branch }
  }
  function end(sessionId: string, messageId: string): void {
    const gone = keyOf(sessionId, messageId)
    beside.value = Object.fromEntries(Object.entries(beside.value).filter(([key]) => key !== gone))
  }
  const branchOf = (sessionId: string, messageId: string): Branch | null =>
    beside.value[keyOf(sessionId, messageId)] ?? null

  return { beside, start, end, branchOf }
})
