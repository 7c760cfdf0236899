// Facts and deltas onto a session, one at a time. Pure but for the model it is given: no network,
// no clock; times come from the server. Each function says whether something is missing.
import type {
  ContentDone,
  DeltaData,
  DeltaFrame,
  FactFrame,
  ThinkingDone,
  ToolCallDone,
} from './frames'
import {
  newTurn,
  type Block,
  type NoticeItem,
  type Pending,
  type SessionModel,
  type Turn,
} from './model'
import { applySkill } from './skills'
import {
  blockOf,
  callBlock,
  closeTurn,
  endThinking,
  setText,
  turnOfRun,
} from './turns'

import type { MessageAdded, TokenCount } from '@/generated/protocol'
import { codePoints, dropCodePoints } from '@/lib/text'

/** `resume`: text or facts are missing; subscribe again from what is known. */
export type Outcome = 'done' | 'ignored' | 'resume'

/** Stored blocks are of the highest attempt; once that is known they carry it. */
function stampAttempts(model: SessionModel): void {
  const turn = model.turns.findLast((item) => item.status === 'running')
  for (const message of turn?.messages ?? []) {
    for (const block of message.blocks) block.attempt ??= message.attempt
  }
}

export function applyDelta(model: SessionModel, frame: DeltaFrame): Outcome {
  const { data } = frame
  const home = turnOfMessage(model, data.message_id)
  // Text told again of a run that is not on this page: it comes with its page of the history.
  if (!home && (model.n < model.replayUntil || frame.run_id === '')) return 'ignored'
  const turn = home ?? turnOfRun(model, frame.run_id)
  if (turn.status === null) turn.status = 'running'
  // Text that is told again names no attempt; the block's id is enough.
  const block = knownBlock(turn, data) ?? blockOf(turn, data, data.kind)
  if (!block) return 'ignored'
  if (block.kind !== 'thinking' && block.length === 0) endThinking(turn, null)
  return append(block, data)
}

function turnOfMessage(model: SessionModel, messageId: string): Turn | undefined {
  return model.turns.findLast((turn) => turn.messages.some(({ id }) => id === messageId))
}

function knownBlock(turn: Turn, data: DeltaData): Block | undefined {
  const message = turn.messages.find(({ id }) => id === data.message_id)
  return message?.blocks.findLast((block) => block.id === data.block_id)
}

function append(block: Block, delta: DeltaData): Outcome {
  if (delta.offset > block.length) return 'resume'
  const known = block.length - delta.offset
  const fresh = known === 0 ? delta.text : dropCodePoints(delta.text, known)
  if (fresh === '') return 'ignored'
  block.text += fresh
  block.length += codePoints(fresh)
  return 'done'
}

/** Applies the next fact. Facts that were applied before are ignored; a hole asks for a resume. */
export function applyFact(model: SessionModel, frame: FactFrame): Outcome {
  if (frame.n <= model.n) return 'ignored'
  if (frame.n > model.n + 1) return 'resume'
  const replayed = frame.n <= model.replayUntil
  if (!replayed && model.n <= model.replayUntil) stampAttempts(model)
  model.n = frame.n
  return replayed ? takeReplayed(model, frame) : takeFact(model, frame)
}

/**
 * A fact the stored history has seen already: of it only what history does not tell is taken,
 * times, notices and how a run went, and whatever belongs to the answer that is being given.
 */
function takeReplayed(model: SessionModel, frame: FactFrame): Outcome {
  const turn = model.turns.findLast((item) => item.runId !== null && item.runId === frame.run_id)
  if (!turn) return 'ignored'
  switch (frame.type) {
    case 'run_start':
      markStart(turn, frame)
      if (turn.runId !== model.runId) turn.status = null
      return 'done'
    case 'done':
      markDone(turn, frame)
      return 'done'
    case 'token_update':
      countThought(turn, frame.data.current)
      return 'done'
    default:
      if (ASIDE.has(frame.type)) return runFact(model, frame)
      return turn.runId === model.runId ? blockFact(model, frame) : 'ignored'
  }
}

/** Facts about a block, about a run, and those that stand beside the answer in their own place. */
const BLOCK: ReadonlySet<string> = new Set([
  'thinking_start',
  'thinking_done',
  'content_start',
  'content_done',
  'tool_call_start',
  'tool_call_done',
  'tool_result',
])
const ASIDE: ReadonlySet<string> = new Set([
  'notice',
  'compaction_start',
  'compaction_done',
  'skill_start',
  'skill_progress',
  'skill_end',
])
const RUN: ReadonlySet<string> = new Set(['run_start', 'done', 'message_added', ...ASIDE])

function takeFact(model: SessionModel, frame: FactFrame): Outcome {
  if (BLOCK.has(frame.type)) return blockFact(model, frame)
  return RUN.has(frame.type) ? runFact(model, frame) : stateFact(model, frame)
}

function blockFact(model: SessionModel, frame: FactFrame): Outcome {
  const turn = turnOfRun(model, frame.run_id)
  switch (frame.type) {
    case 'thinking_start': {
      const block = blockOf(turn, frame.data, 'thinking')
      if (!block) return 'ignored'
      block.startedAt = frame.data.started_at
      block.thinkingKind = frame.data.kind
      return 'done'
    }
    case 'thinking_done':
      return finishThinking(turn, frame.data)
    case 'content_start':
      endThinking(turn, frame.ts)
      return blockOf(turn, frame.data, 'content') ? 'done' : 'ignored'
    case 'content_done':
      return finishBlock(blockOf(turn, frame.data, 'content'), frame.data)
    case 'tool_call_start': {
      endThinking(turn, frame.ts)
      const block = blockOf(turn, frame.data, 'tool_call')
      if (!block) return 'ignored'
      block.callId = frame.data.call_id
      block.name = frame.data.name
      block.startedAt = frame.ts
      return 'done'
    }
    case 'tool_call_done':
      return finishCall(turn, frame.data)
    case 'tool_result': {
      const { call_id: callId, status, summary, truncated } = frame.data
      const block = callBlock(turn, callId)
      if (!block) return 'ignored'
      block.outcome = {
        status,
        summary,
        truncated,
        resultRef: frame.data.result_ref,
        pictures: frame.data.pictures,
        durationMs: frame.data.duration_ms,
      }
      return 'done'
    }
    default:
      return 'ignored'
  }
}

function finishThinking(turn: Turn, data: ThinkingDone): Outcome {
  const block = blockOf(turn, data, 'thinking')
  if (!block) return 'ignored'
  block.thinkingKind = data.kind
  block.durationMs = data.duration_ms
  block.tokens = data.tokens
  return finishBlock(block, data)
}

function finishCall(turn: Turn, data: ToolCallDone): Outcome {
  const block = blockOf(turn, data, 'tool_call')
  if (!block) return 'ignored'
  block.callId = data.call_id
  block.name = data.name
  setText(block, data.arguments)
  return finishBlock(block, { ...data, length: block.length })
}

function finishBlock(
  block: Block | null,
  data: Pick<ContentDone, 'length' | 'interrupted'>,
): Outcome {
  if (!block) return 'ignored'
  block.done = true
  block.interrupted = data.interrupted
  return block.length < data.length ? 'resume' : 'done'
}

function runFact(model: SessionModel, frame: FactFrame): Outcome {
  switch (frame.type) {
    case 'message_added':
      if (frame.data.role === 'user') addUser(model, frame.run_id, frame.data)
      return 'done'
    case 'run_start': {
      markStart(startTurn(model, frame.run_id, frame.data.user_message_id), frame)
      model.running = true
      model.runId = frame.run_id
      return 'done'
    }
    case 'done': {
      markDone(turnOfRun(model, frame.run_id), frame)
      model.running = false
      model.runId = null
      model.waits = []
      return 'done'
    }
    case 'notice':
      return addNotice(model, frame, frame.data.kind, frame.data.text, frame.data.params)
    case 'compaction_start':
      return addNotice(model, frame, 'compaction_start', '', { ...frame.data })
    case 'compaction_done':
      return addNotice(model, frame, `compaction_${frame.data.status}`, '', { ...frame.data })
    case 'skill_start':
    case 'skill_progress':
    case 'skill_end':
      return applySkill(turnOfRun(model, frame.run_id), frame)
    default:
      return 'ignored'
  }
}

type StartFrame = Extract<FactFrame, { type: 'run_start' }>
type DoneFrame = Extract<FactFrame, { type: 'done' }>

function markStart(turn: Turn, frame: StartFrame): void {
  const { model, level, mode } = frame.data
  Object.assign(turn, { model, level, mode, status: 'running', reason: null, error: null })
  turn.startedAt = frame.ts
}

function markDone(turn: Turn, frame: DoneFrame): void {
  const { status, reason, usage, error, finish_reason: finish } = frame.data
  Object.assign(turn, { status, reason, finish, usage, error: error ?? null, endedAt: frame.ts })
  closeTurn(turn, frame.ts, status !== 'completed' && status !== 'incomplete')
}

export function addUser(
  model: SessionModel,
  runId: string | null,
  data: Pick<MessageAdded, 'message_id' | 'text'> & Partial<MessageAdded>,
): void {
  takePending(model, data)
  // Logs written by earlier versions do not tell of them.
  const attachments = (data.attachments ?? []).map(({ kind, name, sha256, media_type: mediaType, size }) => ({
    kind,
    name,
    sha256,
    mediaType,
    size,
  }))
  const known = model.turns.findLast((turn) => turn.user?.id === data.message_id)
  if (known) return
  const said = { id: data.message_id, text: data.text, attachments }
  const open = runId === null ? null : model.turns.findLast((turn) => turn.runId === runId)
  if (open && open.user === null) {
    open.user = said
    return
  }
  const turn = newTurn(data.message_id, runId)
  turn.user = said
  if (open) goOn(open, turn)
  model.turns.push(turn)
}

/** Words said during a run: it goes on below them, and ends there. */
function goOn(before: Turn, turn: Turn): void {
  const { model, level, mode, startedAt, status } = before
  Object.assign(turn, { model, level, mode, startedAt, status })
  before.status = null
}

/** The fact may overtake the acknowledgement: then the words tell that this is what was sent. */
function takePending(
  model: SessionModel,
  data: { message_id: string; text: string },
): Pending | undefined {
  const byId = model.pending.findIndex((item) => item.messageId === data.message_id)
  const same = (item: Pending) => item.messageId === null && item.text === data.text
  const at = byId === -1 ? model.pending.findIndex(same) : byId
  return at === -1 ? undefined : model.pending.splice(at, 1)[0]
}

function startTurn(model: SessionModel, runId: string | null, userId: string | null): Turn {
  const asked = userId === null ? null : model.turns.findLast((turn) => turn.user?.id === userId)
  if (asked && (asked.runId === null || asked.runId === runId)) {
    asked.runId = runId
    return asked
  }
  return turnOfRun(model, runId)
}

function addNotice(
  model: SessionModel,
  frame: FactFrame,
  kind: string,
  text: string,
  params: Record<string, unknown>,
): Outcome {
  const turn = frame.run_id === null ? model.turns.at(-1) : turnOfRun(model, frame.run_id)
  if (!turn || turn.notices.some((notice) => notice.n === frame.n)) return 'ignored'
  // The history holds what was said to the run; its log tells it again.
  const held = (notice: NoticeItem) => notice.n < 0 && notice.kind === kind && notice.text.includes(text)
  if (turn.notices.some(held)) return 'ignored'
  const after = turn.messages.at(-1)?.blocks.at(-1)?.id ?? null
  turn.notices.push({ n: frame.n, kind, text, params, after })
  return 'done'
}

/**
 * A call's thinking tokens are told when it ends, with the run's sums. Where the call thought in
 * one block they are that block's, as the server keeps them; among several nobody can tell.
 */
function countThought(turn: Turn, current: TokenCount): void {
  const before = turn.usage?.reasoningTokens ?? 0
  turn.usage = current
  if (current.reasoningTokens === null) return
  const thoughts = turn.messages.at(-1)?.blocks.filter(({ kind }) => kind === 'thinking') ?? []
  const [only] = thoughts
  if (only && thoughts.length === 1) only.tokens ??= current.reasoningTokens - before
}

function stateFact(model: SessionModel, frame: FactFrame): Outcome {
  switch (frame.type) {
    case 'todo_update':
      model.todos = frame.data.todos
      model.todoSummary = frame.data.summary
      return 'done'
    case 'plan_update':
      model.plan = frame.data
      return 'done'
    case 'token_update':
      countThought(turnOfRun(model, frame.run_id), frame.data.current)
      model.tokens = frame.data
      return 'done'
    case 'level_update':
      model.level = frame.data.level
      return 'done'
    case 'mode_update':
      model.mode = frame.data.mode
      return 'done'
    case 'model_update':
      model.model = frame.data.model
      model.level = frame.data.level
      return 'done'
    case 'queue_update':
      model.queue = frame.data.queue
      return 'done'
    case 'approval_request':
    case 'question':
      model.waits.push({ type: frame.type, data: { ...frame.data } })
      return 'done'
    case 'wait_resolved': {
      const id = frame.data.wait_id
      model.waits = model.waits.filter(
        ({ data }) => data.approval_id !== id && data.question_id !== id,
      )
      return 'done'
    }
    case 'session_update':
      if (frame.data.title !== undefined) model.title = frame.data.title
      return 'done'
    default:
      // A type of a newer server, or one that is not shown here: its number still counts.
      return 'ignored'
  }
}
