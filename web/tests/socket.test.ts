import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { fact, session } from './helpers'

import type { ServerFrame } from '@/generated/protocol'
import { Follower } from '@/transport/follow'
import { CommandError, GatewaySocket, type SocketState } from '@/transport/socket'

/** The network: sockets that open, speak and break when the test says so. */
class Line {
  readonly sent: { type: string; frame_id: string; data: Record<string, unknown> }[] = []
  readyState = 0
  onopen: (() => void) | null = null
  onmessage: ((event: { data: string }) => void) | null = null
  onclose: (() => void) | null = null

  send(text: string): void {
    this.sent.push(JSON.parse(text))
  }
  open(): void {
    this.readyState = 1
    this.onopen?.()
  }
  say(frame: unknown): void {
    this.onmessage?.({ data: JSON.stringify(frame) })
  }
  close(): void {
    this.readyState = 3
    this.onclose?.()
  }
}

function setUp(allowed = true) {
  const lines: Line[] = []
  const states: SocketState[] = []
  const frames: ServerFrame[] = []
  let opened = 0
  const socket = new GatewaySocket({
    open: () => {
      const line = new Line()
      lines.push(line)
      return line as unknown as WebSocket
    },
    frames: (batch) => frames.push(...batch),
    state: (state) => states.push(state),
    opened: () => {
      opened += 1
    },
    mayConnect: () => Promise.resolve(allowed),
    schedule: (flush) => {
      flush()
    },
  })
  const line = () => {
    const last = lines.at(-1)
    if (!last) throw new Error('no connection')
    return last
  }
  return { socket, lines, states, frames, line, opened: () => opened }
}

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

describe('the connection', () => {
  it('comes back by itself, later each time, and tells to subscribe again', async () => {
    const { socket, lines, line, states, opened } = setUp()
    socket.connect()
    line().open()
    line().close()
    await vi.advanceTimersByTimeAsync(300)
    expect(lines).toHaveLength(2)
    line().close()
    await vi.advanceTimersByTimeAsync(290)
    expect(lines).toHaveLength(2)
    await vi.advanceTimersByTimeAsync(310)
    expect(lines).toHaveLength(3)
    line().open()
    expect(opened()).toBe(2)
    expect(states.at(-1)).toBe('open')
  })

  it('does not knock again where it is refused', async () => {
    const { socket, lines, line, states } = setUp(false)
    socket.connect()
    line().close()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(lines).toHaveLength(1)
    expect(states.at(-1)).toBe('refused')
  })

  it('asks a silent server, and gives it up when it does not answer', async () => {
    const { socket, lines, line } = setUp()
    socket.connect()
    line().open()
    await vi.advanceTimersByTimeAsync(20_000)
    expect(line().sent.map(({ type }) => type)).toEqual(['ping'])
    line().say({ type: 'ack', frame_id: line().sent[0]?.frame_id, data: {} })
    await vi.advanceTimersByTimeAsync(20_000)
    expect(lines).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(13_000)
    expect(lines).toHaveLength(2)
  })
})

describe('a command', () => {
  it('is answered by its own frame', async () => {
    const { socket, line } = setUp()
    socket.connect()
    line().open()
    const good = socket.command('send', { client_id: 'c', text: 'hi' }, 's')
    const bad = socket.command('set_mode', { client_id: 'd', mode: 'plan' }, 's')
    const [first, second] = line().sent
    const info = { kind: 'user', message: 'no', setting: null }
    line().say({ type: 'error', frame_id: second?.frame_id, data: info })
    line().say({ type: 'ack', frame_id: first?.frame_id, data: { message_id: 'm' } })
    await expect(good).resolves.toEqual({ message_id: 'm' })
    await expect(bad).rejects.toBeInstanceOf(CommandError)
  })

  it('that changes something is sent again with the same id after the line broke', async () => {
    const { socket, line } = setUp()
    socket.connect()
    line().open()
    const sent = socket.command('send', { client_id: 'c', text: 'hi' }, 's')
    const before = line().sent[0]
    line().close()
    await vi.advanceTimersByTimeAsync(400)
    line().open()
    expect(line().sent).toEqual([before])
    line().say({ type: 'ack', frame_id: before?.frame_id, data: {} })
    await expect(sent).resolves.toEqual({})
  })

  it('that was said while offline goes out once there is a line', () => {
    const { socket, line } = setUp()
    socket.connect()
    void socket.command('send', { client_id: 'c', text: 'hi' }, 's')
    expect(line().sent).toEqual([])
    line().open()
    expect(line().sent.map(({ data }) => data.client_id)).toEqual(['c'])
  })

  it('that only asks is not kept', async () => {
    const { socket, line } = setUp()
    socket.connect()
    await expect(socket.command('ping', {})).rejects.toBeInstanceOf(CommandError)
    line().open()
    const asked = socket.command('subscribe', { since: 0 }, 's')
    line().close()
    await expect(asked).rejects.toBeInstanceOf(CommandError)
  })
})

describe('following sessions', () => {
  function follow() {
    const asked: [number, Record<string, number>][] = []
    const reloaded: string[] = []
    const follower = new Follower({
      subscribe: (_id, since, blocks) => asked.push([since, blocks]),
      reload: (id) => reloaded.push(id),
      list: () => undefined,
      time: () => undefined,
      happened: () => undefined,
    })
    const model = session()
    follower.add(model)
    return { asked, reloaded, follower, model }
  }
  const mode = (n: number) => fact('mode_update', n, { mode: n % 2 ? 'plan' : 'build' })

  it('asks once for a hole, and steps over it when the server has nothing to fill it', () => {
    const { asked, follower, model } = follow()
    follower.take([mode(1), mode(4), mode(5)])
    expect(asked).toEqual([
      [0, {}],
      [1, {}],
    ])
    expect(model.n).toBe(5)
  })

  it('fills a hole when the facts come after all', () => {
    const { follower, model } = follow()
    follower.take([mode(1), mode(3)])
    follower.take([mode(2), mode(3)])
    expect([model.n, model.mode]).toEqual([3, 'plan'])
  })

  it('asks for the text it lacks with what it knows, and only once', () => {
    const { asked, follower } = follow()
    const piece = (offset: number, text: string) => ({
      type: 'content_delta' as const,
      session_id: 's',
      run_id: 'r',
      data: { message_id: 'm', block_id: 'b', attempt: 1, kind: 'content' as const, offset, text },
    })
    follower.take([piece(0, 'ab'), piece(5, 'f'), piece(6, 'g')])
    expect(asked.slice(1)).toEqual([[0, { b: 2 }]])
  })

  it('reads the history again after a snapshot that skipped something', () => {
    const { follower, reloaded } = follow()
    const data = {
      n: 90,
      blocks: [],
      todos: [],
      plan: null,
      tokens: null,
      waits: [],
      queue: [],
      level: null,
      mode: 'build' as const,
      is_running: false,
    }
    const snapshot = { type: 'snapshot' as const, session_id: 's', run_id: null, data }
    follower.take([snapshot])
    follower.take([snapshot])
    expect(reloaded).toEqual(['s'])
  })

  it('starts from what is known after a reconnect', () => {
    const { asked, follower } = follow()
    follower.take([mode(1), mode(2)])
    follower.resumeAll()
    expect(asked.at(-1)).toEqual([2, {}])
  })
})
