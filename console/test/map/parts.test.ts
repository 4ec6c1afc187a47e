import { describe, expect, test } from 'vitest'
import { boxOfCell, cellAt, cellsInView, childrenOf } from '../../src/map/areas'
import { Parts, type Landmark } from '../../src/map/parts'

const view = { south: 24, west: 120, north: 26, east: 122 }
const far = { south: -40, west: -70, north: -38, east: -68 }
const cells = cellsInView(view)
const all = () => true

/** Landmarks with consecutive identifiers in the middle of a cell. */
function landmarks(first: number, count: number, cell = cells[0]!): Landmark[] {
  const box = boxOfCell(cell)
  const [lat, lng] = [(box.south + box.north) / 2, (box.west + box.east) / 2]
  return Array.from({ length: count }, (_, i) => ({ id: first + i, name: '', lat, lng, category: 1 + (i % 5) }))
}

function shown(capacity = 1000): Parts {
  const parts = new Parts(capacity)
  parts.show(view)
  return parts
}

describe('parts', () => {
  test('every cell of a new view is missing', () => {
    expect(shown().missing()).toEqual(cells)
  })

  test('a part is missing until its last page, and its next page comes after other first pages', () => {
    const parts = shown()
    parts.add(cells[0]!, { landmarks: landmarks(1, 3), next: 'here' })
    expect(parts.missing().at(-1)).toEqual(cells[0])
    expect(parts.after(cells[0]!)).toBe('here')
    parts.add(cells[0]!, { landmarks: landmarks(4, 2), next: '' })
    expect(parts.missing()).toEqual(cells.slice(1))
    expect(parts.landmarks(all).map(each => each.id)).toEqual([1, 2, 3, 4, 5])
  })

  test('a deeper view inside a whole part needs nothing', () => {
    const parts = shown()
    parts.add(cells[0]!, { landmarks: [], next: '' })
    const { south, west } = boxOfCell(cells[0]!)
    parts.show({ south: south + 0.01, west: west + 0.01, north: south + 0.02, east: west + 0.02 })
    expect(parts.missing()).toEqual([])
  })

  test('four whole children are as good as their cell', () => {
    const parts = shown()
    for (const child of childrenOf(cells[0]!)) parts.add(child, { landmarks: [], next: '' })
    expect(parts.covers(cells[0]!)).toBe(true)
  })

  test('a whole part takes the place of the parts inside it', () => {
    const parts = shown()
    const inside = cellAt(boxOfCell(cells[0]!).south, boxOfCell(cells[0]!).west, cells[0]!.level + 2)
    parts.add(inside, { landmarks: landmarks(1, 4, inside), next: 'more' })
    parts.add(cells[0]!, { landmarks: landmarks(1, 4), next: '' })
    expect(parts.size).toBe(4)
  })

  test('a landmark in overlapping parts is listed once', () => {
    const parts = shown()
    const child = childrenOf(cells[0]!)[0]!
    parts.add(child, { landmarks: landmarks(1, 2, child), next: '' })
    parts.add(cells[0]!, { landmarks: landmarks(1, 3, child), next: 'more' })
    expect(parts.landmarks(all).map(each => each.id)).toEqual([1, 2, 3])
  })

  test('a landmark on the border of two cells is kept by one of them', () => {
    const parts = shown()
    const { north, west } = boxOfCell(cells[0]!)
    const border = { id: 9, name: '', lat: north, lng: west, category: 1 }
    const above = cellAt(north, west, cells[0]!.level)
    parts.add(cells[0]!, { landmarks: [border], next: '' })
    parts.add(above, { landmarks: [border], next: '' })
    expect(parts.size).toBe(1)
  })

  test('categories can be left out', () => {
    const parts = shown()
    parts.add(cells[0]!, { landmarks: landmarks(1, 10), next: '' })
    expect(parts.landmarks(category => category === 2)).toHaveLength(2)
  })

  test('parts out of view are dropped when the memory is full, those seen longest ago first', () => {
    const parts = shown(100)
    parts.add(cells[0]!, { landmarks: landmarks(1, 60), next: '' })
    parts.show(far)
    const [there] = cellsInView(far)
    parts.add(there!, { landmarks: landmarks(100, 30, there), next: '' })
    expect(parts.size).toBe(90)
    const [, next] = cellsInView(far)
    parts.add(next!, { landmarks: landmarks(200, 30, next), next: '' })
    expect(parts.size).toBe(60)
    expect(parts.landmarks(all).every(each => each.id >= 100)).toBe(true)
  })

  test('a view that fills the memory fetches no more and keeps what it has', () => {
    const parts = shown(50)
    parts.add(cells[0]!, { landmarks: landmarks(1, 60), next: 'more' })
    expect(parts.full).toBe(true)
    expect(parts.missing()).toEqual([])
    expect(parts.size).toBe(60)
  })

  test('a deeper view makes room for itself in a memory that a larger part fills', () => {
    const parts = shown(50)
    parts.add(cells[0]!, { landmarks: landmarks(1, 60), next: 'more' })
    const { south, west } = boxOfCell(cells[0]!)
    parts.show({ south: south + 0.01, west: west + 0.01, north: south + 0.02, east: west + 0.02 })
    expect(parts.full).toBe(false)
    expect(parts.missing().length).toBeGreaterThan(0)
  })

  test('clear forgets everything', () => {
    const parts = shown()
    parts.add(cells[0]!, { landmarks: landmarks(1, 5), next: '' })
    parts.clear()
    expect(parts.size).toBe(0)
    expect(parts.missing()).toEqual(cells)
  })
})
