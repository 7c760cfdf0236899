// Finding and closing the parts of a session: turns by run, messages, blocks by attempt.
import {
  blocksOf,
  newBlock,
  newTurn,
  type Block,
  type BlockKind,
  type Message,
  type SessionModel,
  type Turn,
} from './model'

import { closeSkills } from './skills'

import { codePoints } from '@/lib/text'

export function turnOfRun(model: SessionModel, runId: string | null): Turn {
  if (runId !== null) {
    const found = model.turns.findLast((turn) => turn.runId === runId)
    if (found) return found
  }
  const last = model.turns.at(-1)
  if (last && last.runId === null && last.status === null && last.messages.length === 0) {
    last.runId = runId
    return last
  }
  model.turns.push(newTurn(runId ?? `turn-${model.turns.length}`, runId))
  return model.turns.at(-1) as Turn
}

export function messageOf(turn: Turn, id: string): Message {
  const found = turn.messages.findLast((message) => message.id === id)
  if (found) return found
  turn.messages.push({ id, attempt: null, blocks: [] })
  return turn.messages.at(-1) as Message
}

/** Opens the attempt: false when a higher one has already been shown. */
export function enterAttempt(message: Message, attempt: number): boolean {
  if (message.attempt !== null && attempt < message.attempt) return false
  if (message.attempt !== null && attempt > message.attempt) {
    message.blocks = message.blocks.filter((block) => (block.attempt ?? attempt) >= attempt)
  }
  message.attempt = attempt
  return true
}

interface BlockRef {
  message_id: string
  block_id: string
  attempt: number
}

export function blockOf(turn: Turn, ref: BlockRef, kind: BlockKind): Block | null {
  const message = messageOf(turn, ref.message_id)
  if (!enterAttempt(message, ref.attempt)) return null
  const found = message.blocks.findLast((block) => block.id === ref.block_id)
  if (found) {
    found.kind = kind
    return found
  }
  const block = newBlock(ref.block_id, ref.message_id, kind)
  block.attempt = ref.attempt
  message.blocks.push(block)
  return message.blocks.at(-1) as Block
}

export function setText(block: Block, text: string): void {
  block.text = text
  block.length = codePoints(text)
}

/** Closes thoughts that are still open; the server's word on their duration may follow. */
export function endThinking(turn: Turn, ts: number | null, interrupted = false): void {
  for (const block of blocksOf(turn)) {
    if (block.kind !== 'thinking' || block.done) continue
    block.done = true
    block.interrupted ||= interrupted
    if (block.durationMs === null && block.startedAt !== null && ts !== null) {
      block.durationMs = Math.max(0, ts - block.startedAt)
    }
  }
}

/** The run is over or lost: nothing of it is open any more. */
export function closeTurn(turn: Turn, ts: number | null, interrupted: boolean): void {
  endThinking(turn, ts, interrupted)
  closeSkills(turn)
  for (const block of blocksOf(turn)) {
    if (!block.done) block.interrupted ||= interrupted
    block.done = true
  }
}

export function callBlock(turn: Turn, callId: string): Block | null {
  let found: Block | null = null
  for (const block of blocksOf(turn)) if (block.callId === callId) found = block
  return found
}

