// Which names of places a map shows.

/** A name on the map: where its box is in pixels. */
export interface Label {
  left: number
  top: number
  width: number
  height: number
}

/** Pixels that names are apart from each other at least. */
const gap = 4

/** Names that a map shows at most. */
export const mostNames = 80

/** Returns those of the labels that overlap none before them, the first ones first. */
export function apart<L extends Label>(labels: readonly L[]): L[] {
  const shown: L[] = []
  for (const label of labels) {
    if (shown.length === mostNames) break
    if (!shown.some(other => overlap(label, other))) shown.push(label)
  }
  return shown
}

function overlap(a: Label, b: Label): boolean {
  const near = (a: number, aLength: number, b: number, bLength: number) => a < b + bLength + gap && b < a + aLength + gap
  return near(a.left, a.width, b.left, b.width) && near(a.top, a.height, b.top, b.height)
}
