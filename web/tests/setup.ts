// What jsdom lacks of a browser and the page relies on.
class NoResizeObserver {
  observe(): void {
    return
  }
  unobserve(): void {
    return
  }
  disconnect(): void {
    return
  }
}
globalThis.ResizeObserver = NoResizeObserver

window.matchMedia = (query: string) =>
  ({
    matches: false,
    media: query,
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
  }) as unknown as MediaQueryList

Element.prototype.scrollIntoView = () => undefined

// Newer Node versions have a `localStorage` of their own that stores nothing without a file.
const kept = new Map<string, string>()
Object.defineProperty(globalThis, 'localStorage', {
  configurable: true,
  value: {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
    removeItem: (key: string) => kept.delete(key),
    clear: () => {
      kept.clear()
    },
  },
})
