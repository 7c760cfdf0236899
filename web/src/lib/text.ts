// Offsets in the protocol count code points; JavaScript strings count UTF-16 units.

const SURROGATE = /[\ud800-\udbff][\udc00-\udfff]/g

export function codePoints(text: string): number {
  const pairs = text.match(SURROGATE)
  return pairs ? text.length - pairs.length : text.length
}

/** The text without its first `count` code points. */
export function dropCodePoints(text: string, count: number): string {
  let index = 0
  for (let left = count; left > 0 && index < text.length; left -= 1) {
    const unit = text.charCodeAt(index)
    const pair = unit >= 0xd800 && unit <= 0xdbff && index + 1 < text.length
    index += pair ? 2 : 1
  }
  return text.slice(index)
}
