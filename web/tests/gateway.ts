// The server as the page meets it: a socket that takes commands and answers them, and routes.
import { flushPromises } from '@vue/test-utils'
import { vi } from 'vitest'

import { useChat } from '@/stores/chat'
import { useConnection } from '@/stores/connection'
import type { SessionModel } from '@/transport/model'

interface Command {
  type: string
  frame_id: string
  session_id: string | null
  data: Record<string, unknown>
}
type Answer = (command: Command) => Record<string, unknown>
type Route = (request: { path: string; method: string; body: unknown }) => unknown

export interface Gateway {
  /** The commands that changed something, in order, without their keys. */
  taken: { type: string; session: string | null; data: Record<string, unknown> }[]
  /** Requests by HTTP other than the sign-in. */
  asked: { path: string; method: string; body: unknown }[]
}

const FREE = new Set(['subscribe', 'unsubscribe', 'ping', 'mark_read'])

/** Connects the page's stores; call it after the component's pinia is there. */
export async function connect(answer: Answer = () => ({}), route: Route = () => ({})): Promise<Gateway> {
  const gateway: Gateway = { taken: [], asked: [] }
  vi.stubGlobal('WebSocket', socketClass(gateway, answer))
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => {
    const path = url.replace('/api/v1', '')
    const method = init.method ?? 'GET'
    if (path === '/auth') return Promise.resolve(new Response(null, { status: 204 }))
    const body = typeof init.body === 'string' ? JSON.parse(init.body) : (init.body ?? null)
    gateway.asked.push({ path, method, body })
    return Promise.resolve(Response.json(route({ path, method, body })))
  })
  const connection = useConnection()
  await connection.start()
  await vi.waitUntil(() => connection.state === 'open')
  return gateway
}

function socketClass(gateway: Gateway, answer: Answer) {
  return class {
    readyState = 0
    onopen: (() => void) | null = null
    onmessage: ((event: { data: string }) => void) | null = null
    onclose: (() => void) | null = null

    constructor() {
      queueMicrotask(() => {
        this.readyState = 1
        this.onopen?.()
      })
    }
    send(text: string): void {
      const command = JSON.parse(text) as Command
      const { client_id: key, ...data } = command.data
      if (!FREE.has(command.type)) {
        if (typeof key !== 'string') throw new Error(`${command.type} has no client_id`)
        gateway.taken.push({ type: command.type, session: command.session_id, data })
      }
      const ack = { type: 'ack', frame_id: command.frame_id, data: answer(command) }
      queueMicrotask(() => this.onmessage?.({ data: JSON.stringify(ack) }))
    }
    close(): void {
      this.readyState = 3
    }
  }
}

/** Lets answers arrive, which the page takes in once a frame, and what follows from them. */
export async function settle(): Promise<void> {
  for (let frame = 0; frame < 3; frame += 1) {
    await new Promise(requestAnimationFrame)
    await flushPromises()
  }
}

/** Makes `model` the open conversation. */
export function opened(model: SessionModel): SessionModel {
  const chat = useChat()
  chat.open.set(model.id, model)
  chat.currentId = model.id
  return chat.open.get(model.id) as SessionModel
}
