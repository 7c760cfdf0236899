// The session that a part of the page belongs to: the open one, or a column of a comparison.
import { computed, inject, provide, type ComputedRef, type InjectionKey } from 'vue'

import { useChat } from '@/stores/chat'

const KEY: InjectionKey<ComputedRef<string>> = Symbol('session')

export function provideSessionId(id: () => string): void {
  provide(KEY, computed(id))
}

export function useSessionId(): ComputedRef<string> {
  const chat = useChat()
  return inject(KEY, () => computed(() => chat.currentId ?? ''), true)
}
