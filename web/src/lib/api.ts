// The gateway's HTTP interface. Every failure becomes an ApiError that a person can act on.
import type {
  AgentList,
  ApprovalList,
  BlobRef,
  CallList,
  ChangeList,
  CommandList,
  ContextReport,
  EndpointCreate,
  EndpointList,
  EndpointReport,
  EndpointTry,
  EchoList,
  ErrorInfo,
  FileText,
  Learned,
  LearnedList,
  McpReport,
  McpServerCreate,
  McpServerList,
  McpServerPatch,
  McpServerView,
  MessagePage,
  ModelList,
  Restored,
  SearchResult,
  SessionCreate,
  SessionFork,
  SessionList,
  SessionPatch,
  SessionView,
  SettingsPatch,
  SettingsView,
  SkillList,
  TokenCreate,
  TokenCreated,
  TokenList,
  ToolList,
  UsageReport,
} from '@/generated/protocol'
import { newId } from '@/lib/ids'

export class ApiError extends Error {
  constructor(readonly info: ErrorInfo) {
    super(info.message)
  }

  get status(): number | null {
    return this.info.status
  }
}

function plainError(message: string, status: number | null, kind: string): ApiError {
  return new ApiError({
    kind,
    message,
    setting: null,
    status,
    code: null,
    request_id: null,
    retryable: status === null || status >= 500,
  })
}

async function readError(response: Response): Promise<ApiError> {
  try {
    const body = (await response.json()) as { error?: ErrorInfo }
    if (body.error) return new ApiError({ ...body.error, status: response.status })
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  return plainError(`HTTP ${response.status}`, response.status, 'server')
}

async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  // A deletion may be said while the page is being left.
  const init: RequestInit = { method, credentials: 'same-origin', keepalive: method === 'DELETE' }
  if (body instanceof Uint8Array) {
    init.headers = { 'content-type': 'application/octet-stream' }
    init.body = body as Uint8Array<ArrayBuffer>
  } else if (body !== undefined) {
    init.headers = { 'content-type': 'application/json' }
    init.body = JSON.stringify(body)
  }
  let response: Response
  try {
    response = await fetch(`/api/v1${path}`, init)
  } catch {
    throw plainError('', null, 'unreachable')
  }
  if (!response.ok) throw await readError(response)
  if (response.status === 204) return undefined as T
  return (await response.json()) as T
}

const at = encodeURIComponent
const ofRun = (runId: string | null) => (runId === null ? '' : `?run_id=${at(runId)}`)

/** Keeps a file's bytes, to be attached to a message. */
async function putBlob(file: Blob, name: string): Promise<BlobRef> {
  const headers = { 'content-type': file.type || 'application/octet-stream' }
  const init: RequestInit = { method: 'POST', credentials: 'same-origin', body: file, headers }
  let response: Response
  try {
    response = await fetch(`/api/v1/blobs?name=${at(name)}`, init)
  } catch {
    throw plainError('', null, 'unreachable')
  }
  if (!response.ok) throw await readError(response)
  return (await response.json()) as BlobRef
}

/** How a conversation is saved: whole, or to be read with more or fewer of its thoughts. */
export type ExportForm = 'json' | 'answers' | 'summaries' | 'thoughts'
const EXPORTS: Record<ExportForm, string> = {
  json: 'format=json',
  answers: 'format=markdown',
  summaries: 'format=markdown&thoughts=summary',
  thoughts: 'format=markdown&thoughts=full',
}
export const exportUrl = (id: string, form: ExportForm) =>
  `/api/v1/sessions/${at(id)}/export?${EXPORTS[form]}`

export const api = {
  putBlob,
  login: (token: string) => call<undefined>('POST', '/auth', { token }),
  whoami: () => call<undefined>('GET', '/auth'),
  sessions: ({ archived = false, limit = 200 } = {}) =>
    call<SessionList>('GET', `/sessions?archived=${archived}&limit=${limit}`),
  session: (id: string) => call<SessionView>('GET', `/sessions/${at(id)}`),
  createSession: (body: SessionCreate) => call<SessionView>('POST', '/sessions', body),
  patchSession: (id: string, body: SessionPatch) =>
    call<SessionView>('PATCH', `/sessions/${at(id)}`, body),
  forkSession: (id: string, body: SessionFork) =>
    call<SessionView>('POST', `/sessions/${at(id)}/fork`, body),
  trashSession: (id: string) => call<unknown>('POST', `/sessions/${at(id)}/trash`),
  restoreSession: (id: string) => call<SessionView>('POST', `/sessions/${at(id)}/restore`),
  deleteSession: (id: string) => call<unknown>('DELETE', `/sessions/${at(id)}`),
  messages: (id: string, before?: string) =>
    call<MessagePage>(
      'GET',
      `/sessions/${at(id)}/messages${before ? `?before=${at(before)}` : ''}`,
    ),
  calls: (id: string) => call<CallList>('GET', `/sessions/${at(id)}/calls`),
  search: (words: string, sessionId?: string) =>
    call<SearchResult>(
      'GET',
      `/search?q=${at(words)}${sessionId === undefined ? '' : `&session_id=${at(sessionId)}`}`,
    ),
  echoed: (id: string, callId: string) =>
    call<EchoList>('GET', `/sessions/${at(id)}/calls/${at(callId)}/echoed`),
  file: (id: string, path: string) =>
    call<FileText>('GET', `/sessions/${at(id)}/file?path=${at(path)}`),
  changes: (id: string) => call<ChangeList>('GET', `/sessions/${at(id)}/changes`),
  /** Without a run: the newest that is not undone, and for `redo` the oldest undone last. */
  undo: (id: string, runId: string | null) =>
    call<Restored>('POST', `/sessions/${at(id)}/undo${ofRun(runId)}`),
  redo: (id: string, runId: string | null) =>
    call<Restored>('POST', `/sessions/${at(id)}/redo${ofRun(runId)}`),
  agents: () => call<AgentList>('GET', '/agents'),
  models: (refresh = false) => call<ModelList>('GET', `/models${refresh ? '?refresh=true' : ''}`),
  settings: () => call<SettingsView>('GET', '/settings'),
  patchSettings: (body: SettingsPatch) => call<SettingsView>('PATCH', '/settings', body),
  endpoints: () => call<EndpointList>('GET', '/endpoints'),
  addEndpoint: (body: EndpointCreate) => call<unknown>('POST', '/endpoints', body),
  removeEndpoint: (name: string) => call<unknown>('DELETE', `/endpoints/${at(name)}`),
  tryEndpoint: (body: EndpointTry) => call<EndpointReport>('POST', '/endpoints/test', body),
  usage: (by: UsageReport['by'], since: number) => {
    const east = -new Date(since).getTimezoneOffset()
    const zone = east < 0 ? `minutes_west=${-east}` : `minutes_east=${east}`
    return call<UsageReport>('GET', `/usage?by=${by}&since=${since}&${zone}`)
  },
  context: (id: string) => call<ContextReport>('GET', `/sessions/${at(id)}/context`),
  commands: (sessionId: string | null) =>
    call<CommandList>(
      'GET',
      `/commands${sessionId === null ? '' : `?session_id=${at(sessionId)}`}`,
    ),
  skills: () => call<SkillList>('GET', '/skills'),
  tokens: () => call<TokenList>('GET', '/tokens'),
  createToken: (body: TokenCreate) => call<TokenCreated>('POST', '/tokens', body),
  revokeToken: (id: string) => call<unknown>('DELETE', `/tokens/${at(id)}`),
  approvals: () => call<ApprovalList>('GET', '/approvals'),
  importSession: async (file: Blob) => {
    const body = await file.arrayBuffer()
    return call<SessionView>('POST', `/sessions/import?client_id=${newId()}`, new Uint8Array(body))
  },
  learned: () => call<LearnedList>('GET', '/learned'),
  forget: ({ endpoint, model, fact }: Learned) =>
    call<unknown>(
      'DELETE',
      `/learned?endpoint=${at(endpoint)}&model=${at(model)}&fact=${at(fact)}`,
    ),
  tools: () => call<ToolList>('GET', '/tools'),
  mcpServers: () => call<McpServerList>('GET', '/mcp/servers'),
  addMcpServer: (body: McpServerCreate) => call<McpReport>('POST', '/mcp/servers', body),
  patchMcpServer: (name: string, body: McpServerPatch) =>
    call<McpServerView>('PATCH', `/mcp/servers/${at(name)}`, body),
  removeMcpServer: (name: string) => call<unknown>('DELETE', `/mcp/servers/${at(name)}`),
  testMcpServer: (name: string) => call<McpReport>('POST', `/mcp/servers/${at(name)}/test`),
  saveKey: (vendor: string, key: string) => call<unknown>('PUT', `/keys/${at(vendor)}`, { key }),
}
