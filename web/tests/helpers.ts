import { mount, type ComponentMountingOptions } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import type { Component } from 'vue'

import type { ServerFrame } from '@/generated/protocol'
import { i18n, useLocale, type Locale } from '@/i18n'
import { newBlock, newSession, type Block, type SessionModel } from '@/transport/model'

/** A component in the page's surroundings; attached, so that focus and selection are real. */
export async function show<T extends Component>(
  component: T,
  props: Record<string, unknown>,
  locale: Locale = 'zh-CN',
  options: ComponentMountingOptions<T> = {},
) {
  await useLocale(locale)
  const pinia = createPinia()
  setActivePinia(pinia)
  return mount(component, {
    props,
    attachTo: document.body,
    global: { plugins: [pinia, i18n] },
    ...options,
  } as ComponentMountingOptions<T>)
}

export function thinkingBlock(given: Partial<Block> = {}): Block {
  const block = newBlock('b1', 'm1', 'thinking')
  return Object.assign(block, { attempt: 1, text: '先看现有的表。', length: 7 }, given)
}

export function session(): SessionModel {
  const model = newSession('s')
  model.n = 0
  model.loaded = true
  return model
}

type Of<T extends ServerFrame['type']> = Extract<ServerFrame, { type: T }>

/** A fact with the envelope filled in. */
export function fact<T extends ServerFrame['type']>(
  type: T,
  n: number,
  data: Of<T> extends { data: infer D } ? D : never,
  runId: string | null = 'r',
): Of<T> {
  return { type, session_id: 's', run_id: runId, n, ts: 1_000 + n, data } as unknown as Of<T>
}

export function delta(
  kind: 'thinking' | 'content' | 'tool_call',
  offset: number,
  text: string,
  more: { message_id?: string; block_id?: string; attempt?: number } = {},
) {
  return {
    type: `${kind}_delta` as const,
    session_id: 's',
    run_id: 'r',
    data: { message_id: 'm1', block_id: 'b1', attempt: 1, kind, offset, text, ...more },
  }
}
