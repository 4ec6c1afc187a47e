// The lists beside the map: what is nearest to the middle of the view, and what is new in it.

import type { Box } from './areas'
import type { Landmark } from './parts'
import type { Near } from './protocol'

const earthRadius = 6_371_008.8

/** Returns the landmarks in a box, those nearest to its middle first: `most` of them. */
export function nearestIn(landmarks: readonly Landmark[], box: Box, most: number): Near[] {
  const middle = middleOf(box)
  const squeeze = Math.cos((middle.lat * Math.PI) / 180)
  const away = (each: Landmark) => (each.lat - middle.lat) ** 2 + ((each.lng - middle.lng) * squeeze) ** 2
  return best(landmarks, box, most, away).map(each => ({ ...each, distance: distanceOf(each, middle) }))
}

/** Returns the landmarks in a box, those that were made last first: `most` of them. A later one has a higher identifier. */
export function newestIn(landmarks: readonly Landmark[], box: Box, most: number): Near[] {
  const middle = middleOf(box)
  return best(landmarks, box, most, each => -each.id).map(each => ({ ...each, distance: distanceOf(each, middle) }))
}

/** Returns those in a box with the lowest ranks, in their order. It keeps a few times as many as it returns. */
function best(landmarks: readonly Landmark[], box: Box, most: number, rankOf: (each: Landmark) => number): Landmark[] {
  let kept: { rank: number; each: Landmark }[] = []
  let bound = Infinity
  const cut = () => {
    kept = kept.sort((a, b) => a.rank - b.rank).slice(0, most)
    if (kept.length === most) bound = kept[most - 1]!.rank
  }
  for (const each of landmarks) {
    if (each.lat < box.south || each.lat > box.north || each.lng < box.west || each.lng > box.east) continue
    const rank = rankOf(each)
    if (rank >= bound) continue
    kept.push({ rank, each })
    if (kept.length >= most * 4) cut()
  }
  cut()
  return kept.map(({ each }) => each)
}

function middleOf(box: Box): { lat: number; lng: number } {
  return { lat: (box.south + box.north) / 2, lng: (box.west + box.east) / 2 }
}

/** Returns the distance between two places on a sphere, in metres. */
function distanceOf(a: { lat: number; lng: number }, b: { lat: number; lng: number }): number {
  const radians = Math.PI / 180
  const half = (angle: number) => Math.sin((angle * radians) / 2) ** 2
  const chord = half(a.lat - b.lat) + Math.cos(a.lat * radians) * Math.cos(b.lat * radians) * half(a.lng - b.lng)
  return 2 * earthRadius * Math.asin(Math.min(1, Math.sqrt(chord)))
}
