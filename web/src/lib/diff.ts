// Diffs: a unified one as a tool gave it, and the words that changed between two texts.

export type DiffKind = 'add' | 'del' | 'same' | 'hunk' | 'file' | 'note'

export interface DiffLine {
  kind: DiffKind
  text: string
  /** Line numbers on the old and the new side, where the diff tells them. */
  old: number | null
  new: number | null
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/

/** True for text that holds a unified diff. */
export function isDiff(text: string): boolean {
  return /^--- .*\n\+\+\+ .*$/m.test(text) || /^@@ -\d/m.test(text)
}

/** The lines of a unified diff; words before its head are notes. */
export function parseDiff(text: string): DiffLine[] {
  const lines: DiffLine[] = []
  let old = 0
  let now = 0
  let inside = false
  for (const line of text.replace(/\n$/, '').split('\n')) {
    const hunk = HUNK.exec(line)
    if (hunk) {
      old = Number(hunk[1])
      now = Number(hunk[2])
      inside = true
      lines.push({ kind: 'hunk', text: line, old: null, new: null })
    } else if (isHead(line, inside)) {
      inside = false
      if (line.startsWith('+++ ')) lines.push({ kind: 'file', text: fileName(line), old: null, new: null })
    } else if (!inside) {
      if (line !== '') lines.push({ kind: 'note', text: line, old: null, new: null })
    } else if (line.startsWith('+')) {
      lines.push({ kind: 'add', text: line.slice(1), old: null, new: now })
      now += 1
    } else if (line.startsWith('-')) {
      lines.push({ kind: 'del', text: line.slice(1), old, new: null })
      old += 1
    } else if (line.startsWith(' ') || line === '') {
      lines.push({ kind: 'same', text: line.slice(1), old, new: now })
      old += 1
      now += 1
    } else {
      lines.push({ kind: 'note', text: line, old: null, new: null })
    }
  }
  return lines
}

function isHead(line: string, inside: boolean): boolean {
  if (/^(diff --git|index |new file|deleted file|similarity|rename )/.test(line)) return true
  // Inside a hunk a removed line may well begin with two more dashes.
  return inside ? false : line.startsWith('--- ') || line.startsWith('+++ ')
}

function fileName(line: string): string {
  return line.slice(4).replace(/\t.*$/, '').replace(/^b\//, '')
}

/** Lines added and removed. */
export function diffStat(lines: readonly DiffLine[]): { add: number; del: number } {
  let add = 0
  let del = 0
  for (const { kind } of lines) {
    if (kind === 'add') add += 1
    else if (kind === 'del') del += 1
  }
  return { add, del }
}

export interface Change<T> {
  kind: 'same' | 'add' | 'del'
  items: T[]
}

/** What turns one list into the other, by the longest run they share. */
export function changes<T>(before: readonly T[], after: readonly T[]): Change<T>[] {
  const table = shared(before, after)
  const found: Change<T>[] = []
  const push = (kind: Change<T>['kind'], item: T) => {
    const last = found.at(-1)
    if (last?.kind === kind) last.items.push(item)
    else found.push({ kind, items: [item] })
  }
  let i = 0
  let j = 0
  while (i < before.length || j < after.length) {
    const a = before[i] as T
    const b = after[j] as T
    if (i < before.length && j < after.length && a === b) {
      push('same', a)
      i += 1
      j += 1
    } else if (j >= after.length || (i < before.length && at(table, i + 1, j) >= at(table, i, j + 1))) {
      push('del', a)
      i += 1
    } else {
      push('add', b)
      j += 1
    }
  }
  return found
}

function at(table: number[][], i: number, j: number): number {
  return table[i]?.[j] ?? 0
}

/** Lengths of the longest common runs from each pair of places on. */
function shared<T>(before: readonly T[], after: readonly T[]): number[][] {
  const table = before.map(() => new Array<number>(after.length + 1).fill(0))
  table.push(new Array<number>(after.length + 1).fill(0))
  for (let i = before.length - 1; i >= 0; i -= 1) {
    const row = table[i] as number[]
    for (let j = after.length - 1; j >= 0; j -= 1) {
      row[j] =
        before[i] === after[j]
          ? at(table, i + 1, j + 1) + 1
          : Math.max(at(table, i + 1, j), at(table, i, j + 1))
    }
  }
  return table
}

/** Words, single CJK characters and the white space between them. */
export function words(text: string): string[] {
  return text.match(/[\u3400-\u9fff\uf900-\ufaff]|[^\s\u3400-\u9fff\uf900-\ufaff]+|\s+/g) ?? []
}

export function wordChanges(before: string, after: string): Change<string>[] {
  return changes(words(before), words(after))
}
