// How a result is shown: by the type that was told, or by what it plainly is.
import { isDiff } from './diff'

import type { SkillEnd } from '@/generated/protocol'

export type ResultType = SkillEnd['result_type'] | 'terminal' | 'text'

/** The viewer for a tool's result, by its name and by what came back. */
export function toolResultType(name: string | null, text: string): ResultType {
  if (name === 'shell') return 'terminal'
  if (isDiff(text)) return 'diff'
  return isJson(text) ? 'json' : 'text'
}

export function isJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

export function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

export interface Table {
  head: string[]
  rows: string[][]
}

/** A table from JSON (list of objects or of lists), CSV or tab-separated text; null for none. */
export function tableOf(text: string): Table | null {
  if (/^\s*[[{]/.test(text)) return jsonTable(text)
  const lines = text.trim().split(/\r?\n/)
  const separator = lines[0]?.includes('\t') ? '\t' : ','
  if (lines.length < 2 || !lines[0]?.includes(separator)) return null
  const [head, ...rows] = lines.map((line) => cells(line, separator))
  return head ? { head, rows } : null
}

function jsonTable(text: string): Table | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return null
  }
  if (!Array.isArray(value) || value.length === 0) return null
  if (value.every(Array.isArray)) {
    const [head, ...rows] = value.map((row) => row.map(cellText))
    return head ? { head, rows } : null
  }
  const records = value.filter(
    (row): row is Record<string, unknown> => typeof row === 'object' && row !== null,
  )
  if (records.length !== value.length) return null
  const head = [...new Set(records.flatMap((row) => Object.keys(row)))]
  return { head, rows: records.map((row) => head.map((name) => cellText(row[name]))) }
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** One line of CSV, with quoted cells. */
function cells(line: string, separator: string): string[] {
  const found: string[] = []
  let cell = ''
  let quoted = false
  for (let index = 0; index < line.length; index += 1) {
    const sign = line.charAt(index)
    if (quoted && sign === '"' && line.charAt(index + 1) === '"') {
      cell += '"'
      index += 1
    } else if (sign === '"') {
      quoted = !quoted
    } else if (sign === separator && !quoted) {
      found.push(cell)
      cell = ''
    } else {
      cell += sign
    }
  }
  return [...found, cell].map((text) => text.trim())
}

/** The blob of a `file` or `image` result: its sha256, or a reference in JSON. */
export function blobOf(text: string): { sha256: string; name: string } | null {
  const plain = /^[0-9a-f]{64}$/.exec(text.trim())
  if (plain) return { sha256: plain[0], name: '' }
  try {
    const value = JSON.parse(text) as Record<string, unknown>
    const sha256 = value.sha256 ?? value.blob
    if (typeof sha256 !== 'string') return null
    return { sha256, name: typeof value.name === 'string' ? value.name : '' }
  } catch {
    return null
  }
}
