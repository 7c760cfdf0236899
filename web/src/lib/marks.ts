export interface Piece {
  text: string
  hit: boolean
}

/** A text cut at its marks: places (start, end) in code points, in order and apart. */
export function marked(text: string, marks: readonly (readonly number[])[]): Piece[] {
  const points = [...text]
  const pieces: Piece[] = []
  let at = 0
  const add = (end: number, hit: boolean) => {
    if (end > at) pieces.push({ text: points.slice(at, end).join(''), hit })
    at = Math.max(at, end)
  }
  for (const [start = 0, end = 0] of marks) {
    add(start, false)
    add(end, true)
  }
  add(points.length, false)
  return pieces
}
