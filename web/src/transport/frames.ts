// The frames by what the page does with them.
import type {
  AckFrame,
  ErrorFrame,
  HeartbeatFrame,
  ListFrame,
  ServerFrame,
  SnapshotFrame,
} from '@/generated/protocol'

export type {
  ClientFrame,
  ContentDone,
  DeltaData,
  SnapshotBlock,
  SnapshotFrame,
  ThinkingDone,
  ToolCallDone,
} from '@/generated/protocol'

export type DeltaFrame = Extract<
  ServerFrame,
  { type: 'thinking_delta' | 'content_delta' | 'tool_call_delta' }
>
export type FactFrame = Extract<ServerFrame, { n: number; ts: number }>
export type OtherFrame = AckFrame | ErrorFrame | HeartbeatFrame | ListFrame | SnapshotFrame

export function isFact(frame: ServerFrame): frame is FactFrame {
  return 'n' in frame && 'ts' in frame
}

export function isDelta(frame: ServerFrame): frame is DeltaFrame {
  return (
    frame.type === 'thinking_delta' ||
    frame.type === 'content_delta' ||
    frame.type === 'tool_call_delta'
  )
}
