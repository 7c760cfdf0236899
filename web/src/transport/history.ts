// Stored messages onto a session: the same turns and blocks that facts would have made.
import { placeSkills, restoreSkills } from './skills'
import { callBlock, closeTurn, setText } from './turns'
import {
  newBlock,
  newTurn,
  type Attachment,
  type Block,
  type BlockKind,
  type Message,
  type RunStatus,
  type SessionModel,
  type ThinkingKind,
  type ToolStatus,
  type Turn,
} from './model'

import type {
  ErrorInfo,
  LevelState,
  MessagePage,
  MessageView,
  Segment,
  SessionView,
  TokenCount,
} from '@/generated/protocol'

const REPLAYED_FACTS = 300

const KINDS: Record<string, BlockKind> = {
  thinking: 'thinking',
  text: 'content',
  tool: 'tool_call',
  tool_call: 'tool_call',
}

export function turnsOf(messages: readonly MessageView[]): Turn[] {
  const turns: Turn[] = []
  for (const message of messages) {
    if (message.role === 'user') {
      const turn = newTurn(message.id, message.run_id)
      turn.user = { id: message.id, text: message.content, attachments: attachmentsOf(message) }
      turn.startedAt = message.created_at
      takeMetadata(turn, message.metadata)
      turns.push(turn)
    } else {
      addAnswer(answeringTurn(turns, message), message)
    }
  }
  for (const [index, turn] of turns.entries()) {
    placeSkills(turn)
    // A run that the person spoke to goes on below these words, and is told to be over there.
    if (turn.runId !== null && turns[index + 1]?.runId === turn.runId) turn.status = null
  }
  return turns
}

function attachmentsOf(message: MessageView): Attachment[] {
  const found: Attachment[] = []
  for (const segment of message.segments) {
    if (segment.type !== 'image' && segment.type !== 'file') continue
    if (segment.result_ref === null) continue
    const data = isRecord(segment.data) ? segment.data : {}
    found.push({
      kind: segment.type,
      name: segment.name ?? '',
      sha256: segment.result_ref,
      mediaType: typeof data.media_type === 'string' ? data.media_type : '',
      size: typeof data.size === 'number' ? data.size : null,
    })
  }
  return found
}

function answeringTurn(turns: Turn[], message: MessageView): Turn {
  const last = turns.at(-1)
  const fits = last && (last.runId === null || message.run_id === null || last.runId === message.run_id)
  if (last && fits) {
    last.runId ??= message.run_id
    return last
  }
  const turn = newTurn(message.id, message.run_id)
  turns.push(turn)
  return turn
}

function addAnswer(turn: Turn, message: MessageView): void {
  takeMetadata(turn, message.metadata)
  const own: Message = { id: message.id, attempt: attemptOf(message.metadata), blocks: [] }
  for (const segment of message.segments) {
    if (segment.type === 'tool_result') {
      takeResult(turn, segment)
      continue
    }
    const kind = KINDS[segment.type]
    if (kind) own.blocks.push(blockFrom(segment, message.id, kind))
    else if (segment.type === 'notice') addNotice(turn, segment, own)
    else if (segment.type === 'server_tool') addOwnTool(turn, segment, own)
  }
  if (own.blocks.length > 0) turn.messages.push(own)
}

function blockFrom(segment: Segment, messageId: string, kind: BlockKind): Block {
  const block = newBlock(segment.id, messageId, kind)
  setText(block, (kind === 'tool_call' ? segment.arguments : segment.text) ?? '')
  block.done = true
  block.interrupted = segment.interrupted
  block.startedAt = segment.started_at
  block.durationMs = segment.duration_ms
  block.tokens = segment.tokens
  if (kind === 'thinking') block.thinkingKind = (segment.kind ?? 'full') as ThinkingKind
  if (kind === 'tool_call') {
    block.callId = segment.call_id
    block.name = segment.name
    if (segment.status !== null) block.outcome = outcomeOf(segment)
  }
  return block
}

function outcomeOf(segment: Segment): Block['outcome'] {
  return {
    status: (segment.status ?? 'unknown') as ToolStatus,
    summary: segment.summary ?? segment.text ?? '',
    resultRef: segment.result_ref,
    pictures: segment.pictures,
    truncated: segment.truncated,
    durationMs: segment.duration_ms,
  }
}

function takeResult(turn: Turn, segment: Segment): void {
  const block = segment.call_id === null ? null : callBlock(turn, segment.call_id)
  if (block) block.outcome = outcomeOf(segment)
}

/**
 * What silu told the model about mode, tasks and plan is not the person's to read; what they said
 * themselves during the run is.
 */
function addNotice(turn: Turn, segment: Segment, own: Message): void {
  if (segment.kind !== 'steering') return
  turn.notices.push({
    n: -1 - turn.notices.length,
    kind: 'steering',
    text: wordsWithin(segment.text ?? ''),
    params: {},
    after: own.blocks.at(-1)?.id ?? turn.messages.at(-1)?.blocks.at(-1)?.id ?? null,
  })
}

/** The vendor ran a tool itself; the block of its result has no name and tells nothing more. */
function addOwnTool(turn: Turn, segment: Segment, own: Message): void {
  if (!segment.name) return
  const query = segment.summary ?? ''
  turn.notices.push({
    n: -1 - turn.notices.length,
    kind: 'own_tool',
    text: `${segment.name}: ${query}`,
    params: { name: segment.name, query },
    after: own.blocks.at(-1)?.id ?? turn.messages.at(-1)?.blocks.at(-1)?.id ?? null,
  })
}

/** Their words as the notice holds them: between its first and its last line, inside its tag. */
function wordsWithin(notice: string): string {
  const inside = notice.trim().replace(/^<[^>]*>\s*/, '').replace(/\s*<\/[^>]*>$/, '')
  return inside.split('\n').slice(1, -1).join('\n')
}

function attemptOf(metadata: Record<string, unknown>): number | null {
  return typeof metadata.attempt === 'number' ? metadata.attempt : null
}

/** What the server says about the run beside the message; absent fields leave the turn as it is. */
function takeMetadata(turn: Turn, metadata: Record<string, unknown>): void {
  const { model, level, status, reason, error, tokenUsage, started_at, ended_at } = metadata
  restoreSkills(turn, metadata.skillExecutions)
  if (typeof metadata.finish_reason === 'string') turn.finish = metadata.finish_reason
  if (typeof model === 'string') turn.model = model
  if (isRecord(level) && typeof level.effective === 'string') {
    turn.level = level as unknown as LevelState
  }
  if (typeof status === 'string') turn.status = status as RunStatus
  if (typeof reason === 'string') turn.reason = reason as Turn['reason']
  if (isRecord(error)) turn.error = error as unknown as ErrorInfo
  if (isRecord(tokenUsage)) turn.usage = tokenUsage as unknown as TokenCount
  if (typeof started_at === 'number') turn.startedAt = started_at
  if (typeof ended_at === 'number') turn.endedAt = ended_at
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The newest page and the session's own state; live text that the page lacks is kept. */
export function applyHistory(model: SessionModel, page: MessagePage, view: SessionView): void {
  const live = model.turns.findLast((turn) => turn.status === 'running')
  const turns = turnsOf(page.messages)
  for (const turn of turns) keepTold(turn, model.turns)
  Object.assign(model, {
    title: view.title,
    workspace: view.workspace,
    parentId: view.parent_id,
    forked: view.forked_at !== null,
    agent: view.agent,
    todos: view.todos,
    todoSummary: view.todoSummary,
    plan: view.plan,
    tokens: view.tokens,
    queue: view.queue,
    waits: view.waits,
    model: view.model,
    level: view.level,
    mode: view.mode,
    running: view.isRunning,
    runId: view.run_id,
    before: page.before,
    turns,
  })
  openRunning(model, view)
  if (live) adoptLive(model, live)
  const said = new Set(turns.map((turn) => turn.user?.id))
  model.pending = model.pending.filter(({ messageId }) => !said.has(messageId ?? undefined))
  model.loaded = true
  model.loadError = null
  // What the history does not hold (when runs began and ended, notices, the open thought's
  // start) is told by the log's last facts. The older of the two answers counts.
  const head = Math.min(page.head, view.head)
  model.replayUntil = Math.max(model.replayUntil, head)
  model.n = Math.max(model.n, head - REPLAYED_FACTS, 0)
}

/** What facts told about a run and the history does not repeat. */
function keepTold(turn: Turn, before: readonly Turn[]): void {
  const run = before.filter((item) => item.runId !== null && item.runId === turn.runId)
  const old = run.find((item) => item.user?.id === turn.user?.id) ?? run.at(0)
  if (!old) return
  turn.model ??= old.model
  turn.level ??= old.level
  turn.startedAt = old.startedAt ?? turn.startedAt
  turn.endedAt ??= old.endedAt
  turn.notices.push(...old.notices.filter(({ n }) => n >= 0))
  for (const skill of old.skills) {
    const at = turn.skills.findIndex(({ id }) => id === skill.id)
    if (at === -1) turn.skills.push(skill)
    else turn.skills[at] = skill
  }
}

function openRunning(model: SessionModel, view: SessionView): void {
  const last = model.turns.at(-1)
  for (const turn of model.turns) {
    if (turn.status === 'running' && turn.runId !== view.run_id) turn.status = null
  }
  if (!view.isRunning || !last || (last.runId !== null && last.runId !== view.run_id)) return
  last.runId = view.run_id
  last.status = 'running'
  const open = last.messages.at(-1)
  for (const block of open?.blocks ?? []) {
    // Without a duration the server has not seen its end yet.
    if (block.kind === 'thinking') block.done = block.durationMs !== null
  }
}

function adoptLive(model: SessionModel, live: Turn): void {
  const turn = model.turns.findLast((item) => item.runId === live.runId)
  if (!turn) {
    if (model.running && model.runId === live.runId) model.turns.push(live)
    return
  }
  for (const message of live.messages) {
    const stored = turn.messages.find((item) => item.id === message.id)
    if (!stored) {
      turn.messages.push(message)
      continue
    }
    stored.attempt ??= message.attempt
    for (const block of message.blocks) {
      const kept = stored.blocks.findIndex((item) => item.id === block.id)
      if (kept === -1) stored.blocks.push(block)
      else if ((stored.blocks[kept]?.length ?? 0) < block.length) stored.blocks[kept] = block
    }
  }
  if (!model.running) closeTurn(turn, null, false)
}

/** The page before; false when it held nothing new. */
export function prependHistory(model: SessionModel, page: MessagePage): boolean {
  const known = new Set(model.turns.map((turn) => turn.key))
  const older = turnsOf(page.messages).filter((turn) => !known.has(turn.key))
  model.before = page.before
  const first = model.turns[0]
  const last = older.at(-1)
  if (first && last && first.user === null && first.runId !== null && first.runId === last.runId) {
    // One turn lay across the border of two pages.
    last.messages.push(...first.messages)
    last.notices.push(...first.notices)
    Object.assign(last, { status: first.status, endedAt: first.endedAt, error: first.error })
    model.turns.shift()
  }
  model.turns.unshift(...older)
  return older.length > 0
}
