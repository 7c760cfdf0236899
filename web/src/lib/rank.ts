/** What fits the words, best first: a word's beginning before its middle, else in the given order.
 * Every word has to occur; no word fits all. */
export function rank<T>(items: readonly T[], query: string, textOf: (item: T) => string): T[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return [...items]
  const scored = items.flatMap((item, index) => {
    const score = scoreOf(textOf(item).toLowerCase(), words)
    return score === null ? [] : [{ item, score, index }]
  })
  scored.sort((a, b) => a.score - b.score || a.index - b.index)
  return scored.map(({ item }) => item)
}

function scoreOf(text: string, words: readonly string[]): number | null {
  let score = 0
  for (const word of words) {
    const place = text.indexOf(word)
    if (place === -1) return null
    const begins = place === 0 || /[\s/:·-]/.test(text[place - 1] ?? '')
    score += begins ? 0 : 1
  }
  return score
}
