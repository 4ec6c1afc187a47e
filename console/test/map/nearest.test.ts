import { expect, test } from 'vitest'

import { nearestIn, newestIn } from '../../src/map/nearest'

const box = { south: 24, west: 121, north: 26, east: 123 }

/** A thousand landmarks, of which every other one lies in the box. */
const all = Array.from({ length: 1000 }, (_, i) => ({
  id: ((i * 7919) % 1000) + 1,
  name: String(i),
  lat: 24 + ((i * 37) % 100) / 50,
  lng: (i % 2 === 0 ? 121 : 131) + ((i * 61) % 100) / 50,
  category: 1 + (i % 7),
}))

test('the nearest to the middle come first, and only those of the box', () => {
  const found = nearestIn(all, box, 60)
  expect(found).toHaveLength(60)
  expect(found.every(each => each.lng <= 123)).toBe(true)
  const squeeze = Math.cos((25 * Math.PI) / 180)
  const away = (each: { lat: number; lng: number }) => Math.hypot(each.lat - 25, (each.lng - 122) * squeeze)
  const distances = all.filter(each => each.lng <= 123).map(away).sort((a, b) => a - b)
  expect(found.map(each => away(each).toFixed(9))).toEqual(distances.slice(0, 60).map(each => each.toFixed(9)))
})

test('the newest have the highest identifiers', () => {
  const ids = all.filter(each => each.lng <= 123).map(each => each.id).sort((a, b) => b - a)
  expect(newestIn(all, box, 60).map(each => each.id)).toEqual(ids.slice(0, 60))
  expect(newestIn(all.slice(0, 1), box, 60)).toHaveLength(1)
})

test('a distance is that on a sphere', () => {
  const [found] = nearestIn([{ id: 1, name: '', lat: 26, lng: 122, category: 1 }], box, 1)
  expect(found!.distance).toBeCloseTo(111_195, 0)
})
