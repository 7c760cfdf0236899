// The page's shortcuts: one table that the listener, the palette and the help sheet read.

export type ShortcutId =
  | 'palette'
  | 'new'
  | 'find'
  | 'sidebar'
  | 'inspector'
  | 'files'
  | 'levelUp'
  | 'levelDown'
  | 'mode'
  | 'focus'
  | 'latest'
  | 'stop'
  | 'help'

/** `Mod` is ⌘ on a Mac and Ctrl elsewhere. A key of one character is a place on the keyboard
 * where it goes with Alt, which changes characters, and the character itself elsewhere. */
export const SHORTCUTS: Record<ShortcutId, string> = {
  palette: 'Mod+K',
  new: 'Mod+Shift+O',
  find: 'Mod+Shift+F',
  sidebar: 'Mod+B',
  inspector: 'Alt+I',
  files: 'Alt+F',
  levelUp: 'Alt+ArrowUp',
  levelDown: 'Alt+ArrowDown',
  mode: 'Alt+P',
  focus: '/',
  latest: 'Alt+End',
  stop: 'Mod+.',
  help: 'Mod+/',
}

export type KeyPress = Pick<
  KeyboardEvent,
  'key' | 'code' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'
>

export function isMac(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.platform)
}

export function pressed(event: KeyPress, keys: string, mac = isMac()): boolean {
  const words = keys.split('+')
  const key = words.at(-1) ?? ''
  const has = (word: string) => words.includes(word)
  const mod = mac ? event.metaKey : event.ctrlKey
  const other = mac ? event.ctrlKey : event.metaKey
  if (mod !== has('Mod') || other || event.altKey !== has('Alt')) return false
  // A layout may need Shift for a sign such as `/`; a letter or a named key must not have it.
  if (/^[A-Z]/.test(key) && event.shiftKey !== has('Shift')) return false
  if (has('Alt') && /^[A-Z]$/.test(key)) return event.code === `Key${key}`
  return event.key.toLowerCase() === key.toLowerCase()
}

const MAC_SIGNS: Record<string, string> = { Mod: '⌘', Shift: '⇧', Alt: '⌥' }
const SIGNS: Record<string, string> = {
  Mod: 'Ctrl',
  ArrowUp: '↑',
  ArrowDown: '↓',
  Enter: '⏎',
}

/** The keys as they stand on the keyboard, one word each. */
export function keyNames(keys: string, mac = isMac()): string[] {
  return keys.split('+').map((word) => (mac ? MAC_SIGNS[word] : undefined) ?? SIGNS[word] ?? word)
}

/** True where typed characters are text. */
export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  )
}
