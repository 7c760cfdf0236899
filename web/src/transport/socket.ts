// One WebSocket for the whole page: commands out with acknowledgement, frames in, in batches.
// It comes back by itself; what changes something is sent again under the same `client_id`.
import { newId } from '@/lib/ids'

import type { ClientFrame, ErrorInfo, ServerFrame } from '@/generated/protocol'

export type SocketState = 'connecting' | 'open' | 'waiting' | 'refused'
export type CommandType = ClientFrame['type']
export type CommandData<T extends CommandType> = Extract<ClientFrame, { type: T }>['data']
export type Ack = Record<string, unknown>

export class CommandError extends Error {
  constructor(readonly info: ErrorInfo) {
    super(info.message)
  }
}

export interface SocketHost {
  open(): WebSocket
  /** Frames of one batch, in order; acks and errors are not among them. */
  frames(frames: ServerFrame[]): void
  state(state: SocketState): void
  /** The socket is open: subscribe again from what is known. */
  opened(): void
  /** Why a handshake failed: a refused one is not tried again until `retry()`. */
  mayConnect(): Promise<boolean>
  /** Calls back soon, and also where no frames are painted (a tab in the background). */
  schedule(flush: () => void): void
}

interface Waiting {
  frame: string
  durable: boolean
  resolve(ack: Ack): void
  reject(error: Error): void
}

const FIRST_DELAY = 300
const LAST_DELAY = 8_000
const QUIET_MS = 20_000
const DEAD_MS = 12_000

export class GatewaySocket {
  private socket: WebSocket | null = null
  private readonly waiting = new Map<string, Waiting>()
  private inbox: string[] = []
  private scheduled = false
  private failures = 0
  private retryTimer: ReturnType<typeof setTimeout> | undefined
  private quietTimer: ReturnType<typeof setTimeout> | undefined
  private closed = false

  constructor(private readonly host: SocketHost) {}

  connect(): void {
    if (this.closed || this.socket) return
    clearTimeout(this.retryTimer)
    this.host.state('connecting')
    const socket = this.host.open()
    this.socket = socket
    socket.onopen = () => {
      this.opened()
    }
    socket.onmessage = (event: MessageEvent<string>) => {
      this.receive(event.data)
    }
    socket.onclose = () => {
      if (this.socket === socket) this.lost()
    }
  }

  close(): void {
    this.closed = true
    clearTimeout(this.retryTimer)
    clearTimeout(this.quietTimer)
    this.socket?.close()
    this.socket = null
  }

  /** Tries now instead of waiting: the network came back, the page is seen again. */
  retry(): void {
    if (this.socket === null) this.connect()
    else if (this.isOpen) this.probe()
  }

  get isOpen(): boolean {
    return this.socket?.readyState === 1
  }

  /** Sends a command and waits for its answer; one with a `client_id` survives a lost connection. */
  command<T extends CommandType>(
    type: T,
    data: CommandData<T>,
    sessionId: string | null = null,
  ): Promise<Ack> {
    const frameId = newId()
    const frame = JSON.stringify({ type, frame_id: frameId, session_id: sessionId, data })
    const durable = typeof (data as { client_id?: unknown }).client_id === 'string'
    if (!durable && !this.isOpen) return Promise.reject(offline())
    return new Promise((resolve, reject) => {
      this.waiting.set(frameId, { frame, durable, resolve, reject })
      if (this.isOpen) this.socket?.send(frame)
    })
  }

  private opened(): void {
    this.failures = 0
    this.host.state('open')
    this.listen()
    this.host.opened()
    for (const item of this.waiting.values()) {
      if (item.durable) this.socket?.send(item.frame)
    }
  }

  private receive(text: string): void {
    this.listen()
    this.inbox.push(text)
    if (this.scheduled) return
    this.scheduled = true
    this.host.schedule(() => {
      this.flush()
    })
  }

  /** Hands on what has arrived; called by the schedule, and by tests. */
  flush(): void {
    this.scheduled = false
    const texts = this.inbox
    this.inbox = []
    const frames: ServerFrame[] = []
    const answers: ServerFrame[] = []
    for (const text of texts) {
      const frame = JSON.parse(text) as ServerFrame
      if (frame.type === 'ack' || frame.type === 'error') answers.push(frame)
      else frames.push(frame)
    }
    if (frames.length > 0) this.host.frames(frames)
    for (const frame of answers) this.answer(frame)
  }

  private answer(frame: ServerFrame): void {
    if (frame.type !== 'ack' && frame.type !== 'error') return
    const item = frame.frame_id === null ? undefined : this.waiting.get(frame.frame_id)
    if (!item || frame.frame_id === null) return
    this.waiting.delete(frame.frame_id)
    if (frame.type === 'ack') item.resolve(frame.data)
    else item.reject(new CommandError(frame.data))
  }

  private lost(): void {
    this.socket = null
    clearTimeout(this.quietTimer)
    this.flush()
    for (const [id, item] of this.waiting) {
      if (item.durable) continue
      this.waiting.delete(id)
      item.reject(offline())
    }
    if (this.closed) return
    this.host.state('waiting')
    this.failures += 1
    const ceiling = Math.min(LAST_DELAY, FIRST_DELAY * 2 ** (this.failures - 1))
    // Jitter, so that a restarted server does not meet all its tabs at once.
    this.retryTimer = setTimeout(() => void this.reconnect(), ceiling * (0.5 + Math.random() / 2))
  }

  private async reconnect(): Promise<void> {
    if (await this.host.mayConnect()) this.connect()
    else this.host.state('refused')
  }

  /** A connection that says nothing is asked; one that does not answer is given up. */
  private listen(): void {
    clearTimeout(this.quietTimer)
    this.quietTimer = setTimeout(() => {
      this.probe()
    }, QUIET_MS)
  }

  private probe(): void {
    clearTimeout(this.quietTimer)
    this.command('ping', {}).catch(() => undefined)
    const socket = this.socket
    this.quietTimer = setTimeout(() => {
      if (socket !== this.socket) return
      socket?.close()
      // A dead network never delivers the close event.
      if (socket && this.socket === socket) this.lost()
    }, DEAD_MS)
  }
}

function offline(): CommandError {
  return new CommandError({
    kind: 'unreachable',
    message: '',
    setting: null,
    status: null,
    code: 'offline',
    request_id: null,
    retryable: true,
  })
}
