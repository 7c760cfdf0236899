// The models that can be chosen, and what each can do.
import { defineStore } from 'pinia'
import { computed, ref } from 'vue'

import type { ErrorInfo, ModelInfo } from '@/generated/protocol'
import { api, ApiError } from '@/lib/api'

async function keyedVendors(): Promise<string[]> {
  const { vendors } = await api.endpoints()
  return vendors.filter((vendor) => vendor.key_env !== null && !vendor.has_key).map((vendor) => vendor.label).slice(0, 4)
}

export const useModels = defineStore('models', () => {
  const models = ref<ModelInfo[]>([])
  const defaultRef = ref<string | null>(null)
  const demoOnly = ref(false)
  const problems = ref<string[]>([])
  const error = ref<ErrorInfo | null>(null)
  const loading = ref(false)
  const loaded = ref(false)

  /** Vendors that a key alone would open, for the first screen. */
  const keyed = ref<string[]>([])

  const byRef = computed(() => new Map(models.value.map((model) => [model.ref, model])))

  async function load(refresh = false): Promise<void> {
    loading.value = true
    try {
      const list = await api.models(refresh)
      models.value = list.models
      defaultRef.value = list.default
      demoOnly.value = list.demo_only
      problems.value = list.problems
      error.value = null
      loaded.value = true
      if (list.demo_only) keyed.value = await keyedVendors()
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure
      error.value = failure.info
    } finally {
      loading.value = false
    }
  }

  function find(ref: string | null): ModelInfo | null {
    return ref === null ? null : (byRef.value.get(ref) ?? null)
  }

  /** A name for people, also for a model that is no longer offered. */
  function label(ref: string | null): string {
    if (ref === null) return ''
    return find(ref)?.label ?? ref.slice(ref.indexOf('/') + 1)
  }

  return { models, defaultRef, demoOnly, keyed, problems, error, loading, loaded, load, find, label }
})
