/** A line of Markdown without its marks, for places where text is shown as it is. */
export function plainLine(text: string): string {
  return text
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/(^|\s)(?:#{1,6}|>|[-*+]|\d+[.)])\s+/g, '$1')
    .replace(/(\*\*|__|~~|`+)/g, '')
    .trim()
}
