// The address: `/` is a new chat, `/s/ID` a session. The server answers both with the page.
import { useEventListener } from '@vueuse/core'
import { ref } from 'vue'

const PATTERN = /^\/s\/([^/]+)$/

function read(): string | null {
  const found = PATTERN.exec(location.pathname)?.[1]
  return found === undefined ? null : decodeURIComponent(found)
}

const sessionId = ref<string | null>(read())

export function useRoute() {
  useEventListener(window, 'popstate', () => {
    sessionId.value = read()
  })
  function go(id: string | null, replace = false): void {
    const path = id === null ? '/' : `/s/${encodeURIComponent(id)}`
    if (path !== location.pathname) {
      if (replace) history.replaceState(null, '', path)
      else history.pushState(null, '', path)
    }
    sessionId.value = id
  }
  return { sessionId, go }
}

/** The one-time token of the link, taken out of the address at once so that it is not kept. */
export function takeToken(): string | null {
  const token = new URLSearchParams(location.hash.slice(1)).get('token')
  if (token === null) return null
  history.replaceState(null, '', location.pathname + location.search)
  return token
}
