// Keeps the open sessions level with the server: routes frames, notices holes, asks for the rest.
import { applyDelta, applyFact, type Outcome } from './apply'
import { isDelta, isFact, type FactFrame } from './frames'
import type { SessionModel } from './model'
import { applySnapshot, knownBlocks } from './snapshot'

import type { ListFrame, ServerFrame } from '@/generated/protocol'

export interface FollowHost {
  subscribe(sessionId: string, since: number, blocks: Record<string, number>): void
  /** The log did not reach back: what lies before the snapshot must be read again. */
  reload(sessionId: string): void
  list(frame: ListFrame): void
  /** Server time: of a heartbeat it is now, of a fact it may be long past. */
  time(ts: number, now: boolean): void
  /** A fact was applied for the first time (status line, title mark). */
  happened(model: SessionModel, frame: ServerFrame): void
}

export class Follower {
  private readonly models = new Map<string, SessionModel>()
  /** Fact number a resume was asked from: a hole that stays is stepped over, not asked for ever. */
  private readonly askedFacts = new Map<string, number>()
  /** Sessions whose missing text has been asked for and has not come yet. */
  private readonly askedText = new Set<string>()

  constructor(private readonly host: FollowHost) {}

  add(model: SessionModel): void {
    this.models.set(model.id, model)
    this.subscribe(model)
  }

  remove(sessionId: string): void {
    this.models.delete(sessionId)
    this.askedFacts.delete(sessionId)
    this.askedText.delete(sessionId)
  }

  /** After a reconnect: everything again, from what is known. */
  resumeAll(): void {
    this.askedFacts.clear()
    this.askedText.clear()
    for (const model of this.models.values()) this.subscribe(model)
  }

  take(frames: readonly ServerFrame[]): void {
    for (const frame of frames) this.one(frame)
  }

  private one(frame: ServerFrame): void {
    if (frame.type === 'sessions') {
      this.host.list(frame)
      return
    }
    if (frame.type === 'heartbeat') {
      this.host.time(frame.ts, true)
      return
    }
    if (!('session_id' in frame)) return
    const model = this.models.get(frame.session_id)
    if (!model) return
    if (frame.type === 'snapshot') {
      const behind = frame.data.n > Math.max(model.n, model.replayUntil)
      applySnapshot(model, frame)
      this.askedText.delete(model.id)
      if (behind) this.host.reload(model.id)
      this.host.happened(model, frame)
    } else if (isDelta(frame)) {
      this.text(model, applyDelta(model, frame))
    } else if (isFact(frame)) {
      this.host.time(frame.ts, false)
      this.fact(model, frame)
    }
  }

  private fact(model: SessionModel, frame: FactFrame): void {
    const hole = frame.n > model.n + 1
    if (hole) {
      if (this.askedFacts.get(model.id) !== model.n) {
        this.askedFacts.set(model.id, model.n)
        this.subscribe(model)
        return
      }
      model.n = frame.n - 1
    }
    const outcome = applyFact(model, frame)
    if (outcome !== 'ignored') this.host.happened(model, frame)
    if (outcome === 'resume') this.text(model, outcome)
  }

  private text(model: SessionModel, outcome: Outcome): void {
    if (outcome === 'done') this.askedText.delete(model.id)
    if (outcome !== 'resume' || this.askedText.has(model.id)) return
    this.askedText.add(model.id)
    this.subscribe(model)
  }

  private subscribe(model: SessionModel): void {
    if (model.n < 0) return
    this.host.subscribe(model.id, model.n, knownBlocks(model))
  }
}
