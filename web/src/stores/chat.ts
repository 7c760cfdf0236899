// The open sessions: loading, following, and everything a person says to one.
import { defineStore } from 'pinia'
import { computed, reactive, ref } from 'vue'

import { useConnection } from './connection'
import { useModels } from './models'
import { useSessions } from './sessions'

import type { ErrorInfo } from '@/generated/protocol'
import { api, ApiError } from '@/lib/api'
import { newId } from '@/lib/ids'
import { currentLocale } from '@/i18n'
import { applyHistory, prependHistory } from '@/transport/history'
import {
  newSession,
  type Attachment,
  type Mode,
  type Pending,
  type SessionModel,
} from '@/transport/model'
import { CommandError } from '@/transport/socket'

const KEPT_SESSIONS = 6

/** What a new chat will start with, before it exists. */
export interface Draft {
  model: string | null
  level: string | null
  mode: Mode
  agent: string | null
}

export const useChat = defineStore('chat', () => {
  const connection = useConnection()
  const sessions = useSessions()
  const models = useModels()
  const open = reactive(new Map<string, SessionModel>())
  const currentId = ref<string | null>(null)
  const draft = reactive<Draft>({ model: null, level: null, mode: 'build', agent: null })
  const failure = ref<ErrorInfo | null>(null)
  const creating = ref(false)

  const current = computed(() =>
    currentId.value === null ? null : (open.get(currentId.value) ?? null),
  )
  /** `vendor/model-id` that answers next. */
  const modelRef = computed(
    () => (currentId.value === null ? draft.model : current.value?.model) ?? models.defaultRef,
  )

  /** Turns to a session at once; what is said to it from now on goes there. */
  function turnTo(id: string | null): void {
    currentId.value = id
    failure.value = null
    if (id === null) return
    const model = open.get(id) ?? (reactive(newSession(id)) as SessionModel)
    // The last one in the map is the one used last.
    open.delete(id)
    open.set(id, model)
    forgetOldest()
  }

  /** Loads and follows a session beside the one that is shown. */
  async function attend(id: string): Promise<void> {
    if (!open.has(id)) open.set(id, reactive(newSession(id)) as SessionModel)
    const model = open.get(id)
    if (model && !model.loaded) await load(model)
  }

  async function show(id: string | null): Promise<void> {
    turnTo(id)
    const model = current.value
    if (model && !model.loaded) await load(model)
  }

  /** The person sees this session: it is not unread, here and in other tabs. */
  function markRead(): void {
    if (currentId.value === null) return
    connection.command('mark_read', {}, currentId.value).catch(() => undefined)
  }

  function forgetOldest(): void {
    for (const [id, model] of open) {
      if (open.size <= KEPT_SESSIONS) return
      if (id === currentId.value || model.running || model.pending.length > 0) continue
      open.delete(id)
      connection.unfollow(id)
    }
  }

  async function load(model: SessionModel): Promise<void> {
    try {
      const [view, page] = await Promise.all([api.session(model.id), api.messages(model.id)])
      applyHistory(model, page, view)
      connection.follow(model)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      model.loadError = error.info
    }
  }

  async function reload(id: string): Promise<void> {
    const model = open.get(id)
    if (model) await load(model)
  }

  const loadingOlder = ref(false)
  async function loadOlder(): Promise<boolean> {
    const model = current.value
    if (!model?.before || loadingOlder.value) return false
    loadingOlder.value = true
    try {
      return prependHistory(model, await api.messages(model.id, model.before))
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      failure.value = error.info
      return false
    } finally {
      loadingOlder.value = false
    }
  }

  async function ensureSession(): Promise<SessionModel> {
    if (current.value) return current.value
    creating.value = true
    try {
      const view = await api.createSession({
        model: draft.model,
        level: draft.level,
        mode: draft.mode,
        agent: draft.agent,
        language: currentLocale() === 'zh-CN' ? 'zh' : 'en',
        client_id: newId(),
      })
      const model = reactive(newSession(view.id)) as SessionModel
      open.set(view.id, model)
      applyHistory(model, { messages: [], before: null, head: view.head }, view)
      sessions.put(view)
      connection.follow(model)
      currentId.value = view.id
      return model
    } finally {
      creating.value = false
    }
  }

  /** False when it could not be taken; the text then stays with the writer. */
  async function send(text: string, attachments: Attachment[] = []): Promise<boolean> {
    failure.value = null
    let model: SessionModel
    try {
      model = await ensureSession()
    } catch (error) {
      return told(error)
    }
    sendIn(model, text, attachments)
    return true
  }

  /** Says something in a session that is there, the open one or a column of a comparison. */
  function sendIn(model: SessionModel, text: string, attachments: Attachment[] = []): void {
    const item: Pending = { clientId: newId(), messageId: null, text, attachments, error: null }
    model.pending.push(item)
    void deliver(model, item)
  }

  async function deliver(
    model: SessionModel,
    { clientId, text, attachments }: Pending,
  ): Promise<void> {
    try {
      const data = { client_id: clientId, text, parts: attachments.map(partOf) }
      const ack = await connection.command('send', data, model.id)
      const item = model.pending.find((pending) => pending.clientId === clientId)
      if (!item) return
      item.messageId = String(ack.message_id)
      const known = model.turns.some((turn) => turn.user?.id === item.messageId)
      if (known || ack.queued === true) dropPending(model, clientId)
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      const item = model.pending.find((pending) => pending.clientId === clientId)
      if (item) item.error = error.info.message
      failure.value = error.info
    }
  }

  function resend(model: SessionModel, item: Pending): void {
    item.error = null
    // The same id: had the first try arrived after all, nothing is said twice.
    void deliver(model, item)
  }

  function dropPending(model: SessionModel, clientId: string): void {
    model.pending = model.pending.filter((pending) => pending.clientId !== clientId)
  }

  function told(error: unknown): false {
    if (!(error instanceof ApiError) && !(error instanceof CommandError)) throw error
    failure.value = error.info
    return false
  }

  async function attempt(work: Promise<unknown>): Promise<boolean> {
    try {
      await work
      return true
    } catch (error) {
      return told(error)
    }
  }

  async function stop(model: SessionModel | null = current.value): Promise<void> {
    if (!model) return
    await attempt(
      connection.command('cancel', { client_id: newId(), run_id: model.runId }, model.id),
    )
  }

  async function setLevel(level: string): Promise<void> {
    const model = current.value
    if (!model) {
      draft.level = level
      return
    }
    const data = { client_id: newId(), level }
    await attempt(connection.command('set_thinking_level', data, model.id))
  }

  async function setModel(ref: string): Promise<void> {
    const model = current.value
    if (!model) {
      draft.model = ref
      return
    }
    await attempt(connection.command('set_model', { client_id: newId(), model: ref }, model.id))
  }

  async function setMode(mode: Mode): Promise<void> {
    const model = current.value
    if (!model) {
      draft.mode = mode
      return
    }
    await attempt(connection.command('set_mode', { client_id: newId(), mode }, model.id))
  }

  async function setAgent(name: string | null): Promise<void> {
    const model = current.value
    if (!model) {
      draft.agent = name
      return
    }
    // It brings its own model and level.
    if (await attempt(api.patchSession(model.id, { agent: name }))) await reload(model.id)
  }

  async function unqueue(messageId: string): Promise<void> {
    const model = current.value
    if (!model) return
    const data = { client_id: newId(), message_id: messageId, remove: true }
    await attempt(connection.command('queue_edit', data, model.id))
  }

  function closeSession(id: string): void {
    if (open.delete(id)) connection.unfollow(id)
    if (currentId.value === id) currentId.value = null
  }

  connection.onReload = (id) => void reload(id)

  return {
    open,
    currentId,
    current,
    modelRef,
    draft,
    turnTo,
    failure,
    creating,
    loadingOlder,
    attend,
    show,
    load,
    loadOlder,
    markRead,
    send,
    sendIn,
    stop,
    setLevel,
    setModel,
    setMode,
    setAgent,
    unqueue,
    resend,
    dropPending,
    closeSession,
  }
})

/** An attachment as a message part: its bytes are a blob already. */
function partOf({ kind, name, sha256, mediaType, size }: Attachment): Record<string, unknown> {
  const blob = { sha256, size: size ?? 0, media_type: mediaType, name }
  const named = kind === 'file' ? { name } : {}
  return { type: kind, media_type: mediaType, blob, ...named }
}
