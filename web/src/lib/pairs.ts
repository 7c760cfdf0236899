/** `NAME=value` or `Name: value`, one a line; lines without a name are left out. */
export function pairsOf(text: string): Record<string, string> {
  const pairs: Record<string, string> = {}
  for (const line of text.split('\n')) {
    const found = /^\s*([\w-]+)\s*[=:]\s*(.*?)\s*$/.exec(line)
    if (found?.[1]) pairs[found[1]] = found[2] ?? ''
  }
  return pairs
}

/** A command line's words; what stands in quotes is one word. */
export function wordsOf(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? '',
  )
}
