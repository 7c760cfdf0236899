// What the level selector shows, as a value: which levels, which is chosen, and what to say.
import type { Capability, LevelState, ModelInfo } from '@/generated/protocol'

export const LEVELS = [
  'off',
  'minimal',
  'low',
  'medium',
  'high',
  'xhigh',
  'max',
  'adaptive',
] as const
export type LevelName = (typeof LEVELS)[number]

export interface LevelOption {
  value: string
  /** Key of its name under `level.` */
  name: string
  disabled: boolean
  isDefault: boolean
}

export interface LevelView {
  options: LevelOption[]
  /** Key of the current choice's name; what was asked. */
  current: string
  /** What is really sent, when it differs from what was asked. */
  sentAs: string | null
  /** Key of the sentence under the list, or null. */
  note: 'forced' | 'unsupported' | 'unknown' | 'switchOff' | null
  thinks: boolean
}

function nameOf(level: string, capability: Capability | null): string {
  return capability?.switch_only && level !== 'off' && isLevel(level) ? 'on' : level
}

export function isLevel(word: string): word is LevelName {
  return (LEVELS as readonly string[]).includes(word)
}

function offered(capability: Capability): string[] {
  if (capability.thinking === 'unknown') {
    // Hiding needs positive knowledge: an unlisted model may well be able to think.
    return ['unset', 'off', 'low', 'medium', 'high']
  }
  const levels: string[] = [...capability.thinking_levels]
  if (capability.adaptive && !levels.includes('adaptive')) levels.push('adaptive')
  if (capability.thinking_force_enabled && !levels.includes('off')) levels.unshift('off')
  return levels
}

function optionsOf(capability: Capability): LevelOption[] {
  return offered(capability).map((value) => ({
    value,
    name: nameOf(value, capability),
    disabled: value === 'off' && capability.thinking_force_enabled,
    isDefault: value === capability.thinking_default_level,
  }))
}

function noteOf(capability: Capability | null, state: LevelState | null): LevelView['note'] {
  if (state?.source === 'switch') return 'switchOff'
  if (capability?.thinking === 'unsupported' || capability?.thinking === 'unknown') {
    return capability.thinking
  }
  return capability?.thinking_force_enabled ? 'forced' : null
}

function effectiveOf(capability: Capability | null, state: LevelState | null): string {
  return state?.effective ?? capability?.thinking_default_level ?? 'default'
}

export function levelView(model: ModelInfo | null, state: LevelState | null): LevelView {
  const capability = model?.capability ?? null
  const asked = state?.requested ?? 'default'
  const chosen = asked !== 'default'
  const effective = nameOf(effectiveOf(capability, state), capability)
  const current = chosen ? nameOf(asked, capability) : effective
  return {
    options: capability ? optionsOf(capability) : [],
    current,
    sentAs: state && chosen && effective !== current ? effective : null,
    note: noteOf(capability, state),
    thinks: capability?.thinking !== 'unsupported',
  }
}
