import { useIntervalFn } from '@vueuse/core'
import { computed, ref, watch, type Ref } from 'vue'

import { useConnection } from '@/stores/connection'

/** Milliseconds since `startedAt` by the server's clock, while `running`; null when unknown. */
export function useElapsed(startedAt: Ref<number | null>, running: Ref<boolean>) {
  const connection = useConnection()
  const now = ref(Date.now())
  const tick = useIntervalFn(() => {
    now.value = Date.now()
  }, 1000, { immediate: false, immediateCallback: true })
  watch(running, (on) => {
    if (on) tick.resume()
    else tick.pause()
  }, { immediate: true })
  return computed(() =>
    startedAt.value === null ? null : Math.max(0, now.value + connection.skew - startedAt.value),
  )
}
