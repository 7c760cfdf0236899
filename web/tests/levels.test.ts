import { describe, expect, it } from 'vitest'

import type { Capability, LevelState, ModelInfo } from '@/generated/protocol'
import { levelView } from '@/lib/levels'

function model(capability: Partial<Capability>): ModelInfo {
  return {
    ref: 'v/m',
    vendor: 'v',
    model: 'm',
    label: 'M',
    vendor_label: 'V',
    demo: false,
    local: false,
    capability: {
      thinking: 'supported',
      thinking_levels: ['off', 'low', 'medium', 'high'],
      thinking_default_level: 'medium',
      thinking_force_enabled: false,
      adaptive: false,
      switch_only: false,
      summaries_only: false,
      tools: 'supported',
      images: 'unknown',
      documents: 'unknown',
      own_tools: [],
      retires: null,
      context_window: null,
      max_output: null,
      prices: null,
      sources: {},
      ...capability,
    },
  }
}

function state(requested: string, effective: string, source = 'session'): LevelState {
  return { requested, effective, source, notes: [] }
}

const values = (view: ReturnType<typeof levelView>) => view.options.map((option) => option.value)

describe('the level selector', () => {
  it('offers what the model offers and names its default', () => {
    const view = levelView(model({}), null)
    expect(values(view)).toEqual(['off', 'low', 'medium', 'high'])
    expect(view.options.filter((option) => option.isDefault).map(({ value }) => value)).toEqual([
      'medium',
    ])
    expect(view.current).toBe('medium')
  })

  it('greys off out where the model always thinks, and says why', () => {
    const view = levelView(
      model({ thinking_force_enabled: true, thinking_levels: ['low', 'high'] }),
      null,
    )
    expect(view.options[0]).toMatchObject({ value: 'off', disabled: true })
    expect(view.note).toBe('forced')
  })

  it('says what is sent where that is not what was asked', () => {
    const view = levelView(model({}), state('max', 'high'))
    expect([view.current, view.sentAs]).toEqual(['max', 'high'])
    expect(levelView(model({}), state('high', 'high')).sentAs).toBeNull()
  })

  it('shows the effective level where nothing was asked', () => {
    const view = levelView(model({}), state('default', 'medium', 'model'))
    expect([view.current, view.sentAs]).toEqual(['medium', null])
  })

  it('names the one level of a model that can only be switched "on"', () => {
    const switched = model({ switch_only: true, thinking_levels: ['off', 'high'] })
    expect(levelView(switched, null).options.map((option) => option.name)).toEqual(['off', 'on'])
    // Every level above off is the same switch: nothing differs, nothing is said.
    expect(levelView(switched, state('low', 'high')).sentAs).toBeNull()
  })

  it('hides nothing of a model it knows nothing about', () => {
    const view = levelView(model({ thinking: 'unknown', thinking_levels: [] }), null)
    expect(values(view)).toContain('high')
    expect(view.note).toBe('unknown')
  })

  it('says that the model does not think, or that the server switched thinking off', () => {
    const plain = model({ thinking: 'unsupported', thinking_levels: [] })
    expect(levelView(plain, null)).toMatchObject({ note: 'unsupported', options: [] })
    expect(levelView(model({}), state('high', 'off', 'switch')).note).toBe('switchOff')
  })

  it('works while the model list has not come', () => {
    expect(levelView(null, null)).toMatchObject({ options: [], current: 'default' })
  })
})
