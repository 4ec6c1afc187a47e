// Clusters of landmarks: what the map draws and the list beside it names. It runs in a worker.

import Supercluster from 'supercluster'

import type { Box } from './areas'
import type { Landmark } from './parts'

/** A mark on the map: a landmark, or several that are close to each other. */
export type Mark = LandmarkMark | ClusterMark

export interface LandmarkMark extends Landmark {
  kind: 'landmark'
}

export interface ClusterMark {
  kind: 'cluster'
  /** Names the cluster until the next build. */
  id: number
  lat: number
  lng: number
  count: number
  /** How many of each number of kinds.ts it has, from 1. */
  counts: number[]
  /** The zoom at which the cluster falls apart, up to deepestZoom + 1. */
  expansionZoom: number
}

/** The last zoom at which close landmarks form clusters. */
export const deepestZoom = 16

/** Distance within which landmarks form a cluster, in pixels of a map with tiles of 256. */
const radius = 56

/** Landmarks by category. Fixed members make a build twice as fast as computed ones. */
type Counts = { c1: number; c2: number; c3: number; c4: number; c5: number; c6: number; c7: number }

const noCounts: Counts = { c1: 0, c2: 0, c3: 0, c4: 0, c5: 0, c6: 0, c7: 0 }
const countsOfOne: Counts[] = [
  { ...noCounts, c1: 1 },
  { ...noCounts, c2: 1 },
  { ...noCounts, c3: 1 },
  { ...noCounts, c4: 1 },
  { ...noCounts, c5: 1 },
  { ...noCounts, c6: 1 },
  { ...noCounts, c7: 1 },
]

export class Clusters {
  private index = new Supercluster<Landmark, Counts>()
  /** The number of landmarks. */
  size = 0

  build(landmarks: readonly Landmark[]): void {
    const index = new Supercluster<Landmark, Counts>({
      radius,
      extent: 256,
      maxZoom: deepestZoom,
      map: landmark => ({ ...(countsOfOne[landmark.category - 1] ?? noCounts) }),
      reduce: (sum, counts) => {
        sum.c1 += counts.c1
        sum.c2 += counts.c2
        sum.c3 += counts.c3
        sum.c4 += counts.c4
        sum.c5 += counts.c5
        sum.c6 += counts.c6
        sum.c7 += counts.c7
      },
    })
    index.load(
      landmarks.map(landmark => ({
        type: 'Feature',
        geometry: { type: 'Point', coordinates: [landmark.lng, landmark.lat] },
        properties: landmark,
      })),
    )
    this.index = index
    this.size = landmarks.length
  }

  /**
   * Returns the marks of a box at a zoom, and at most `most` of them: if there are more, those of a
   * lower zoom.
   */
  marks(box: Box, zoom: number, most: number): Mark[] {
    if (this.size === 0) return []
    for (let at = Math.min(Math.floor(zoom), deepestZoom + 1); ; at--) {
      const found = this.index.getClusters([box.west, box.south, box.east, box.north], at)
      if (found.length <= most || at <= 0) return found.slice(0, most).map(feature => this.mark(feature))
    }
  }

  /** Returns the landmarks of a cluster, `limit` at most. A cluster of an earlier build has none. */
  leaves(cluster: number, limit: number): Landmark[] {
    try {
      return this.index.getLeaves(cluster, limit).map(feature => feature.properties)
    } catch {
      return []
    }
  }

  private mark(feature: ReturnType<Supercluster<Landmark, Counts>['getClusters']>[number]): Mark {
    const properties = feature.properties
    if (!('cluster' in properties)) return { kind: 'landmark', ...(properties as Landmark) }
    const [lng, lat] = feature.geometry.coordinates as [number, number]
    const id = properties.cluster_id
    return {
      kind: 'cluster',
      id,
      lat,
      lng,
      count: properties.point_count,
      counts: [properties.c1, properties.c2, properties.c3, properties.c4, properties.c5, properties.c6, properties.c7],
      expansionZoom: this.index.getClusterExpansionZoom(id),
    }
  }
}

/** Counts the landmarks of marks. */
export function countOf(marks: readonly Mark[]): number {
  return marks.reduce((sum, mark) => sum + (mark.kind === 'cluster' ? mark.count : 1), 0)
}
