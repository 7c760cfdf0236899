// The way back for a client the log does not reach any more, and what a client says it knows.
import { blockOf, closeTurn, setText, turnOfRun } from './turns'
import type { SnapshotBlock, SnapshotFrame } from './frames'
import { blocksOf, summarise, type SessionModel, type Turn } from './model'

/** Everything the log no longer holds, at once; earlier turns are read again from the history. */
export function applySnapshot(model: SessionModel, frame: SnapshotFrame): void {
  const { data } = frame
  const runId = data.is_running ? frame.run_id : null
  Object.assign(model, {
    n: data.n,
    todos: data.todos,
    todoSummary: summarise(data.todos),
    plan: data.plan,
    tokens: data.tokens,
    waits: data.waits,
    queue: data.queue,
    mode: data.mode,
    level: data.level ?? model.level,
    running: data.is_running,
    runId,
  })
  for (const turn of model.turns) {
    if (turn.status !== 'running' || (runId !== null && turn.runId === runId)) continue
    turn.status = null
    closeTurn(turn, null, false)
  }
  if (runId === null && data.blocks.length === 0) return
  const turn = turnOfRun(model, frame.run_id)
  if (runId !== null) turn.status = 'running'
  for (const item of data.blocks) takeSnapshotBlock(turn, item)
}

function takeSnapshotBlock(turn: Turn, item: SnapshotBlock): void {
  const block = blockOf(turn, item, item.kind)
  if (!block) return
  setText(block, item.text)
  block.done = item.done
  block.startedAt = item.started_at ?? block.startedAt
  block.callId = item.call_id ?? block.callId
  block.name = item.name ?? block.name
}

/** What is known of the blocks that a resume may speak of, for `subscribe`. */
export function knownBlocks(model: SessionModel): Record<string, number> {
  const known: Record<string, number> = {}
  const replaying = model.n < model.replayUntil
  for (const turn of model.turns) {
    if (!replaying && turn.status !== 'running') continue
    for (const block of blocksOf(turn)) known[block.id] = block.length
  }
  return known
}
