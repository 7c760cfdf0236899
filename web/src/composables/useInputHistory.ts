// Earlier messages of the person's in this conversation, brought back into the field by the arrow
// keys as a shell does.
import { computed, ref, watch, type Ref } from 'vue'

import { useChat } from '@/stores/chat'

export function useInputHistory(text: Ref<string>) {
  const chat = useChat()
  const said = computed(() =>
    (chat.current?.turns ?? [])
      .map((turn) => turn.user?.text ?? '')
      .filter((words, index, all) => words !== '' && words !== all[index - 1]),
  )
  /** How many steps back; 0 is what the person is writing. */
  const back = ref(0)
  const recalled = () => said.value.at(-back.value) ?? ''

  watch([() => chat.currentId, text], () => {
    if (back.value > 0 && text.value !== recalled()) back.value = 0
  })

  /** True when the key walked through the history: in an empty field, or in what it brought. */
  function onKey(event: KeyboardEvent): boolean {
    const step = { ArrowUp: 1, ArrowDown: -1 }[event.key]
    if (step === undefined || event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) {
      return false
    }
    if (back.value === 0 && (text.value !== '' || step === -1)) return false
    const next = back.value + step
    if (next > said.value.length) return true
    back.value = next
    text.value = next === 0 ? '' : recalled()
    event.preventDefault()
    return true
  }

  return { onKey }
}
