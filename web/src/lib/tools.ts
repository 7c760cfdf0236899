import type { Block } from '@/transport/model'

export type CallState =
  | 'preparing'
  | 'running'
  | 'ok'
  | 'error'
  | 'denied'
  | 'interrupted'
  | 'unknown'

/** Where a tool call stands, from its block. */
export function callState(block: Block): CallState {
  if (block.outcome) return block.outcome.status
  if (block.interrupted) return 'interrupted'
  return block.done ? 'running' : 'preparing'
}

/** A call's arguments as an object; null while they are incomplete or none. */
export function callArguments(args: string): Record<string, unknown> | null {
  try {
    const parsed: unknown = JSON.parse(args)
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : null
  } catch {
    return null
  }
}

const TELLING = [
  'path',
  'file',
  'pattern',
  'query',
  'command',
  'url',
  'title',
  'question',
  'name',
]

/** The one argument that says most about a call, for the card's line; empty while incomplete. */
export function callGist(args: string): string {
  const values = callArguments(args)
  if (values === null) return ''
  const gist: string[] = []
  for (const name of TELLING) {
    const value = values[name]
    if (typeof value === 'string' && value !== '') gist.push(value)
  }
  return gist.slice(0, 2).join(' · ').slice(0, 160)
}

/** Arguments as a person reads them; what is no JSON stays as it came. */
export function prettyArguments(args: string): string {
  try {
    return JSON.stringify(JSON.parse(args), null, 2)
  } catch {
    return args
  }
}
