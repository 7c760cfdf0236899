// The session that a part of the page belongs to: the open one, or a column of a comparison.
import { computed, inject, provide, type ComputedRef, type InjectionKey } from 'vue'

import { useChat } from '@/stores/chat'
import type { SessionModel } from '@/transport/model'

const KEY: InjectionKey<ComputedRef<string>> = Symbol('session')

export function provideSessionId(id: () => string): void {
  provide(KEY, computed(id))
}

export function useSessionId(): ComputedRef<string> {
  const chat = useChat()
  return inject(KEY, () => computed(() => chat.currentId ?? ''), true)
}

/** What the page holds of that session; null before it was opened. */
export function useSessionModel(): ComputedRef<SessionModel | null> {
  const chat = useChat()
  const id = useSessionId()
  return computed(() => chat.open.get(id.value) ?? null)
}
