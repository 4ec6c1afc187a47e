import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

import { cutPart, fineZoom, partOf, partsInARow, shapesOfPart } from '../../src/map/coast'
import { places } from '../../src/map/places'
import { draw, projectX, projectY, shapesOf, type Shapes, type Window } from '../../src/map/shapes'

const read = (scale: string) =>
  shapesOf(JSON.parse(readFileSync(new URL(`../../node_modules/world-atlas/countries-${scale}.json`, import.meta.url), 'utf8')))
const fine = read('10m')

/** The tile of the map at a place. */
function tileAt(lat: number, lng: number, zoom: number): Window {
  const size = 2 / 2 ** zoom
  return { x: Math.floor(projectX(lng) / size) * size, y: Math.floor(projectY(lat) / size) * size, size, pixels: 512 }
}

const parts = new Map<string, Shapes>()

/** The shapes of the part that has a window. */
function part(window: Window): Shapes {
  const { column, row } = partOf(window)!
  const name = `${column}-${row}`
  if (!parts.has(name)) {
    const cut = cutPart(fine, column, row)
    parts.set(name, cut ? shapesOfPart(cut, column, row) : { land: [], coasts: [], borders: [] })
  }
  return parts.get(name)!
}

describe('coast', () => {
  test('a tile from the zoom of the finer coast on lies in one part, and others in none', () => {
    for (const zoom of [fineZoom, fineZoom + 1, 18]) {
      for (const [lat, lng] of [[25, 121.5], [-84, -179.99], [0, 0], [84.9, 179.99]] as const) {
        const { x, y } = tileAt(lat, lng, zoom)
        expect(partOf(tileAt(lat, lng, zoom))).toEqual({ column: Math.floor(x * partsInARow), row: Math.floor(y * partsInARow) })
      }
    }
    expect(partOf(tileAt(25, 121.5, fineZoom - 1))).toBeUndefined()
    const { x, y, size, pixels } = tileAt(0, 0, fineZoom)
    expect(partOf({ x: x - size / 2, y, size, pixels })).toBeUndefined()
  })

  test('a tile of a part has what the whole Earth has there', () => {
    for (const [lat, lng] of [[25.1, 121.5], [22.4, 114.2], [47.6, 7.6], [66.2, -179.9], [40.98, 28.98], [0.5, 22.4]] as const) {
      const window = tileAt(lat, lng, fineZoom)
      const [whole, cut] = [draw(fine, window), draw(part(window), window)]
      expect(Math.abs(area(cut.land) - area(whole.land))).toBeLessThan(512 * 512 * 0.002)
      expect(Math.abs(length(cut.borders) - length(whole.borders))).toBeLessThan(20 + length(whole.borders) * 0.05)
    }
  })

  test('the finer coast has an island that the coarser one lacks', () => {
    const window = tileAt(22.05, 121.55, 11) // Lanyu
    expect(draw(read('50m'), window).land).toEqual([])
    expect(draw(part(window), window).land).toHaveLength(1)
  })

  test('the open sea has no part', () => {
    const { column, row } = partOf(tileAt(35, -150, fineZoom))!
    expect(cutPart(fine, column, row)).toBeUndefined()
  })
})

describe('places', () => {
  test('each is on land, or close to it', () => {
    const far = places.filter(([, lat, lng]) => {
      const window = tileAt(lat, lng, 10)
      return draw(part(window), window).land.length === 0
    })
    expect(far).toEqual([])
  })

  test('none comes twice, in either language', () => {
    for (const name of [3, 4] as const) expect(new Set(places.map(each => each[name])).size).toBe(places.length)
  })
})

/** The area of rings in square pixels. */
function area(rings: Float32Array[]): number {
  let sum = 0
  for (const ring of rings) {
    for (let i = 0; i < ring.length; i += 2) {
      const j = (i + 2) % ring.length
      sum += ring[i]! * ring[j + 1]! - ring[j]! * ring[i + 1]!
    }
  }
  return Math.abs(sum) / 2
}

function length(lines: Float32Array[]): number {
  let sum = 0
  for (const line of lines) {
    for (let i = 2; i < line.length; i += 2) sum += Math.hypot(line[i]! - line[i - 2]!, line[i + 1]! - line[i - 1]!)
  }
  return sum
}
