import { expect, test } from 'vitest'

import { projectX, projectY } from '../../src/map/shapes'
import { windowAround } from '../../src/read/overview'

test.each([
  ['one place', [{ lat: 25, lng: 121 }]],
  [
    'an island',
    [
      { lat: 25.3, lng: 121.5 },
      { lat: 21.9, lng: 120.8 },
    ],
  ],
  [
    'both ends of the world',
    [
      { lat: -45, lng: -170 },
      { lat: 60, lng: 170 },
    ],
  ],
])('the window of %s has all places in its middle part', (_, places) => {
  for (const [width, height] of [
    [352, 352],
    [360, 180],
    [1200, 200],
  ] as const) {
    const { x, y, size, pixels } = windowAround(places, width, height)
    expect(pixels).toBe(width)
    expect(size).toBeLessThanOrEqual(1)
    const half = (height / pixels) * (size / 2)
    for (const place of places) {
      expect(Math.abs(projectX(place.lng) - (x + size / 2))).toBeLessThanOrEqual(size / 2)
      if (size < 1) expect(Math.abs(projectY(place.lat) - (y + size / 2))).toBeLessThanOrEqual(half)
    }
  }
})
