// Terminal output: colours and weights of ANSI sequences as classes, everything else left out.

export interface Span {
  text: string
  /** `a1` … `a7` for the colours, `bold`, `faint`. */
  classes: string[]
}

// Also sequences that move the cursor or set titles: they mean nothing outside a terminal.
// eslint-disable-next-line no-control-regex -- escape sequences begin with a control character
const SEQUENCE = /\u001b(?:\[([0-9;?]*)([A-Za-z])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[()][A-Z0-9])/g

/** A line that a carriage return overwrote shows what was written last. */
function overwritten(text: string): string {
  return text
    .replace(/\r\n/g, '\n')
    .split('\n')
    .map((line) => line.slice(line.lastIndexOf('\r', line.length - 2) + 1).replace(/\r$/, ''))
    .join('\n')
}

export function ansiSpans(source: string): Span[] {
  const text = overwritten(source)
  const spans: Span[] = []
  let classes: string[] = []
  let from = 0
  const push = (part: string) => {
    if (part !== '') spans.push({ text: part, classes })
  }
  for (const match of text.matchAll(SEQUENCE)) {
    push(text.slice(from, match.index))
    from = match.index + match[0].length
    if (match[2] === 'm') classes = styled(classes, match[1] ?? '')
  }
  push(text.slice(from))
  return spans
}

function styled(before: string[], codes: string): string[] {
  let now = before
  for (const word of codes === '' ? ['0'] : codes.split(';')) {
    const code = Number(word)
    if (code === 0) now = []
    else if (code === 1) now = [...now, 'bold']
    else if (code === 2) now = [...now, 'faint']
    else if (code === 22) now = now.filter((name) => name !== 'bold' && name !== 'faint')
    else if (code === 39) now = uncoloured(now)
    else if (code >= 31 && code <= 37) now = [...uncoloured(now), `a${code - 30}`]
    else if (code >= 91 && code <= 97) now = [...uncoloured(now), `a${code - 90}`]
  }
  return now
}

function uncoloured(classes: string[]): string[] {
  return classes.filter((name) => !/^a\d$/.test(name))
}
