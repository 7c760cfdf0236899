// Files on their way to the next message: chosen, pasted or dropped, and kept by the server at once.
import { reactive, ref } from 'vue'
import { useI18n } from 'vue-i18n'

import { api, ApiError } from '@/lib/api'
import { useUi } from '@/stores/ui'
import type { Attachment } from '@/transport/model'

const PICTURES = /^image\/(png|jpeg|gif|webp)$/

/** By conversation, so that switching to another one and back loses none. */
const kept = reactive(new Map<string, Attachment[]>())

export function useAttachments(key: () => string) {
  const { t } = useI18n()
  const ui = useUi()
  /** Names of the files that are being sent to the server. */
  const uploading = ref<string[]>([])

  const list = (): Attachment[] => kept.get(key()) ?? []

  async function upload(file: File, name: string, to: string): Promise<void> {
    uploading.value.push(name)
    try {
      const blob = await api.putBlob(file, name)
      const mediaType = blob.media_type ?? file.type
      const kind = PICTURES.test(mediaType) ? 'image' : 'file'
      const others = (kept.get(to) ?? []).filter((item) => item.sha256 !== blob.sha256)
      kept.set(to, [...others, { kind, name, sha256: blob.sha256, mediaType, size: blob.size }])
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      ui.toast(t('attach.failed', { name, why: error.message || t('error.unreachable') }))
    } finally {
      uploading.value = uploading.value.filter((one) => one !== name)
    }
  }

  async function add(files: Iterable<File>): Promise<void> {
    const to = key()
    await Promise.all(
      [...files].map((file) => upload(file, file.name || t('attach.pasted'), to)),
    )
  }

  function remove(sha256: string): void {
    kept.set(key(), list().filter((item) => item.sha256 !== sha256))
  }

  /** Takes all of them for a message that is sent now. */
  function take(): Attachment[] {
    const taken = list()
    kept.delete(key())
    return taken
  }
  /** Back to the writer of a message that could not be sent. */
  function giveBack(to: string, items: Attachment[]): void {
    if (items.length > 0) kept.set(to, [...items, ...(kept.get(to) ?? [])])
  }

  return { list, uploading, add, remove, take, giveBack }
}
