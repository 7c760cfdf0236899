// A session as the page holds it. Filled from history, facts, deltas and snapshots alike, so that
// a turn looks the same live and after a reload.
import type {
  DeltaData,
  DoneFrame,
  ErrorInfo,
  LevelState,
  Plan,
  QueuedSend,
  SkillEnd,
  Todo,
  TodoSummary,
  TokenCount,
  TokenUpdate,
  Wait,
} from '@/generated/protocol'

export type BlockKind = DeltaData['kind']
export type ThinkingKind = 'full' | 'summary' | 'tagged' | 'redacted'
export type Mode = 'plan' | 'build'
export type RunStatus = DoneFrame['data']['status']
export type DoneReason = NonNullable<DoneFrame['data']['reason']>
export type ToolStatus = 'ok' | 'error' | 'denied' | 'interrupted' | 'unknown'

export interface ToolOutcome {
  status: ToolStatus
  summary: string
  resultRef: string | null
  /** Blobs, each by its sha256. */
  pictures: string[]
  truncated: boolean
  durationMs: number | null
}

/** A part while it streams and after; `length` is `text` in code points. */
export interface Block {
  id: string
  messageId: string
  kind: BlockKind
  attempt: number | null
  text: string
  length: number
  done: boolean
  interrupted: boolean
  thinkingKind: ThinkingKind
  startedAt: number | null
  durationMs: number | null
  tokens: number | null
  callId: string | null
  name: string | null
  outcome: ToolOutcome | null
}

/** One model call's answer (or the results of its tools, whose outcome joins the call's block). */
export interface Message {
  id: string
  attempt: number | null
  blocks: Block[]
}

export interface NoticeItem {
  n: number
  kind: string
  text: string
  params: Record<string, unknown>
  /** Id of the block it came after, so that it keeps its place. */
  after: string | null
}

/** A skill from its start to its result; its card keeps the place where it began. */
export interface SkillItem {
  id: string
  name: string
  label: string
  step: string | null
  detail: string | null
  percent: number | null
  status: 'running' | 'done' | 'error' | 'interrupted'
  result: string
  resultType: SkillEnd['result_type']
  startedAt: number | null
  endedAt: number | null
  /** Id of the block it came after; null where history does not tell. */
  after: string | null
}

/** A picture or file that went with a message, kept as a blob. */
export interface Attachment {
  kind: 'image' | 'file'
  name: string
  sha256: string
  mediaType: string
  size: number | null
}

export interface Said {
  id: string
  text: string
  attachments: Attachment[]
}

/** What the person said and everything that answered it. */
export interface Turn {
  key: string
  runId: string | null
  user: Said | null
  messages: Message[]
  notices: NoticeItem[]
  skills: SkillItem[]
  model: string | null
  level: LevelState | null
  mode: Mode | null
  status: 'running' | RunStatus | null
  reason: DoneReason | null
  finish: string | null
  error: ErrorInfo | null
  usage: TokenCount | null
  startedAt: number | null
  endedAt: number | null
}

/** A message that was sent and is not yet part of the history. */
export interface Pending {
  clientId: string
  messageId: string | null
  text: string
  attachments: Attachment[]
  error: string | null
}

export interface SessionModel {
  id: string
  title: string
  workspace: string
  parentId: string | null
  /** A branch, which has its parent's messages; else a session with a parent works for it. */
  forked: boolean
  /** Name of the agent that answers; null for the built-in one. */
  agent: string | null
  /** Last fact that has been applied; -1 before the first page was read. */
  n: number
  /** Facts up to here are told again after the history was read, for what it does not hold. */
  replayUntil: number
  loaded: boolean
  loadError: ErrorInfo | null
  /** Where the page before the first turn begins; null at the beginning. */
  before: string | null
  turns: Turn[]
  pending: Pending[]
  todos: Todo[]
  todoSummary: TodoSummary
  plan: Plan | null
  tokens: TokenUpdate | null
  queue: QueuedSend[]
  waits: Wait[]
  model: string | null
  level: LevelState | null
  mode: Mode
  running: boolean
  runId: string | null
}

export function emptySummary(): TodoSummary {
  return { total: 0, pending: 0, in_progress: 0, completed: 0, cancelled: 0 }
}

export function summarise(todos: readonly Todo[]): TodoSummary {
  const summary = emptySummary()
  summary.total = todos.length
  for (const todo of todos) summary[todo.status] += 1
  return summary
}

export function newSession(id: string): SessionModel {
  return {
    id,
    title: '',
    workspace: '',
    parentId: null,
    forked: false,
    agent: null,
    n: -1,
    replayUntil: -1,
    loaded: false,
    loadError: null,
    before: null,
    turns: [],
    pending: [],
    todos: [],
    todoSummary: emptySummary(),
    plan: null,
    tokens: null,
    queue: [],
    waits: [],
    model: null,
    level: null,
    mode: 'build',
    running: false,
    runId: null,
  }
}

export function newTurn(key: string, runId: string | null): Turn {
  return {
    key,
    runId,
    user: null,
    messages: [],
    notices: [],
    skills: [],
    model: null,
    level: null,
    mode: null,
    status: null,
    reason: null,
    finish: null,
    error: null,
    usage: null,
    startedAt: null,
    endedAt: null,
  }
}

export function newBlock(id: string, messageId: string, kind: BlockKind): Block {
  return {
    id,
    messageId,
    kind,
    attempt: null,
    text: '',
    length: 0,
    done: false,
    interrupted: false,
    thinkingKind: 'full',
    startedAt: null,
    durationMs: null,
    tokens: null,
    callId: null,
    name: null,
    outcome: null,
  }
}

export function* blocksOf(turn: Turn): Generator<Block> {
  for (const message of turn.messages) yield* message.blocks
}

/** The answer text of a turn, parts in order; thoughts and tools are not part of it. */
export function answerOf(turn: Turn): string {
  const parts: string[] = []
  for (const block of blocksOf(turn)) {
    if (block.kind === 'content' && block.text) parts.push(block.text)
  }
  return parts.join('\n\n')
}
