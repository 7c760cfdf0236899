// Where words occur in a conversation, and in what is drawn of it.
import { blocksOf, type Turn } from '@/transport/model'

export interface Match {
  turnKey: string
  messageId: string
  /** Set where it is in a thought, which may be folded. */
  thoughtId: string | null
  /** Which occurrence in its turn, from 0. */
  nth: number
}

function count(text: string, words: string): number {
  return words === '' ? 0 : text.toLowerCase().split(words).length - 1
}

/** Every occurrence in what was said and answered, and in thoughts where they are wanted. */
export function matchesIn(turns: readonly Turn[], query: string, thoughts: boolean): Match[] {
  const words = query.trim().toLowerCase()
  const found: Match[] = []
  for (const turn of turns) {
    let nth = 0
    const add = (text: string, messageId: string, thoughtId: string | null) => {
      for (let left = count(text, words); left > 0; left -= 1) {
        found.push({ turnKey: turn.key, messageId, thoughtId, nth })
        nth += 1
      }
    }
    if (turn.user) add(turn.user.text, turn.user.id, null)
    for (const block of blocksOf(turn)) {
      if (block.kind === 'content') add(block.text, block.messageId, null)
      if (block.kind === 'thinking' && thoughts) add(block.text, block.messageId, block.id)
    }
  }
  return found
}

/** The places of the words in an element's text, in order; text across nodes is not joined. */
export function rangesIn(root: Node, query: string): Range[] {
  const words = query.trim().toLowerCase()
  const ranges: Range[] = []
  if (words === '') return ranges
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const text = (node.nodeValue ?? '').toLowerCase()
    for (let at = text.indexOf(words); at !== -1; at = text.indexOf(words, at + words.length)) {
      const range = document.createRange()
      range.setStart(node, at)
      range.setEnd(node, at + words.length)
      ranges.push(range)
    }
  }
  return ranges
}
