// The server's settings for a pane: read when it opens, changed one by one.
import { onMounted, ref } from 'vue'

import type { ErrorInfo, SettingsPatch, SettingsView } from '@/generated/protocol'
import { api, ApiError } from '@/lib/api'

export function useSettings() {
  const settings = ref<SettingsView | null>(null)
  const failure = ref<ErrorInfo | null>(null)

  async function take(work: Promise<SettingsView>): Promise<boolean> {
    try {
      settings.value = await work
      failure.value = null
      return true
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      failure.value = error.info
      return false
    }
  }

  onMounted(() => void take(api.settings()))
  return {
    settings,
    failure,
    /** False when it was refused; `failure` then says why, and nothing has changed. */
    change: (patch: SettingsPatch) => take(api.patchSettings(patch)),
  }
}
