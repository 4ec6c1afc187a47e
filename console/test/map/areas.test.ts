import { describe, expect, test } from 'vitest'
import {
  boxesMeet,
  boxOfCell,
  cellAt,
  cellHolds,
  cellsInView,
  childrenOf,
  deepestLevel,
  levelOfView,
  parentOf,
} from '../../src/map/areas'

const taiwan = { south: 21.5, west: 118, north: 25.8, east: 123 }

describe('areas', () => {
  test('the cells of a view cover it', () => {
    for (const level of [0, 3, 6]) {
      const boxes = cellsInView(taiwan, level).map(boxOfCell)
      for (const [lat, lng] of [
        [21.5, 118],
        [25.8, 123],
        [23.7, 121],
        [25.8, 118],
      ] as const) {
        expect(boxes.some(box => box.south <= lat && lat < box.north && box.west <= lng && lng < box.east)).toBe(true)
      }
      expect(boxes.every(box => boxesMeet(box, taiwan))).toBe(true)
    }
  })

  test('a view has at most 24 cells, whatever its size', () => {
    for (let width = 360; width > 0.0001; width /= 1.7) {
      const view = { south: 10, west: -180, north: Math.min(90, 10 + width / 2), east: -180 + width }
      const cells = cellsInView(view)
      expect(cells.length).toBeGreaterThan(0)
      expect(cells.length).toBeLessThanOrEqual(24)
    }
  })

  test('a smaller view has deeper cells, down to the deepest level', () => {
    expect(levelOfView({ south: -90, west: -180, north: 90, east: 180 })).toBe(0)
    expect(levelOfView(taiwan)).toBeGreaterThan(3)
    expect(levelOfView({ south: 25, west: 121, north: 25.00001, east: 121.00001 })).toBe(deepestLevel)
  })

  test('the cells in the middle come first', () => {
    const first = boxOfCell(cellsInView(taiwan, 6)[0]!)
    expect(boxesMeet(first, { south: 23.65, west: 120.5, north: 23.65, east: 120.5 })).toBe(true)
  })

  test('a view beyond the Earth has only cells of the Earth', () => {
    for (const cell of cellsInView({ south: -200, west: -400, north: 200, east: 400 }, 1)) {
      const box = boxOfCell(cell)
      expect(box.south).toBeGreaterThanOrEqual(-90)
      expect(box.north).toBeLessThanOrEqual(90)
      expect(box.west).toBeGreaterThanOrEqual(-180)
      expect(box.east).toBeLessThanOrEqual(180)
    }
  })

  test('each place is in one cell of a level, the limits included', () => {
    for (const [lat, lng] of [
      [90, 180],
      [-90, -180],
      [0, 0],
      [45, -90],
      [25.03, 121.56],
    ] as const) {
      for (const level of [0, 1, 5]) {
        const cells = cellsInView({ south: -90, west: -180, north: 90, east: 180 }, level)
        expect(cells.filter(cell => cellHolds(cell, lat, lng))).toEqual([cellAt(lat, lng, level)])
      }
    }
  })

  test('children fill their parent', () => {
    const cell = cellAt(25, 121, 4)
    expect(parentOf({ level: 0, column: 1, row: 1 })).toBeUndefined()
    for (const child of childrenOf(cell)) {
      expect(parentOf(child)).toEqual(cell)
      expect(boxOfCell(child).south).toBeGreaterThanOrEqual(boxOfCell(cell).south)
      expect(boxOfCell(child).east).toBeLessThanOrEqual(boxOfCell(cell).east)
    }
  })
})
