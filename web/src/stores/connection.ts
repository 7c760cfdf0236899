// The page's one connection: state, server clock, commands.
import { useEventListener } from '@vueuse/core'
import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'

import type { ListFrame, ServerFrame } from '@/generated/protocol'
import { api, ApiError } from '@/lib/api'
import { Follower } from '@/transport/follow'
import type { SessionModel } from '@/transport/model'
import {
  GatewaySocket,
  type Ack,
  type CommandData,
  type CommandType,
  type SocketState,
} from '@/transport/socket'

const NOTICE_AFTER_MS = 1_500

type Happened = (model: SessionModel, frame: ServerFrame) => void

export const useConnection = defineStore('connection', () => {
  const state = ref<SocketState>('connecting')
  /** Offline long enough to say so; a short break passes unseen. */
  const troubled = ref(false)
  /** Server time minus our time, in milliseconds. */
  const skew = ref(0)
  const onList = shallowRef<(frame: ListFrame) => void>(() => undefined)
  const onReload = shallowRef<(sessionId: string) => void>(() => undefined)
  const onHappened = shallowRef<Happened>(() => undefined)
  const onOpen = shallowRef<() => void>(() => undefined)

  let troubleTimer: ReturnType<typeof setTimeout> | undefined

  const follower = new Follower({
    subscribe: (id, since, blocks) => {
      socket.command('subscribe', { since, blocks }, id).catch(() => undefined)
    },
    reload: (id) => {
      onReload.value(id)
    },
    list: (frame) => {
      onList.value(frame)
    },
    time: learnTime,
    happened: (model, frame) => {
      onHappened.value(model, frame)
    },
  })

  const socket = new GatewaySocket({
    open: () => new WebSocket(socketUrl()),
    frames: (frames) => {
      follower.take(frames)
    },
    state: setState,
    opened: () => {
      follower.resumeAll()
      onOpen.value()
    },
    mayConnect,
    schedule,
  })

  /** A heartbeat tells the server's clock; a fact only that it is not behind that. */
  function learnTime(ts: number, now: boolean): void {
    const difference = ts - Date.now()
    if (now || difference > skew.value) skew.value = difference
  }

  function setState(next: SocketState): void {
    state.value = next
    if (next === 'open' || next === 'refused') {
      clearTimeout(troubleTimer)
      troubleTimer = undefined
      troubled.value = false
    } else {
      troubleTimer ??= setTimeout(() => {
        troubled.value = true
      }, NOTICE_AFTER_MS)
    }
  }

  async function mayConnect(): Promise<boolean> {
    try {
      await api.whoami()
    } catch (error) {
      return !(error instanceof ApiError && (error.status === 401 || error.status === 403))
    }
    return true
  }

  async function start(): Promise<void> {
    if (!(await mayConnect())) {
      setState('refused')
      return
    }
    socket.connect()
  }

  useEventListener(window, 'online', () => {
    socket.retry()
  })
  useEventListener(document, 'visibilitychange', () => {
    if (!document.hidden) socket.retry()
  })

  function command<T extends CommandType>(
    type: T,
    data: CommandData<T>,
    sessionId: string | null = null,
  ): Promise<Ack> {
    return socket.command(type, data, sessionId)
  }

  return {
    state,
    troubled,
    skew,
    refused: computed(() => state.value === 'refused'),
    onList,
    onReload,
    onHappened,
    onOpen,
    start,
    command,
    follow: (model: SessionModel) => {
      follower.add(model)
    },
    unfollow: (sessionId: string) => {
      follower.remove(sessionId)
      socket.command('unsubscribe', {}, sessionId).catch(() => undefined)
    },
    retry: () => {
      socket.retry()
    },
    stop: () => {
      socket.close()
    },
  }
})

function socketUrl(): string {
  return `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/api/v1/ws`
}

/** The next frame, or a tenth of a second where none is painted. */
function schedule(flush: () => void): void {
  let done = false
  const once = () => {
    if (done) return
    done = true
    clearTimeout(timer)
    flush()
  }
  const timer = setTimeout(once, 100)
  if (!document.hidden) requestAnimationFrame(once)
}
