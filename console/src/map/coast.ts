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
 * Lines of a part as they are stored: the first point and the steps from it, x and y in turn. The coasts are the rings
 * of land: where the cut closes a ring, beyond the edge, no tile shows it.
 */
export type Part = Record<'land' | 'borders', number[][]>

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

function toSteps(line: Float32Array): number[] {
  const rounded = [...line].map(Math.round)
  return rounded.map((each, i) => (i < 2 ? each : each - rounded[i - 2]!))
}

function fromSteps(steps: number[], { x, y, size, pixels }: Window): number[] {
  const scale = size / pixels
  const at = [0, 0]
  return steps.map((step, i) => {
    at[i % 2]! += step
    return i % 2 === 0 ? x + at[0]! * scale : y + at[1]! * scale
  })
}
