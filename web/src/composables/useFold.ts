// Whether a thinking block is open: the person's choice, else the policy. A block that was seen
// streaming folds by itself once it ended, but not under the reader's pointer, focus or selection.
import { useEventListener, useTimeoutFn } from '@vueuse/core'
import { computed, ref, watch, type Ref } from 'vue'

import type { ThinkingDisplay } from '@/stores/prefs'

export const FOLD_MS = 300

export interface FoldInput {
  live: Ref<boolean>
  policy: Ref<ThinkingDisplay>
  choice: Ref<boolean | undefined>
  element: Ref<HTMLElement | null>
}

export function useFold({ live, policy, choice, element }: FoldInput) {
  /** Ended a moment ago and not folded yet. */
  const lingering = ref(false)
  const hovered = ref(false)
  const focused = ref(false)
  const selected = ref(false)
  const held = computed(() => hovered.value || focused.value || selected.value)

  const open = computed(() => {
    if (choice.value !== undefined) return choice.value
    if (policy.value === 'open') return true
    if (policy.value !== 'auto') return false
    return live.value || lingering.value
  })

  watch(live, (now, before) => {
    if (before && !now) lingering.value = true
  }, { flush: 'sync' })

  const fold = useTimeoutFn(() => {
    lingering.value = false
  }, FOLD_MS, { immediate: false })
  watch([lingering, held], () => {
    if (lingering.value && !held.value) fold.start()
    else fold.stop()
  })

  useEventListener(element, 'pointerenter', (event: PointerEvent) => {
    hovered.value = event.pointerType === 'mouse'
  })
  useEventListener(element, 'pointerleave', () => {
    hovered.value = false
  })
  useEventListener(element, 'focusin', () => {
    focused.value = true
  })
  useEventListener(element, 'focusout', () => {
    focused.value = false
  })
  useEventListener(document, 'selectionchange', () => {
    const selection = document.getSelection()
    const root = element.value
    selected.value =
      root !== null &&
      selection !== null &&
      !selection.isCollapsed &&
      root.contains(selection.anchorNode)
  })

  return { open, lingering }
}
