// The part of the world that a small map of several places shows.

import { projectX, projectY, type Window } from '../map/shapes'
import type { Place } from './model'

/** How much of the window stays free around the places, as a part of what they take. */
const margin = 0.3

/** The smallest window: half a degree, some 50 km. */
const leastSize = 0.5 / 360

/**
 * Returns the square window whose middle part, as wide and as high as the map, has all places. It is at most as large as
 * the world.
 */
export function windowAround(places: readonly Place[], width: number, height: number): Window {
  const xs = places.map(each => projectX(each.lng))
  const ys = places.map(each => projectY(each.lat))
  const [west, east, north, south] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)]
  const pixels = Math.max(width, height, 1)
  const across = ((east - west) * pixels) / Math.max(width, 1)
  const down = ((south - north) * pixels) / Math.max(height, 1)
  const size = Math.min(1, Math.max(leastSize, Math.max(across, down) * (1 + margin)))
  return { x: (west + east) / 2 - size / 2, y: (north + south) / 2 - size / 2, size, pixels }
}
