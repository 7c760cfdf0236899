// The plan's revisions, read from the calls that wrote them, and what changed between two.
import { changes, wordChanges, type Change } from './diff'
import { callArguments } from './tools'

import type { Plan } from '@/generated/protocol'
import { blocksOf, type Block, type Turn } from '@/transport/model'

export interface Revision extends Pick<
  Plan,
  'revision' | 'goal' | 'steps' | 'constraints' | 'open_questions'
> {
  blockId: string
}

/** True for a call that writes a plan (one without a goal only reads it), also while it streams. */
export function writesPlan(block: Block): boolean {
  const failed = block.outcome !== null && block.outcome.status !== 'ok'
  return block.name === 'plan' && !failed && block.text.includes('"goal"')
}

const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []

function stepsOf(value: unknown): Revision['steps'] {
  if (!Array.isArray(value)) return []
  return value.map((item: unknown, index) => {
    const step = (typeof item === 'object' && item !== null ? item : {}) as Record<string, unknown>
    const id = typeof step.id === 'string' ? step.id : String(index + 1)
    return { id, text: String(step.text ?? ''), todo_ids: texts(step.todo_ids) }
  })
}

/** The number the server gave the revision, from the call's result. */
function numberOf(block: Block): number | null {
  const found = /"revision":\s*(\d+)/.exec(block.outcome?.summary ?? '')
  return found ? Number(found[1]) : null
}

/** Every revision the turns wrote, oldest first. One whose call has not ended is not among them. */
export function revisionsOf(turns: readonly Turn[]): Revision[] {
  const found: Revision[] = []
  for (const turn of turns) {
    for (const block of blocksOf(turn)) {
      const args = block.done && writesPlan(block) ? callArguments(block.text) : null
      if (args === null) continue
      found.push({
        blockId: block.id,
        revision: numberOf(block) ?? (found.at(-1)?.revision ?? 0) + 1,
        goal: String(args.goal ?? ''),
        steps: stepsOf(args.steps),
        constraints: texts(args.constraints),
        open_questions: texts(args.open_questions),
      })
    }
  }
  return found
}

/** One line of a list in two revisions; an `edit` holds both, word by word. */
export interface LineChange {
  kind: Change<string>['kind'] | 'edit'
  words: Change<string>[]
}

/** A removed line and an added one at the same place are one line that was edited. */
export function lineChanges(before: readonly string[], after: readonly string[]): LineChange[] {
  const found: LineChange[] = []
  const runs = changes(before, after)
  for (let index = 0; index < runs.length; index += 1) {
    const run = runs[index]
    const next = runs[index + 1]
    if (!run) continue
    const pair = run.kind !== 'same' && next !== undefined && next.kind !== 'same' ? next : null
    if (pair) index += 1
    const gone = run.kind === 'del' ? run.items : (pair?.items ?? [])
    const come = run.kind === 'add' ? run.items : (pair?.items ?? [])
    if (pair) found.push(...edited(gone, come))
    else found.push(...run.items.map((text) => whole(run.kind, text)))
  }
  return found
}

function edited(gone: readonly string[], come: readonly string[]): LineChange[] {
  const both = Math.min(gone.length, come.length)
  return [
    ...come.slice(0, both).map((text, index): LineChange => {
      return { kind: 'edit', words: wordChanges(gone[index] ?? '', text) }
    }),
    ...gone.slice(both).map((text) => whole('del', text)),
    ...come.slice(both).map((text) => whole('add', text)),
  ]
}

function whole(kind: Change<string>['kind'], text: string): LineChange {
  return { kind, words: [{ kind, items: [text] }] }
}

/** True when nothing of the text differs. */
export function sameText(lines: readonly LineChange[]): boolean {
  return lines.every((line) => line.kind === 'same')
}
