// Follows the end of something that grows, until the reader scrolls up; never fights the reader.
import { useEventListener, useResizeObserver } from '@vueuse/core'
import { ref, type Ref } from 'vue'

const NEAR_PX = 6

export function useTail(scroller: Ref<HTMLElement | null>, content: Ref<HTMLElement | null>) {
  const following = ref(true)
  const atEnd = ref(true)
  let lastTop = 0
  let lastHeight = 0

  function distance(element: HTMLElement): number {
    return element.scrollHeight - element.clientHeight - element.scrollTop
  }

  function toEnd(): void {
    const element = scroller.value
    if (!element) return
    following.value = true
    element.scrollTop = element.scrollHeight
    remember(element)
  }

  function remember(element: HTMLElement): void {
    lastTop = element.scrollTop
    lastHeight = element.scrollHeight
    atEnd.value = distance(element) <= NEAR_PX
  }

  /** Call after the content changed. */
  function grew(): void {
    const element = scroller.value
    if (!element) return
    if (following.value) element.scrollTop = element.scrollHeight
    remember(element)
  }

  function release(): void {
    const element = scroller.value
    if (element && element.scrollHeight > element.clientHeight) following.value = false
  }

  useEventListener(scroller, 'scroll', () => {
    const element = scroller.value
    if (!element) return
    const up = element.scrollTop < lastTop - 1
    // A fold makes the content shorter and the browser clamps: that is not the reader.
    const shrank = element.scrollHeight < lastHeight - 1
    if (distance(element) <= NEAR_PX) following.value = true
    else if (up && !shrank) following.value = false
    remember(element)
  }, { passive: true })
  useEventListener(scroller, 'wheel', (event: WheelEvent) => {
    if (event.deltaY < 0) release()
  }, { passive: true })
  useEventListener(scroller, 'keydown', (event: KeyboardEvent) => {
    if (event.target instanceof HTMLTextAreaElement) return
    if (['PageUp', 'ArrowUp', 'Home'].includes(event.key)) release()
  })
  useResizeObserver(scroller, grew)
  useResizeObserver(content, grew)

  return { following, atEnd, toEnd, grew }
}
