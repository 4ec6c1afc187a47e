import { describe, expect, test } from 'vitest'
import { Clusters, countOf, deepestZoom, type ClusterMark } from '../../src/map/clusters'
import type { Landmark } from '../../src/map/parts'

const box = { south: -85, west: -180, north: 85, east: 180 }

/** Landmarks on a grid of about a kilometre around Taipei. */
const city: Landmark[] = Array.from({ length: 2500 }, (_, i) => ({
  id: i + 1,
  name: `landmark ${i + 1}`,
  lat: 24.8 + (i % 50) / 100,
  lng: 121.3 + Math.floor(i / 50) / 100,
  category: 1 + (i % 5),
}))

function built(landmarks: Landmark[]): Clusters {
  const clusters = new Clusters()
  clusters.build(landmarks)
  return clusters
}

describe('clusters', () => {
  test('without landmarks there are no marks', () => {
    expect(new Clusters().marks(box, 3, 400)).toEqual([])
    expect(built([]).marks(box, 3, 400)).toEqual([])
  })

  test('the marks of any zoom count every landmark once', () => {
    const clusters = built(city)
    for (let zoom = 0; zoom <= deepestZoom + 1; zoom++) {
      const marks = clusters.marks(box, zoom, Infinity)
      expect(countOf(marks)).toBe(2500)
      for (const mark of marks) {
        if (mark.kind === 'cluster') expect(mark.counts.reduce((a, b) => a + b)).toBe(mark.count)
      }
    }
  })

  test('there are never more marks than asked for, and they count all the same', () => {
    const marks = built(city).marks(box, 15, 300)
    expect(marks.length).toBeLessThanOrEqual(300)
    expect(marks.length).toBeGreaterThan(10)
    expect(countOf(marks)).toBe(2500)
  })

  test('only marks of the box are returned', () => {
    const west = { ...box, east: 121.5 }
    for (const mark of built(city).marks(west, 14, Infinity)) expect(mark.lng).toBeLessThanOrEqual(121.5)
  })

  test('a cluster falls apart at its expansion zoom', () => {
    const clusters = built(city)
    const cluster = clusters.marks(box, 8, 400).find((mark): mark is ClusterMark => mark.kind === 'cluster')!
    expect(cluster.expansionZoom).toBeGreaterThan(8)
    const near = {
      south: cluster.lat - 0.2,
      west: cluster.lng - 0.2,
      north: cluster.lat + 0.2,
      east: cluster.lng + 0.2,
    }
    const before = clusters.marks(near, cluster.expansionZoom - 1, 400).length
    expect(clusters.marks(near, cluster.expansionZoom, 400).length).toBeGreaterThan(before)
  })

  test('a cluster lists its landmarks, and one that is unknown none', () => {
    const clusters = built(city)
    const cluster = clusters.marks(box, 8, 400).find((mark): mark is ClusterMark => mark.kind === 'cluster')!
    expect(clusters.leaves(cluster.id, 2500)).toHaveLength(cluster.count)
    expect(clusters.leaves(cluster.id, 3)).toHaveLength(3)
    expect(clusters.leaves(123_456_789, 3)).toEqual([])
  })

  test('a landmark of no known category counts in the cluster alone', () => {
    const [mark] = built(city.slice(0, 2).map(each => ({ ...each, lat: 1, lng: 1, category: 0 }))).marks(box, 5, 10)
    expect(mark).toMatchObject({ kind: 'cluster', count: 2, counts: [0, 0, 0, 0, 0, 0, 0] })
  })
})
