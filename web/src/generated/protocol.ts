// Generated from the gateway protocol by scripts/generate-types.mjs; do not edit.
export const PROTOCOL_VERSION = 1

/** The command was taken; `data` depends on the command (e.g. `message_id`, `run_id`). */
export interface AckFrame {
  frame_id: string
  data: Record<string, unknown>
  type: "ack"
}

/** Who answers in a session: `prompt` stands in place of silu's own identity ("" keeps it). `tools` are names or patterns of names (`null`: all). What is `null` is not chosen here. */
export interface Agent {
  name: string
  description: string
  prompt: string
  model: string | null
  level: string | null
  tools: Array<string> | null
  sampling: Sampling
  thinking_limit: ThinkingLimit | null
  source: "built_in" | "file"
}

/** The built-in agent first. `problems` are files that could not be read, in sentences. */
export interface AgentList {
  agents: Array<Agent>
  problems: Array<string>
}

export interface AnswerNow {
  client_id: string
  run_id?: string | null
}

export interface AnswerNowCommand {
  type: "answer_now"
  frame_id: string
  session_id?: string | null
  data: AnswerNow
}

export interface AnswerQuestion {
  client_id: string
  question_id: string
  answer: string
}

export interface AnswerQuestionCommand {
  type: "answer_question"
  frame_id: string
  session_id?: string | null
  data: AnswerQuestion
}

/** Newest first. */
export interface ApprovalList {
  approvals: Array<ApprovalRecord>
}

/** What the agent asked to do, and who decided what about it, when and for how long. `decision` is null while it waits, and when its run ended without an answer. `by` is who decided and over what: `owner (cookie)` is the page, `owner (bearer)` a program, `terminal` the command. */
export interface ApprovalRecord {
  id: string
  session_id: string
  run_id: string | null
  call_id: string | null
  tool: string
  arguments: string
  asked_at: number
  decision: "allow" | "deny" | null
  scope: "always" | "once" | "session" | null
  pattern: string | null
  reason: string | null
  by: string | null
  decided_at: number | null
}

export interface ApprovalRequest {
  approval_id: string
  call_id: string
  name: string
  arguments: string
  suggested_patterns: Array<string>
  diff?: string
}

export interface ApprovalRequestFrame {
  type: "approval_request"
  session_id: string
  run_id: string | null
  n: number
  ts: number
  data: ApprovalRequest
}

export interface Approve {
  client_id: string
  approval_id: string
  decision: "allow" | "deny"
  scope?: "always" | "once" | "session"
  pattern?: string | null
  reason?: string | null
}

export interface ApproveCommand {
  type: "approve"
  frame_id: string
  session_id?: string | null
  data: Approve
}

export interface ApprovePlan {
  client_id: string
  plan_id: string
  revision: number
}

export interface ApprovePlanCommand {
  type: "approve_plan"
  frame_id: string
  session_id?: string | null
  data: ApprovePlan
}

/** A picture or file that goes with a message; its bytes are a blob. */
export interface Attached {
  kind: "file" | "image"
  name: string
  sha256: string
  media_type: string
  size: number
}

/** Bytes kept outside the message, named by their sha256 (hex); `size` in bytes. */
export interface BlobRef {
  sha256: string
  size: number
  media_type: string
  name: string | null
}

export interface CallList {
  calls: Array<CallView>
}

/** One model call for the inspector. `body` is the request as sent, secrets masked; times are milliseconds, `first_*_ms` from when the request was sent; `cost` in US dollars. */
export interface CallView {
  id: string
  run_id: string
  message_id: string | null
  step: number
  attempt: number
  purpose: "summary" | "turn"
  model: string
  resolution: Resolution
  url: string
  headers: Record<string, string>
  body: string
  dropped: Array<Record<string, unknown>>
  usage: Usage
  finish_reason: string | null
  raw_finish: string | null
  error: string | null
  started_at: number
  first_byte_ms: number | null
  first_thinking_ms: number | null
  first_text_ms: number | null
  duration_ms: number | null
  cost: number | null
}

export interface Cancel {
  client_id: string
  run_id?: string | null
}

export interface CancelCommand {
  type: "cancel"
  frame_id: string
  session_id?: string | null
  data: Cancel
}

/** One model's abilities. `sources` maps a field's name to where its value comes from. `thinking_levels` are the levels with a distinct effect on the wire, quietest first; a model that can only be switched offers `off` and one level, and `switch_only` is then true. `documents` are PDF files as input; `own_tools` are tools its vendor can run itself (`web_search`); `retires` is the day (ISO) the vendor takes it away. */
export interface Capability {
  thinking: "supported" | "unknown" | "unsupported"
  thinking_levels: Array<Level>
  thinking_default_level: Level | null
  thinking_force_enabled: boolean
  adaptive: boolean
  switch_only: boolean
  summaries_only: boolean
  tools: "supported" | "unknown" | "unsupported"
  images: "supported" | "unknown" | "unsupported"
  documents: "supported" | "unknown" | "unsupported"
  own_tools: Array<string>
  context_window: number | null
  max_output: number | null
  prices: Prices | null
  retires: string | null
  sources: Record<string, "catalogue" | "config" | "default" | "family" | "learned" | "listing">
}

/** What a session's runs did to files, oldest run first. */
export interface ChangeList {
  runs: Array<RunChanges>
}

export type ClientFrame = SubscribeCommand | UnsubscribeCommand | SendCommand | SteerCommand | QueueEditCommand | CancelCommand | AnswerNowCommand | SetThinkingLevelCommand | SetModelCommand | SetModeCommand | ApproveCommand | AnswerQuestionCommand | ApprovePlanCommand | TodoEditCommand | RegenerateCommand | EditCommand | CompactCommand | MarkReadCommand | PingCommand

/** A message kept as a file: `/name arguments` sends `text` with the arguments filled in. `arguments` says what is to follow the name; `level` and `mode` hold for that turn. */
export interface Command {
  name: string
  text: string
  description: string
  arguments: string
  level: string | null
  mode: "plan" | null
  source: "person" | "project"
}

/** What can be sent with a slash. `untrusted` is true where the session's folder has commands that stay unread until the person trusts that folder. */
export interface CommandList {
  commands: Array<Command>
  untrusted: boolean
  problems: Array<string>
}

export interface Compact {
  client_id: string
}

export interface CompactCommand {
  type: "compact"
  frame_id: string
  session_id?: string | null
  data: Compact
}

export interface CompactionDone {
  status: "done" | "failed" | "gained_nothing"
  before_tokens: number | null
  after_tokens: number | null
  message_id: string | null
}

export interface CompactionDoneFrame {
  type: "compaction_done"
  session_id: string
  run_id: string | null
  n: number
  ts: number
  data: CompactionDone
}

export interface CompactionStart {
  reason: string
}

export interface CompactionStartFrame {
  type: "compaction_start"
  session_id: string
  run_id: string | null
  n: number
  ts: number
  data: CompactionStart
}

/** New text of a block: sent at once, without number. */
export interface ContentDeltaFrame {
  type: "content_delta"
  session_id: string
  run_id: string
  data: DeltaData
}

/** As `ThinkingDone`; `tokens` is null, no vendor counts answer text apart. */
export interface ContentDone {
  message_id: string
  block_id: string
  attempt: number
  length: number
  kind: "text"
  duration_ms: number | null
  tokens: number | null
  interrupted: boolean
}

/** As `ThinkingDone`; `tokens` is null, no vendor counts answer text apart. */
export interface ContentDoneFrame {
  type: "content_done"
  session_id: string
  run_id: string | null
  n: number
  ts: number
  data: ContentDone
}

export interface ContentStart {
  message_id: string
  block_id: string
  attempt: number
  kind: "text"
}

export interface ContentStartFrame {
  type: "content_start"
  session_id: string
  run_id: string | null
  n: number
  ts: number
  data: ContentStart
}

/** What the last request of a session held, in tokens. `used_tokens` is the vendor's count where it told one (`source`); the parts are that number shared out by what was sent, `null` before the first call. `thinking` is what went back of earlier thoughts, `todo` the task list in results and notices, `history` all the rest of the conversation. */
export interface ContextReport {
  used_tokens: number | null
  max_tokens: number | null
  percent: number | null
  source: "estimate" | "unknown" | "vendor"
  system: number | null
  tools: number | null
  history: number | null
  todo: number | null
  thinking: number | null
}

/** `used_tokens` is the normalised input of the last main-loop call, never a sum. */
export interface ContextUse {
  usedTokens: number | null
  maxTokens: number | null
  percent: number | null
  source: "estimate" | "unknown" | "vendor"
}

/** New text of a block. `offset` counts code points of the block before this text. */
export interface DeltaData {
  message_id: string
  block_id: string
  attempt: number
  kind: "content" | "thinking" | "tool_call"
  offset: number
  text: string
}

export interface Done {
  status: "cancelled" | "completed" | "failed" | "incomplete" | "interrupted"
  reason: "cost_limit" | "no_answer" | "open_todos" | "person" | "repeated_call" | "restart" | "step_limit" | "stream_cut" | "thinking_used_limit" | "time_limit" | "token_limit" | "vendor_error" | null
  finish_reason: string | null
  usage: TokenCount
  skillExecutions: Array<Record<string, unknown>>
  error?: ErrorInfo
}

export interface DoneFrame {
  type: "done"
  session_id: string
  run_id: string | null
  n: number
  ts: number
  data: Done
}

/** The thoughts that are found in the bytes a call sent, oldest first. */
export interface EchoList {
  thoughts: Array<EchoView>
}

/** A thought that went back to its vendor with a call: `chars` code points of its text, and whether opaque data of it went along (`sealed`). */
export interface EchoView {
  message_id: string
  part_id: string
  chars: number
  sealed: boolean
}

export interface Edit {
  client_id: string
  message_id: string
  text: string
}

export interface EditCommand {
  type: "edit"
  frame_id: string
  session_id?: string | null
  data: Edit
}

/** An endpoint of the person's own: `name/model-id` from then on. `key` is stored in a 0600 file and never shown again; `key_env` names a variable instead. `like` borrows the form of a known vendor. `test` makes one real call first and refuses the endpoint when it fails. */
export interface EndpointCreate {
  name: string
  url: string
  dialect?: string | null
  key?: string | null
  key_env?: string | null
  models?: Array<string>
  like?: string | null
  test?: boolean
}

/** `dialects` are the wire forms a new endpoint may speak. */
export interface EndpointList {
  endpoints: Array<EndpointView>
  vendors: Array<VendorView>
  dialects: Array<string>
}

/** What a real call to an endpoint gave: `message` says it in one sentence. */
export interface EndpointReport {
  ok: boolean
  message: string
  model: string | null
  models: Array<string>
  thinking: boolean | null
  duration_ms: number | null
  error: ErrorInfo | null
}

/** A test of an endpoint that need not be saved; `name` alone tests a known one. */
export interface EndpointTry {
  name: string
  url?: string | null
  dialect?: string | null
  key?: string | null
  key_env?: string | null
  models?: Array<string>
  like?: string | null
}

/** An endpoint that answers or could: `source` tells who named it. `key` says where the key comes from (`env`, `file`, `none needed`) and is null without one; `key_env` is the variable to set. */
export interface EndpointView {
  name: string
  label: string
  url: string
  dialect: string
  source: "config" | "demo" | "environment" | "local"
  key: string | null
  key_env: string | null
  models: Array<string>
  like: string | null
  removable: boolean
}

/** Every HTTP error: one sentence for the person, stable words for programs. */
export interface ErrorBody {
  error: ErrorInfo
}

/** The command was not taken, and changed nothing. */
export interface ErrorFrame {
  frame_id: string | null
  data: ErrorInfo
  type: "error"
}

/** A failure for people: `kind` and `code` for programs, `setting` names what to change. */
export interface ErrorInfo {
  kind: string
  message: string
  setting: string | null
  status: number | null
  code: string | null
  request_id: string | null
  retryable: boolean
}

/** What a run did to a file; `diff` is "" where a side is not text. */
export interface FileChange {
  path: string
  kind: "changed" | "created" | "deleted"
  diff: string
}

/** A text file of the workspace as it is now; `size` is in bytes, `truncated` when only its beginning is here. */
export interface FileText {
  path: string
  text: string
  size: number
  truncated: boolean
}

export interface Health {
  status: "ok"
  version: string
}

/** Sent at least every 20 s while a run is on; `running` maps sessions to elapsed ms. */
export interface HeartbeatFrame {
  ts: number
  running: Record<string, number>
  type: "heartbeat"
}

/** A vendor's key; an empty one removes what was saved. */
export interface KeySave {
  key: string
}

/** A fact an answer taught us about (endpoint, model): kept, shown, forgotten on request. `fact` is a recovery class of vendors.md §19, `value` its JSON value, `evidence` the vendor's own words, shortened and without secrets; `ts` is milliseconds since 1970 UTC. */
export interface Learned {
  endpoint: string
  model: string
  fact: string
  value: unknown
  evidence: string
  ts: number
}

export interface LearnedList {
  learned: Array<Learned>
}

/** How much a model should think. `ADAPTIVE` leaves the amount to the model. */
export type Level = "adaptive" | "high" | "low" | "max" | "medium" | "minimal" | "off" | "xhigh"

/** The level as asked and as sent: shown together wherever the level is. */
export interface LevelState {
  requested: string
  effective: string
  source: string
  notes: Array<string>
}

export interface LevelUpdate {
  level: LevelState
}

export interface LevelUpdateFrame {
  type: "level_update"
  session_id: string
  run_id: string | null
  n: number
  ts: number
  data: LevelUpdate
}

/** The sidebar's first answer, and later the sessions that changed; `gone` are sessions that were deleted or put into the bin since. */
export interface ListFrame {
  data: Array<SessionItem>
  n: number
  gone: Array<string>
  type: "sessions"
}

export interface MarkRead {
  client_id?: string | null
}

export interface MarkReadCommand {
  type: "mark_read"
  frame_id: string
  session_id?: string | null
  data: MarkRead
}

/** What a real connection gave: `message` says it in one sentence. `server` is null when a server was not added because its test failed. */
export interface McpReport {
  ok: boolean
  message: string
  duration_ms: number
  server: McpServerView | null
}

/** A server of the person's: `command` with `args` starts one here (stdio), `url` names one that speaks streamable HTTP; exactly one of the two is given. `env` are variables for the started server, `pass_env` names variables of silu's own that it may see; it sees no others but the usual ones (`PATH`, `HOME`, …). `headers` go with every HTTP request. `timeout` is seconds for one tool call. `tools` limits it to these of its tools. With `test` the server is kept only when it could be reached. */
export interface McpServerCreate {
  name: string
  command?: string | null
  args?: Array<string>
  env?: Record<string, string>
  pass_env?: Array<string>
  cwd?: string | null
  url?: string | null
  headers?: Record<string, string>
  timeout?: number | null
  tools?: Array<string> | null
  enabled?: boolean
  test?: boolean
}

/** All servers by name; `error` when the file that lists them cannot be read. */
export interface McpServerList {
  servers: Array<McpServerView>
  error: string | null
}

/** Fields left out stay as they are. */
export interface McpServerPatch {
  enabled?: boolean
  tools?: Array<string> | null
  timeout?: number | null
}

/** A server and how it does: `error` is the last failure in one sentence, `problems` are tools that were left out and why. `server` is the name and version it told. */
export interface McpServerView {
  name: string
  transport: "http" | "stdio"
  command: string | null
  args: Array<string>
  env_names: Array<string>
  pass_env: Array<string>
  cwd: string | null
  url: string | null
  header_names: Array<string>
  timeout: number | null
  only_tools: Array<string> | null
  enabled: boolean
  state: "connecting" | "disabled" | "failed" | "idle" | "ready"
  error: string | null
  server: string | null
  protocol: string | null
  tools: Array<McpToolView>
  problems: Array<string>
  connected_at: number | null
}

/** A tool as a model sees it: `name` is `server__tool`, `title` what the server calls it. */
export interface McpToolView {
  name: string
  title: string
  description: string
  effects: Array<"execute" | "interact" | "network" | "read" | "write">
}

/** A message became part of the history (the person's own, for other tabs). */
export interface MessageAdded {
  message_id: string
  role: "assistant" | "system" | "tool" | "user"
  text: string
  attachments: Array<Attached>
}

/** A message became part of the history (the person's own, for other tabs). */
export interface MessageAddedFrame {
  type: "message_added"
  session_id: string
  run_id: string | null
  n: number
  ts: number
  data: MessageAdded
}

/** Oldest first; `before` asks for the page before, null at the beginning. `head` is the session's last fact when the page was read: subscribe with `since: head`. */
export interface MessagePage {
  messages: Array<MessageView>
  before: string | null
  head: number
}

export interface MessageView {
  id: string
  role: string
  content: string
  thinking_content: string | null
  segments: Array<Segment>
  metadata: Record<string, unknown>
  created_at: number
  run_id: string | null
}

export interface ModeUpdate {
  mode: "build" | "plan"
}

export interface ModeUpdateFrame {
  type: "mode_update"
  session_id: string
  run_id: string | null
  n: number
  ts: number
  data: ModeUpdate
}

/** A model that can be chosen: `ref` is `vendor/model-id`, `label` is for people. */
export interface ModelInfo {
  ref: string
  vendor: string
  model: string
  label: string
  vendor_label: string
  capability: Capability
  demo: boolean
  local: boolean
}

/** What can be chosen. `default` is used where nothing is; `demo_only` when nothing else was found; `problems` are sources that could not be listed, in sentences for people. */
export interface ModelList {
  models: Array<ModelInfo>
  default: string
  demo_only: boolean
  problems: Array<string>
}

export interface ModelUpdate {
  model: string
  level: LevelState
}

export interface ModelUpdateFrame {
  type: "model_update"
  session_id: string
  run_id: string | null
  n: number
  ts: number
  data: ModelUpdate
}

/** A sentence for the person; `kind` is a stable word, `params` fill a translation. */
export interface Notice {
  kind: string
  text: string
  params: Record<string, unknown>
}

/** A sentence for the person; `kind` is a stable word, `params` fill a translation. */
export interface NoticeFrame {
  type: "notice"
  session_id: string
  run_id: string | null
  n: number
  ts: number
  data: Notice
}

export interface Ok {
  ok: boolean
}

export interface Ping {

}

export interface PingCommand {
  type: "ping"
  frame_id: string
  session_id?: string | null
  data: Ping
}

export interface Plan {
  plan_id: string
  revision: number
  status: "approved" | "completed" | "draft" | "superseded"
  goal: string
  steps: Array<PlanStep>
  active_todo_ids: Array<string>
  constraints: Array<string>
  open_questions: Array<string>
}

export interface PlanStep {
  id: string
  text: string
  todo_ids: Array<string>
}

export interface PlanUpdate {
  plan_id: string
  revision: number
  status: "approved" | "completed" | "draft" | "superseded"
  goal: string
  steps: Array<PlanStep>
  active_todo_ids: Array<string>
  constraints: Array<string>
  open_questions: Array<string>
}

export interface PlanUpdateFrame {
  type: "plan_update"
  session_id: string
  run_id: string | null
  n: number
  ts: number
  data: PlanUpdate
}

/** Prices of a request with more than `above` tokens of input, for all of its tokens. */
export interface PriceTier {
  above: number
  input: number | null
  output: number | null
  cache_read: number | null
  cache_write: number | null
}

/** US dollars per million tokens; `None` where unknown. `tiers` are those of longer requests, the lowest first; what a tier does not tell is as below it. */
export interface Prices {
  input?: number | null
  output?: number | null
  cache_read?: number | null
  cache_write?: number | null
  tiers?: Array<PriceTier>
}

export interface Question {
  question_id: string
  text: string
  choices: Array<string>
}

export interface QuestionFrame {
  type: "question"
  session_id: string
  run_id: string | null
  n: number
  ts: number
  data: Question
}

export interface QueueEdit {
  client_id: string
  message_id: string
  text?: string | null
  remove?: boolean
}

export interface QueueEditCommand {
  type: "queue_edit"
  frame_id: string
  session_id?: string | null
  data: QueueEdit
}

export interface QueueUpdate {
  queue: Array<QueuedSend>
}

export interface QueueUpdateFrame {
  type: "queue_update"
  session_id: string
  run_id: string | null
  n: number
  ts: number
  data: QueueUpdate
}

export interface QueuedSend {
  message_id: string
  text: string
}

/** `checks` maps a part of the house to `ok` or to what is wrong with it. */
export interface Ready {
  ready: boolean
  checks: Record<string, string>
}

export interface Regenerate {
  client_id: string
  message_id: string
  level?: string | null
  model?: string | null
}

export interface RegenerateCommand {
  type: "regenerate"
  frame_id: string
  session_id?: string | null
  data: Regenerate
}

/** What was asked of the thinking, and what is sent for it. `wire` holds the request fields that carry the level, as they stand in the body; `notes` are sentences for people: what was moved, clamped or left out, and why. `effective` is a level or `unset` when nothing is sent and the vendor's default applies. */
export interface Resolution {
  requested: string
  source: "agent" | "model" | "session" | "switch" | "turn"
  effective: string
  wire: Record<string, unknown>
  notes: Array<string>
}

/** What an undo or a redo did. `left` are files that were changed since and stay as they are. */
export interface Restored {
  run_id: string
  done: Array<string>
  left: Array<string>
}

/** `tool` is a name or a pattern of names; `pattern` is matched against the call's subject: the command, the path, the URL, else its arguments. `*` matches anything, also `/`. */
export interface Rule {
  tool: string
  action: "allow" | "ask" | "deny"
  pattern: string
}

/** The files a run changed. `state` is `open` while it runs, `undone` after an undo. */
export interface RunChanges {
  run_id: string
  state: "done" | "open" | "undone"
  files: Array<FileChange>
}

/** Where a run stops by itself; `null` is no limit. `steps` counts model calls of the main loop, `seconds` the time since this attempt at the run began, `tokens` and `cost` (US dollars) this run's sums. `thinking_seconds` and `thinking_tokens` (estimated from what is shown) end one call's thinking: the model then answers with what there is. */
export interface RunLimits {
  steps: number | null
  seconds: number | null
  tokens: number | null
  cost: number | null
  thinking_seconds: number | null
  thinking_tokens: number | null
}

export interface RunStart {
  model: string
  level: LevelState
  mode: "build" | "plan"
  user_message_id: string | null
}

export interface RunStartFrame {
  type: "run_start"
  session_id: string
  run_id: string | null
  n: number
  ts: number
  data: RunStart
}

/** How answers are drawn; `null`: as the vendor does by itself. */
export interface Sampling {
  max_tokens: number | null
  temperature: number | null
  top_p: number | null
}

/** A message that was found: `snippet` is plain text, `marks` the places (start, end), in code points of it, of what was looked for. */
export interface SearchHit {
  session_id: string
  title: string
  message_id: string
  role: string
  scope: "answer" | "thought"
  snippet: string
  marks: Array<[number, number]>
  created_at: number
}

/** Newest first. `more`: there are further hits beyond the limit. */
export interface SearchResult {
  hits: Array<SearchHit>
  more: boolean
}

/** One part of a message as a client sees it, in order. Fields not of its type are null. */
export interface Segment {
  type: string
  id: string
  text: string | null
  kind: string | null
  started_at: number | null
  duration_ms: number | null
  tokens: number | null
  interrupted: boolean
  call_id: string | null
  name: string | null
  arguments: string | null
  status: string | null
  summary: string | null
  result_ref: string | null
  pictures: Array<string>
  truncated: boolean
  data: unknown
}

/** A new turn; queues while a run is on. `level`, `mode` and `thinking_limit` hold for this turn only. `/name arguments` sends the command of that name. */
export interface Send {
  client_id: string
  text: string
  parts?: Array<Record<string, unknown>>
  level?: string | null
  mode?: "build" | "plan" | null
  thinking_limit?: ThinkingLimit | null
}

/** A new turn; queues while a run is on. `level`, `mode` and `thinking_limit` hold for this turn only. `/name arguments` sends the command of that name. */
export interface SendCommand {
  type: "send"
  frame_id: string
  session_id?: string | null
  data: Send
}

export type ServerFrame = RunStartFrame | ThinkingStartFrame | ThinkingDoneFrame | ContentStartFrame | ContentDoneFrame | ToolCallStartFrame | ToolCallDoneFrame | ToolResultFrame | SkillStartFrame | SkillProgressFrame | SkillEndFrame | TodoUpdateFrame | PlanUpdateFrame | TokenUpdateFrame | ApprovalRequestFrame | QuestionFrame | WaitResolvedFrame | LevelUpdateFrame | ModeUpdateFrame | ModelUpdateFrame | QueueUpdateFrame | CompactionStartFrame | CompactionDoneFrame | NoticeFrame | MessageAddedFrame | SessionUpdateFrame | DoneFrame | ThinkingDeltaFrame | ContentDeltaFrame | ToolCallDeltaFrame | SnapshotFrame | AckFrame | ErrorFrame | ListFrame | HeartbeatFrame

/** A new session. `workspace` is an allowed root or a folder below one; without it the session gets a folder of its own. Without `model` the agent's or else the default model answers. `approvals` are rules for calls of this session, after those for all; the last match wins. `agent` is one of the config folder, `prompt` the person's own words for this session's system text. What is `null` is the agent's choice, else the vendor's. */
export interface SessionCreate {
  model?: string | null
  level?: string | null
  mode?: "build" | "plan"
  title?: string | null
  workspace?: string | null
  language?: "en" | "zh" | null
  approvals?: Array<Rule>
  agent?: string | null
  prompt?: string | null
  max_tokens?: number | null
  temperature?: number | null
  top_p?: number | null
  thinking_limit?: ThinkingLimit | null
  client_id?: string | null
}

/** A sibling that shares the messages up to and including `message_id` (all when null). */
export interface SessionFork {
  message_id?: string | null
  client_id?: string | null
}

/** A session in the list. */
export interface SessionItem {
  id: string
  title: string
  model: string | null
  mode: "build" | "plan"
  created_at: number
  updated_at: number
  parent_id: string | null
  archived: boolean
  isRunning: boolean
  waiting: boolean
  unread: boolean
  lastMessage: string | null
  todoSummary: TodoSummary
  head: number
}

/** Newest first. `n` is the list's own counter: subscribe with `{list: true, since: n}`. */
export interface SessionList {
  sessions: Array<SessionItem>
  n: number
}

/** Fields left out stay as they are, `null` goes back to the default. `workspace` can change before the first tool call only. A new `agent` (`null`: the built-in one) brings its model and is in force from the next turn on, like a new `prompt`. `workspace_trusted`: the commands and skills that the session's folder brings are read. */
export interface SessionPatch {
  title?: string
  archived?: boolean
  workspace?: string
  approvals?: Array<Rule>
  agent?: string | null
  prompt?: string | null
  max_tokens?: number | null
  temperature?: number | null
  top_p?: number | null
  thinking_limit?: ThinkingLimit | null
  workspace_trusted?: boolean
}

/** A session's line in the sidebar changed; fields left out did not. */
export interface SessionUpdate {
  title?: string
  lastMessage?: string
  isRunning?: boolean
  waiting?: boolean
  unread?: boolean
  todoSummary?: TodoSummary
  updated_at?: number
  deleted?: boolean
}

/** A session's line in the sidebar changed; fields left out did not. */
export interface SessionUpdateFrame {
  type: "session_update"
  session_id: string
  run_id: string | null
  n: number
  ts: number
  data: SessionUpdate
}

/** One session, whole: what stands on the page beside its messages. */
export interface SessionView {
  id: string
  title: string
  model: string | null
  mode: "build" | "plan"
  created_at: number
  updated_at: number
  parent_id: string | null
  archived: boolean
  isRunning: boolean
  waiting: boolean
  unread: boolean
  lastMessage: string | null
  todoSummary: TodoSummary
  head: number
  level: LevelState
  workspace: string
  workspace_locked: boolean
  forked_at: string | null
  run_id: string | null
  todos: Array<Todo>
  plan: Plan | null
  tokens: TokenUpdate | null
  queue: Array<QueuedSend>
  waits: Array<Wait>
  approvals: Array<Rule>
  agent: string | null
  prompt: string | null
  max_tokens: number | null
  temperature: number | null
  top_p: number | null
  thinking_limit: ThinkingLimit | null
  workspace_trusted: boolean
}

export interface SetMode {
  client_id: string
  mode: "build" | "plan"
}

export interface SetModeCommand {
  type: "set_mode"
  frame_id: string
  session_id?: string | null
  data: SetMode
}

export interface SetModel {
  client_id: string
  model: string
}

export interface SetModelCommand {
  type: "set_model"
  frame_id: string
  session_id?: string | null
  data: SetModel
}

export interface SetThinkingLevel {
  client_id: string
  level: string
}

export interface SetThinkingLevelCommand {
  type: "set_thinking_level"
  frame_id: string
  session_id?: string | null
  data: SetThinkingLevel
}

/** Fields left out stay as they are; `null` goes back to the default. */
export interface SettingsPatch {
  default_model?: string | null
  language?: "en" | "zh" | null
  thinking_enabled?: boolean
  workspace_roots?: Array<string>
  approvals?: Array<Rule>
  limits?: RunLimits
  sandbox?: boolean
  shell_network?: boolean
  web_hosts?: Array<string>
  search_engine?: "brave" | "none" | "searxng" | "tavily" | "vendor" | null
  searxng_url?: string | null
  trusted_folders?: Array<string>
  helper_model?: string | null
}

/** `sandbox` is what was chosen; `sandbox_state` what commands get: `missing` where no sandbox can be had here (they are refused), `off` where the person did without. `search_engine` and `searxng_url` are what was chosen; `search_in_use` is who is asked, null where nobody can be (`web_search` is not offered then). */
export interface SettingsView {
  version: string
  data_dir: string
  config_dir: string
  default_model: string | null
  language: string | null
  thinking_enabled: boolean
  workspace_roots: Array<string>
  approvals: Array<Rule>
  limits: RunLimits
  sandbox: boolean
  sandbox_state: "missing" | "off" | "on"
  shell_network: boolean
  web_hosts: Array<string>
  search_engine: "brave" | "none" | "searxng" | "tavily" | "vendor" | null
  searxng_url: string | null
  search_in_use: "brave" | "none" | "searxng" | "tavily" | "vendor" | null
  trusted_folders: Array<string>
  helper_model: string | null
}

export interface SkillEnd {
  skill_id: string
  status: "done" | "error"
  result: string
  result_type: "diff" | "error" | "file" | "image" | "json" | "markdown" | "table"
}

export interface SkillEndFrame {
  type: "skill_end"
  session_id: string
  run_id: string | null
  n: number
  ts: number
  data: SkillEnd
}

/** The skills of a session, or of any. `untrusted`: its folder has skills that stay unread until the person trusts that folder; `problems` are those that cannot be used, in sentences. */
export interface SkillList {
  skills: Array<SkillView>
  untrusted: boolean
  problems: Array<string>
}

export interface SkillProgress {
  skill_id: string
  step: string | null
  detail: string | null
  percent: number | null
}

export interface SkillProgressFrame {
  type: "skill_progress"
  session_id: string
  run_id: string | null
  n: number
  ts: number
  data: SkillProgress
}

export interface SkillStart {
  skill_id: string
  name: string
  label: string
}

export interface SkillStartFrame {
  type: "skill_start"
  session_id: string
  run_id: string | null
  n: number
  ts: number
  data: SkillStart
}

/** A skill as the settings show it. */
export interface SkillView {
  name: string
  label: string
  description: string
  forked: boolean
  source: "built_in" | "person" | "project"
}

/** A block of the running run, with its whole text so far; `done` when it is closed. */
export interface SnapshotBlock {
  message_id: string
  block_id: string
  attempt: number
  kind: "content" | "thinking" | "tool_call"
  text: string
  started_at: number | null
  done: boolean
  call_id: string | null
  name: string | null
}

/** Everything a client needs when the fact log no longer reaches back to where it was. */
export interface SnapshotData {
  n: number
  blocks: Array<SnapshotBlock>
  todos: Array<Todo>
  plan: Plan | null
  tokens: TokenUpdate | null
  waits: Array<Wait>
  queue: Array<QueuedSend>
  level: LevelState | null
  mode: "build" | "plan"
  is_running: boolean
}

export interface SnapshotFrame {
  session_id: string
  run_id: string | null
  data: SnapshotData
  type: "snapshot"
}

/** A sum over model calls. `key` is the day (`2026-12-01`), the model, the session or the run. Input includes what was read from and written to the vendor's cache, output includes thinking. A number is `null` where no call told it; `untold` counts calls without any count of tokens (most were stopped), `unpriced` those whose cost (US dollars) is not known. */
export interface Spent {
  key: string
  calls: number
  input_tokens: number | null
  output_tokens: number | null
  reasoning_tokens: number | null
  cache_read_tokens: number | null
  cache_write_tokens: number | null
  untold: number
  cost: number | null
  unpriced: number
}

export interface Steer {
  client_id: string
  text: string
}

export interface SteerCommand {
  type: "steer"
  frame_id: string
  session_id?: string | null
  data: Steer
}

/** Follow a session from fact `since` on; `blocks` maps open blocks to known lengths. */
export interface Subscribe {
  since?: number
  blocks?: Record<string, number>
  list?: boolean
}

/** Follow a session from fact `since` on; `blocks` maps open blocks to known lengths. */
export interface SubscribeCommand {
  type: "subscribe"
  frame_id: string
  session_id?: string | null
  data: Subscribe
}

/** New text of a block: sent at once, without number. */
export interface ThinkingDeltaFrame {
  type: "thinking_delta"
  session_id: string
  run_id: string
  data: DeltaData
}

/** `length` counts code points; `tokens` is null unless the vendor tells. */
export interface ThinkingDone {
  message_id: string
  block_id: string
  attempt: number
  kind: "full" | "redacted" | "summary" | "tagged"
  duration_ms: number | null
  tokens: number | null
  length: number
  interrupted: boolean
}

/** `length` counts code points; `tokens` is null unless the vendor tells. */
export interface ThinkingDoneFrame {
  type: "thinking_done"
  session_id: string
  run_id: string | null
  n: number
  ts: number
  data: ThinkingDone
}

/** Where one call's thinking ends and the answer begins: after so many seconds or (estimated) tokens, whichever comes first. `null` is no limit. */
export interface ThinkingLimit {
  seconds: number | null
  tokens: number | null
}

export interface ThinkingStart {
  message_id: string
  block_id: string
  attempt: number
  kind: "full" | "redacted" | "summary" | "tagged"
  started_at: number
}

export interface ThinkingStartFrame {
  type: "thinking_start"
  session_id: string
  run_id: string | null
  n: number
  ts: number
  data: ThinkingStart
}

export interface Todo {
  id: string
  content: string
  status: "cancelled" | "completed" | "in_progress" | "pending"
  origin: "agent" | "person" | "plan"
  plan_revision: number | null
  reason: string | null
}

export interface TodoEdit {
  client_id: string
  todos: Array<Record<string, unknown>>
}

export interface TodoEditCommand {
  type: "todo_edit"
  frame_id: string
  session_id?: string | null
  data: TodoEdit
}

export interface TodoSummary {
  total: number
  pending: number
  in_progress: number
  completed: number
  cancelled: number
}

export interface TodoUpdate {
  todos: Array<Todo>
  summary: TodoSummary
}

export interface TodoUpdateFrame {
  type: "todo_update"
  session_id: string
  run_id: string | null
  n: number
  ts: number
  data: TodoUpdate
}

/** Sums over this run's calls, interrupted ones too; `cost` in US dollars. */
export interface TokenCount {
  inputTokens: number | null
  outputTokens: number | null
  totalTokens: number | null
  reasoningTokens: number | null
  cachedTokens: number | null
  apiCalls: number
  cost: number | null
}

/** A token for the compatible routes, `/v1/…`, and nothing else. `models` are patterns of model references (`deepseek/*`), all when empty; `per_minute` limits its calls, `null` is no limit; `days` is how long it holds, `null` for good. */
export interface TokenCreate {
  name: string
  models?: Array<string>
  per_minute?: number | null
  days?: number | null
}

/** `text` is shown this once: only its digest is kept. */
export interface TokenCreated {
  token: TokenView
  text: string
}

export interface TokenList {
  tokens: Array<TokenView>
}

/** The one-time token of the URL fragment, traded for a cookie. */
export interface TokenPost {
  token: string
}

export interface TokenUpdate {
  current: TokenCount
  context: ContextUse
}

export interface TokenUpdateFrame {
  type: "token_update"
  session_id: string
  run_id: string | null
  n: number
  ts: number
  data: TokenUpdate
}

/** A token without its text, which is known only to whoever it was given to. Times are milliseconds since 1970 UTC. */
export interface TokenView {
  id: string
  name: string
  models: Array<string>
  per_minute: number | null
  created_at: number
  expires_at: number | null
}

/** New text of a block: sent at once, without number. */
export interface ToolCallDeltaFrame {
  type: "tool_call_delta"
  session_id: string
  run_id: string
  data: DeltaData
}

/** `arguments` is JSON text as received; `length` counts its code points. */
export interface ToolCallDone {
  call_id: string
  message_id: string
  block_id: string
  attempt: number
  name: string
  arguments: string
  length: number
  interrupted: boolean
}

/** `arguments` is JSON text as received; `length` counts its code points. */
export interface ToolCallDoneFrame {
  type: "tool_call_done"
  session_id: string
  run_id: string | null
  n: number
  ts: number
  data: ToolCallDone
}

export interface ToolCallStart {
  call_id: string
  message_id: string
  block_id: string
  attempt: number
  name: string
  effect: Array<"execute" | "interact" | "network" | "read" | "write">
}

export interface ToolCallStartFrame {
  type: "tool_call_start"
  session_id: string
  run_id: string | null
  n: number
  ts: number
  data: ToolCallStart
}

/** `problems` are packages, servers and hooks that could not be used, one sentence each. */
export interface ToolList {
  tools: Array<ToolView>
  problems: Array<string>
}

/** `summary` is what the model was shown, cut for the card; `result_ref` a blob's sha256, as `pictures` are. */
export interface ToolResult {
  call_id: string
  message_id: string
  name: string
  status: "denied" | "error" | "interrupted" | "ok" | "unknown"
  summary: string
  result_ref: string | null
  truncated: boolean
  duration_ms: number | null
  pictures: Array<string>
}

/** `summary` is what the model was shown, cut for the card; `result_ref` a blob's sha256, as `pictures` are. */
export interface ToolResultFrame {
  type: "tool_result"
  session_id: string
  run_id: string | null
  n: number
  ts: number
  data: ToolResult
}

/** A tool a session's turns can have. `source` is `built in`, `mcp:NAME` or `package:NAME`. */
export interface ToolView {
  name: string
  description: string
  effects: Array<"execute" | "interact" | "network" | "read" | "write">
  source: string
}

export interface Unsubscribe {
  list?: boolean
}

export interface UnsubscribeCommand {
  type: "unsubscribe"
  frame_id: string
  session_id?: string | null
  data: Unsubscribe
}

/** Tokens of one model call, normalised. `input_tokens` include cached reads and writes; `output_tokens` include reasoning. `None` means the vendor did not tell: it is never an estimate and never zero by default. */
export interface Usage {
  input_tokens: number | null
  output_tokens: number | null
  reasoning_tokens: number | null
  cache_read_tokens: number | null
  cache_write_tokens: number | null
}

/** Days newest first, all else the largest cost or number of tokens first. */
export interface UsageReport {
  by: "day" | "model" | "run" | "session"
  rows: Array<Spent>
  total: Spent
}

/** A vendor silu knows: what a key alone would open. */
export interface VendorView {
  id: string
  label: string
  key_env: string | null
  has_key: boolean
  key_source: string | null
}

/** Something the run waits for: `type` is `approval_request` or `question`. */
export interface Wait {
  type: "approval_request" | "question"
  data: Record<string, unknown>
}

/** An approval or a question has been answered; `decision` says how. */
export interface WaitResolved {
  wait_id: string
  decision: string
}

/** An approval or a question has been answered; `decision` says how. */
export interface WaitResolvedFrame {
  type: "wait_resolved"
  session_id: string
  run_id: string | null
  n: number
  ts: number
  data: WaitResolved
}
