// What a person does to a session beside talking to it: decide, steer, branch, ask again.
import { defineStore } from 'pinia'

import { useChat } from './chat'
import { useConnection } from './connection'
import { useSessions } from './sessions'

import type { Approve, Todo } from '@/generated/protocol'
import { api, ApiError } from '@/lib/api'
import { newId } from '@/lib/ids'
import { CommandError, type Ack, type CommandData, type CommandType } from '@/transport/socket'

type Body<T extends CommandType> = Omit<CommandData<T>, 'client_id'>

export interface Branch {
  sessionId: string
  messageId: string
}

export const useActs = defineStore('acts', () => {
  const connection = useConnection()
  const chat = useChat()
  const sessions = useSessions()

  /** Sends a command; null when it was not taken, and the reason is then shown. */
  async function act<T extends CommandType>(
    sessionId: string,
    type: T,
    body: Body<T>,
  ): Promise<Ack | null> {
    const data = { client_id: newId(), ...body } as unknown as CommandData<T>
    try {
      return await connection.command(type, data, sessionId)
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      chat.failure = error.info
      return null
    }
  }

  const told = async (work: Promise<Ack | null>) => (await work) !== null

  const approve = (sessionId: string, body: Omit<Approve, 'client_id'>) =>
    told(act(sessionId, 'approve', body))

  const answerQuestion = (sessionId: string, questionId: string, answer: string) =>
    told(act(sessionId, 'answer_question', { question_id: questionId, answer }))

  const approvePlan = (sessionId: string, planId: string, revision: number) =>
    told(act(sessionId, 'approve_plan', { plan_id: planId, revision }))

  const answerNow = (sessionId: string) =>
    told(act(sessionId, 'answer_now', { run_id: chat.open.get(sessionId)?.runId ?? null }))

  const compact = (sessionId: string) => told(act(sessionId, 'compact', {}))

  const editTodos = (sessionId: string, todos: readonly Todo[]) =>
    told(act(sessionId, 'todo_edit', { todos: todos.map((todo) => ({ ...todo })) }))

  /** Words for the run that is on; false when none was on any more. */
  async function steer(sessionId: string, text: string): Promise<boolean> {
    const ack = await act(sessionId, 'steer', { text })
    return ack?.taken === true
  }

  const editQueued = (sessionId: string, messageId: string, text: string) =>
    told(act(sessionId, 'queue_edit', { message_id: messageId, text }))

  function branch(ack: Ack | null): Branch | null {
    if (ack === null) return null
    return { sessionId: String(ack.session_id), messageId: String(ack.message_id) }
  }

  /** The message in other words, in a sibling session. */
  const edit = async (sessionId: string, messageId: string, text: string) =>
    branch(await act(sessionId, 'edit', { message_id: messageId, text }))

  /** The same question once more, in a sibling session. */
  const regenerate = async (
    sessionId: string,
    messageId: string,
    how: { level?: string | null; model?: string | null } = {},
  ) => branch(await act(sessionId, 'regenerate', { message_id: messageId, ...how }))

  /** A sibling that goes on after a message; null when that failed. */
  async function fork(sessionId: string, messageId: string | null): Promise<string | null> {
    try {
      const view = await api.forkSession(sessionId, { message_id: messageId, client_id: newId() })
      sessions.put(view)
      return view.id
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      chat.failure = error.info
      return null
    }
  }

  return {
    approve,
    answerQuestion,
    approvePlan,
    answerNow,
    compact,
    editTodos,
    steer,
    editQueued,
    edit,
    regenerate,
    fork,
  }
})
