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

  /** Changes go one after another: a list or a group is made from what the last one left. */
  let last: Promise<unknown> = Promise.resolve()
  function change(patch: SettingsPatch | ((now: SettingsView) => SettingsPatch)): Promise<boolean> {
    const work = last.then(() => {
      const now = settings.value
      if (typeof patch !== 'function') return take(api.patchSettings(patch))
      return now === null ? false : take(api.patchSettings(patch(now)))
    })
    last = work.catch(() => false)
    return work
  }

  onMounted(() => void take(api.settings()))
  return {
    settings,
    failure,
    /** False when it was refused; `failure` then says why, and nothing has changed. */
    change,
  }
}
