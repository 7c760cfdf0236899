// Follows the end of something that grows, until the reader scrolls up; never fights the reader.
import { useEventListener, useResizeObserver } from '@vueuse/core'
import { ref, type Ref } from 'vue'

const NEAR_PX = 6
/** A scroll upwards so soon after a gesture is the reader's. */
const GESTURE_MS = 600
/** A scroll upwards so soon after the content changed is the layout's, unless there was a gesture. */
const LAYOUT_MS = 200

export function useTail(scroller: Ref<HTMLElement | null>, content: Ref<HTMLElement | null>) {
  const following = ref(true)
  const atEnd = ref(true)
  let lastTop = 0
  let gestureAt = Number.NEGATIVE_INFINITY
  let layoutAt = Number.NEGATIVE_INFINITY
  let dragging = false

  function distance(element: HTMLElement): number {
    return element.scrollHeight - element.clientHeight - element.scrollTop
  }

  function toEnd(): void {
    const element = scroller.value
    if (!element) return
    following.value = true
    layoutAt = performance.now()
    element.scrollTop = element.scrollHeight
    remember(element)
  }

  function remember(element: HTMLElement): void {
    lastTop = element.scrollTop
    atEnd.value = distance(element) <= NEAR_PX
  }

  /** Call after the content changed. */
  function grew(): void {
    const element = scroller.value
    if (!element) return
    layoutAt = performance.now()
    if (following.value) element.scrollTop = element.scrollHeight
    remember(element)
  }

  function gesture(): void {
    gestureAt = performance.now()
  }

  useEventListener(scroller, 'scroll', () => {
    const element = scroller.value
    if (!element) return
    const now = performance.now()
    const byReader = dragging || now - gestureAt < GESTURE_MS || now - layoutAt > LAYOUT_MS
    const up = element.scrollTop < lastTop - 1
    if (distance(element) <= NEAR_PX) following.value = true
    else if (up && byReader) following.value = false
    else if (following.value && !byReader) element.scrollTop = element.scrollHeight
    remember(element)
  }, { passive: true })
  useEventListener(scroller, 'wheel', (event: WheelEvent) => {
    gesture()
    const element = scroller.value
    // At once, not with the scroll that follows: text that comes in between must not pull back.
    if (event.deltaY < 0 && element && element.scrollHeight > element.clientHeight) {
      following.value = false
    }
  }, { passive: true })
  useEventListener(scroller, ['touchmove', 'keydown'], gesture, { passive: true })
  useEventListener(scroller, 'pointerdown', (event: PointerEvent) => {
    // On the scroller itself: its scrollbar.
    dragging = event.target === scroller.value
  }, { passive: true })
  useEventListener(window, 'pointerup', () => {
    dragging = false
  }, { passive: true })
  useResizeObserver(scroller, grew)
  useResizeObserver(content, grew)

  return { following, atEnd, toEnd, grew }
}
