import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { cutLine, cutRing, draw, projectX, projectY, shapesOf, type Window } from '../../src/map/shapes'

const world = JSON.parse(
  readFileSync(new URL('../../node_modules/world-atlas/countries-110m.json', import.meta.url), 'utf8'),
)
const shapes = shapesOf(world)

/** A window of some degrees around a place. */
function around(lat: number, lng: number, degrees: number): Window {
  const size = degrees / 360
  return { x: projectX(lng) - size / 2, y: projectY(lat) - size / 2, size, pixels: 256 }
}

/** The area of rings in square pixels, by the shoelace formula. */
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

describe('shapes', () => {
  test('the projection is Web Mercator', () => {
    expect([projectX(-180), projectX(0), projectX(180)]).toEqual([0, 0.5, 1])
    expect(projectY(0)).toBe(0.5)
    expect(projectY(85.0511287798066)).toBeCloseTo(0, 9)
    expect(projectY(-90)).toBeCloseTo(1, 9)
    expect(projectY(66.51326)).toBeCloseTo(0.25, 5)
  })

  test('a window inland is all land, and one at sea is empty', () => {
    const inland = draw(shapes, around(35, 100, 2))
    expect(area(inland.land)).toBeCloseTo((256 + 16) ** 2, 0)
    expect(inland.coasts).toEqual([])
    const sea = draw(shapes, around(0, -150, 2))
    expect(sea).toEqual({ land: [], coasts: [], borders: [] })
  })

  test('Taiwan has a coast and no border', () => {
    const { land, coasts, borders } = draw(shapes, around(23.7, 121, 2.4))
    expect(land).toHaveLength(1)
    expect(coasts.length).toBeGreaterThan(0)
    expect(borders).toEqual([])
  })

  test('nothing is drawn far beyond the window, however deep the zoom', () => {
    for (const degrees of [360, 40, 3, 0.01]) {
      const { land, borders } = draw(shapes, around(48.6, 7.8, degrees))
      for (const ring of land) expect(ring.every(each => each >= -8.01 && each <= 264.01)).toBe(true)
      expect(land.length).toBeGreaterThan(0)
      if (degrees === 40) expect(borders.length).toBeGreaterThan(5)
    }
  })

  test('countries at the antimeridian end there', () => {
    const whole = draw(shapes, { x: 0, y: 0, size: 1, pixels: 1000 })
    const jumps = (lines: Float32Array[]) =>
      lines.flatMap(line => [...line].filter((x, i) => i % 2 === 0 && i > 1 && Math.abs(x - line[i - 2]!) > 300))
    expect(jumps(whole.coasts)).toEqual([])
    expect(area(draw(shapes, around(66, 179, 1)).land)).toBeGreaterThan(0)
    expect(area(draw(shapes, around(66.5, -179, 1)).land)).toBeGreaterThan(0)
    expect(area(draw(shapes, around(72, -100, 0.1)).coasts)).toBe(0)
  })

  test('Antarctica is land down to the edge of the map', () => {
    expect(area(draw(shapes, around(-84, 100, 1)).land)).toBeCloseTo((256 + 16) ** 2, 0)
    expect(area(draw(shapes, around(-84.95, -179.9, 0.02)).land)).toBeCloseTo((256 + 16) ** 2, 0)
  })

  test('a ring around the window becomes the window with its margin', () => {
    const ring = [-1000, -1000, 1000, -1000, 1000, 1000, -1000, 1000]
    expect(area([cutRing(ring, 100)])).toBe(116 ** 2)
    expect(cutRing([200, 200, 300, 200, 300, 300], 100)).toHaveLength(0)
  })

  test('a line that leaves and returns becomes two pieces', () => {
    const pieces = cutLine([10, 10, 50, 10, 500, 10, 500, 90, 50, 90, 10, 90], 100)
    expect(pieces).toHaveLength(2)
    expect([...pieces[0]!]).toEqual([10, 10, 50, 10, 500, 10])
  })
})
