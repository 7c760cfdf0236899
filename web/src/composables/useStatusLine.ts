// What happened, in one word, for people who listen to the page.
import { useI18n } from 'vue-i18n'

import type { ServerFrame } from '@/generated/protocol'
import { useChat } from '@/stores/chat'
import { useConnection } from '@/stores/connection'
import { useUi } from '@/stores/ui'

export function useStatusLine(): void {
  const { t } = useI18n()
  const ui = useUi()
  const chat = useChat()
  const connection = useConnection()

  function words(frame: ServerFrame): string | null {
    switch (frame.type) {
      case 'thinking_start':
        return t('app.status.thinking')
      case 'content_start':
        return t('app.status.answering')
      case 'tool_call_done':
        return t('app.status.tool', { name: frame.data.name })
      case 'done':
        if (frame.data.status === 'cancelled') return t('app.status.stopped')
        return t(frame.data.status === 'failed' ? 'app.status.failed' : 'app.status.done')
      default:
        return null
    }
  }

  connection.onHappened = (model, frame) => {
    if (model.id !== chat.currentId) return
    const text = words(frame)
    if (text !== null) ui.status = text
  }
}
