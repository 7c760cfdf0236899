// The agents that can answer, as the person keeps them in files.
import { defineStore } from 'pinia'
import { computed, ref } from 'vue'

import type { Agent } from '@/generated/protocol'
import { api, ApiError } from '@/lib/api'

export const useAgents = defineStore('agents', () => {
  const agents = ref<Agent[]>([])
  const problems = ref<string[]>([])
  const files = computed(() => agents.value.filter((agent) => agent.source === 'file'))

  /** Read anew: the files may have been changed. */
  async function load(): Promise<void> {
    try {
      const list = await api.agents()
      agents.value = list.agents
      problems.value = list.problems
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      problems.value = [error.message]
    }
  }

  return { agents, problems, files, load }
})
