// Skills of a turn: from facts while they run, from the history's record afterwards.
import type { FactFrame } from './frames'
import { blocksOf, type Block, type SkillItem, type Turn } from './model'

import type { SkillEnd } from '@/generated/protocol'

type SkillFrame = Extract<
  FactFrame,
  { type: 'skill_start' | 'skill_progress' | 'skill_end' }
>

function newSkill(id: string): SkillItem {
  return {
    id,
    name: '',
    label: '',
    step: null,
    detail: null,
    percent: null,
    status: 'running',
    result: '',
    resultType: 'markdown',
    startedAt: null,
    endedAt: null,
    after: null,
  }
}

function skillOf(turn: Turn, id: string): SkillItem {
  const found = turn.skills.find((skill) => skill.id === id)
  if (found) return found
  const skill = newSkill(id)
  skill.after = turn.messages.at(-1)?.blocks.at(-1)?.id ?? null
  turn.skills.push(skill)
  return turn.skills.at(-1) as SkillItem
}

export function applySkill(turn: Turn, frame: SkillFrame): 'done' {
  const skill = skillOf(turn, frame.data.skill_id)
  switch (frame.type) {
    case 'skill_start':
      Object.assign(skill, { name: frame.data.name, label: frame.data.label, startedAt: frame.ts })
      break
    case 'skill_progress':
      skill.step = frame.data.step ?? skill.step
      skill.detail = frame.data.detail ?? skill.detail
      skill.percent = frame.data.percent ?? skill.percent
      break
    case 'skill_end':
      skill.status = frame.data.status
      skill.result = frame.data.result
      skill.resultType = frame.data.result_type
      skill.endedAt = frame.ts
      break
  }
  return 'done'
}

/** The run is over: a skill that nobody ended is not running any more. */
export function closeSkills(turn: Turn): void {
  for (const skill of turn.skills) if (skill.status === 'running') skill.status = 'interrupted'
}

const RESULT_TYPES = ['markdown', 'json', 'table', 'diff', 'file', 'image', 'error']

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** `metadata.skillExecutions`: each card goes back to the call that began it. */
export function restoreSkills(turn: Turn, records: unknown): void {
  if (!Array.isArray(records)) return
  for (const record of records as Record<string, unknown>[]) {
    const id = text(record.skill_id)
    if (id === '' || turn.skills.some((skill) => skill.id === id)) continue
    const skill = newSkill(id)
    skill.name = text(record.name)
    skill.label = text(record.label) || skill.name
    skill.result = text(record.result)
    const type = text(record.result_type)
    if (RESULT_TYPES.includes(type)) skill.resultType = type as SkillEnd['result_type']
    const status = text(record.status)
    skill.status = status === 'done' || status === 'error' ? status : 'interrupted'
    if (typeof record.started_at === 'number') skill.startedAt = record.started_at
    if (typeof record.ended_at === 'number') skill.endedAt = record.ended_at
    turn.skills.push(skill)
  }
}

/** Gives restored skills their places, once all of the turn's blocks are there. */
export function placeSkills(turn: Turn): void {
  const taken = new Set(turn.skills.map((skill) => skill.after))
  for (const skill of turn.skills) {
    if (skill.after !== null) continue
    const call = [...blocksOf(turn)].find((block) => !taken.has(block.id) && began(block, skill))
    skill.after = call?.id ?? turn.messages.at(-1)?.blocks.at(-1)?.id ?? null
    taken.add(skill.after)
  }
}

function began(block: Block, skill: SkillItem): boolean {
  if (block.name !== 'skill' || block.outcome?.status === 'error') return false
  try {
    const args = JSON.parse(block.text) as Record<string, unknown>
    return args.name === skill.name || args.skill === skill.name
  } catch {
    return false
  }
}
