// Brings a reader to a message of the open conversation, also to one that is not loaded yet.
import { nextTick, watch } from 'vue'

import { useUi } from '@/stores/ui'
import type { SessionModel } from '@/transport/model'

/** What the list of turns can do for it. */
export interface Scrolling {
  toEnd: () => void
  toTurn: (index: number) => void
  /** Loads the page before; false where there is none, or it could not be had. */
  older: () => Promise<boolean>
}

export function turnIndex(session: SessionModel, messageId: string): number {
  return session.turns.findIndex(
    (turn) => turn.user?.id === messageId || turn.messages.some(({ id }) => id === messageId),
  )
}

export function useGoal(session: SessionModel, list: Scrolling): void {
  const ui = useUi()
  watch(
    () => ui.goal,
    async (goal) => {
      if (goal?.sessionId !== session.id) return
      await nextTick()
      if (goal.messageId === null) list.toEnd()
      else await bring(goal.messageId)
      if (ui.goal === goal) ui.goal = null
    },
    { immediate: true },
  )

  async function bring(messageId: string): Promise<void> {
    while (turnIndex(session, messageId) === -1) {
      if (!(await list.older())) return
    }
    await nextTick()
    list.toTurn(turnIndex(session, messageId))
  }
}
