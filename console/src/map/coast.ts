// The finer coast: Natural Earth 1:10m, cut to parts at the build, of which a map loads those in view.

import { draw, lineOf, type Shapes, type Window } from './shapes.ts'

/** The zoom from which on a map shows the finer coast. Before it, the coarser one differs by less than a pixel or two. */
export const fineZoom = 7

/** Parts in a row and in a column of the map. A tile of the map from fineZoom on lies within one. */
export const partsInARow = 16

/** Width of a part in its units, some 300 m at the equator. The source is coarser. */
const partUnits = 8192

/** Units beyond the edge of a part to which its lines go: more than a tile at fineZoom draws beyond its own edge. */
const partMargin = 64

/**
 * Lines of a part as they are stored: the first point and the steps from it, x and y in turn, as text. The coasts are
 * the rings of land: where the cut closes a ring, beyond the edge, no tile shows it.
 */
export type Part = Record<'land' | 'borders', string[]>

/** Digits of a number: five bits each, the lowest first. Those from 32 on say that another one follows. */
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_'

/** Cuts a part from the shapes of the Earth. Returns nothing if it is all sea. */
export function cutPart(earth: Shapes, column: number, row: number): Part | undefined {
  const { land, borders } = draw(earth, windowOf(column, row), partMargin)
  return land.length === 0 ? undefined : { land: land.map(toSteps), borders: borders.map(toSteps) }
}

/** Returns the shapes of a part that was cut. */
export function shapesOfPart(part: Part, column: number, row: number): Shapes {
  const window = windowOf(column, row)
  const land = part.land.map(steps => fromSteps(steps, window))
  return {
    land: land.map(lineOf),
    coasts: land.map(ring => lineOf([...ring, ring[0]!, ring[1]!])),
    borders: part.borders.map(steps => lineOf(fromSteps(steps, window))),
  }
}

/** Returns the column and the row of the part that has a window, if the finer coast shows in it. */
export function partOf(window: Window): { column: number; row: number } | undefined {
  if (window.size / window.pixels > 1.001 / (256 * 2 ** fineZoom)) return undefined
  const [column, row] = [window.x * partsInARow, window.y * partsInARow].map(Math.floor) as [number, number]
  const isWithin = (from: number, part: number) => (from + window.size) * partsInARow <= part + 1
  return isWithin(window.x, column) && isWithin(window.y, row) ? { column, row } : undefined
}

function windowOf(column: number, row: number): Window {
  return { x: column / partsInARow, y: row / partsInARow, size: 1 / partsInARow, pixels: partUnits }
}

function toSteps(line: Float32Array): string {
  const rounded = [...line].map(Math.round)
  return rounded.map((each, i) => written(i < 2 ? each : each - rounded[i - 2]!)).join('')
}

/** Writes a number; its sign becomes the lowest bit. */
function written(number: number): string {
  let rest = number < 0 ? -2 * number - 1 : 2 * number
  let text = ''
  for (; rest >= 32; rest >>= 5) text += digits[32 + (rest & 31)]
  return text + digits[rest]
}

function fromSteps(text: string, { x, y, size, pixels }: Window): number[] {
  const scale = size / pixels
  const at = [0, 0]
  const points: number[] = []
  let number = 0
  let shift = 0
  for (const character of text) {
    const digit = digits.indexOf(character)
    number += (digit & 31) << shift
    shift += 5
    if (digit >= 32) continue
    const axis = points.length % 2
    at[axis]! += number % 2 === 0 ? number / 2 : -(number + 1) / 2
    points.push((axis === 0 ? x : y) + at[axis]! * scale)
    number = shift = 0
  }
  return points
}
