import { describe, expect, test } from 'vitest'
import {
  addReading,
  formatBytes,
  formatRate,
  formatSeconds,
  linePath,
  mostReadings,
  pointOf,
  pointsOf,
  topOf,
  topOfBytes,
  type Health,
  type Reading,
} from '../../src/health/rates'

function reading(at: number, success: number, failed = 0, more: Partial<Health> = {}): Reading {
  const operations = [
    { func: 'getAlbum', outcomes: { success, failed }, count: success + failed, p50: 0.001, p99: 0.004 },
    { func: 'getPOI', outcomes: { success: 5, failed: 0 }, count: 5, p50: 0.002, p99: 0.5 },
  ]
  return { at, health: { ready: true, startTime: '2026-11-22T00:00:00Z', operations, ...more } }
}

describe('rates', () => {
  test('a rate is the difference of two readings by their time', () => {
    const point = pointOf(reading(1000, 10, 1), reading(3000, 16, 2))
    expect(point.outcomes).toEqual({ success: 3, failed: 0.5 })
    expect(point.operations[0]).toEqual({ func: 'getAlbum', outcomes: { success: 3, failed: 0.5 }, total: 3.5 })
  })

  test('an operation that is called for the first time counts from 0', () => {
    expect(pointOf({ at: 0, health: { ready: true, operations: [] } }, reading(1000, 4)).outcomes.success).toBe(9)
  })

  test('the slowest operation is one of those that were called', () => {
    expect(pointOf(reading(0, 1), reading(1000, 2)).slowest).toEqual({ func: 'getAlbum', p99: 0.004 })
    expect(pointOf(reading(0, 1), reading(1000, 1)).slowest).toBeUndefined()
  })

  test('a restart begins anew, whether its time or its counters show it', () => {
    const two = addReading([reading(0, 5)], reading(1000, 6))
    expect(two).toHaveLength(2)
    expect(addReading(two, reading(2000, 7, 0, { startTime: 'later' }))).toHaveLength(1)
    expect(addReading(two, reading(2000, 3))).toHaveLength(1)
  })

  test('old readings are forgotten', () => {
    let readings: Reading[] = []
    for (let i = 0; i < mostReadings + 20; i++) readings = addReading(readings, reading(i, i))
    expect(readings).toHaveLength(mostReadings)
    expect(readings[0]!.at).toBe(20)
    expect(pointsOf(readings)).toHaveLength(mostReadings - 1)
  })

  test('what the service does not know is absent', () => {
    const point = pointOf({ at: 0, health: { ready: true } }, { at: 1, health: { ready: false } })
    expect(point).toMatchObject({ outcomes: {}, operations: [], memoryBytes: undefined, storeBytes: undefined })
  })
})

describe('charts', () => {
  test('the top of a chart is a round number above its values', () => {
    expect([[], [0], [0.3], [1], [1.1], [24], [26], [99], [100], [101]].map(topOf)).toEqual([
      1, 1, 0.5, 1, 2, 25, 50, 100, 100, 200,
    ])
    expect(topOfBytes([84 * 1024 ** 2])).toBe(100 * 1024 ** 2)
    expect(topOfBytes([])).toBe(1)
  })

  test('a line leaves gaps where values are missing', () => {
    expect(linePath([0, 10, undefined, 5], 10, 300, 60)).toBe('M0 60L100 0M300 30')
    expect(linePath([], 10, 300, 60)).toBe('')
    expect(linePath([20], 10, 300, 60)).toBe('M0 0')
  })

  test('numbers have the digits that matter', () => {
    expect([0.00029, 0.0054, 0.096, 0.25, 1.5].map(formatSeconds)).toEqual([
      '290 µs',
      '5.4 ms',
      '96 ms',
      '250 ms',
      '1.50 s',
    ])
    expect([0, 512, 1536, 111_149_056, 3 * 1024 ** 3].map(formatBytes)).toEqual([
      '0 B',
      '512 B',
      '1.5 KiB',
      '106 MiB',
      '3.0 GiB',
    ])
    expect([0, 0.33, 4.21, 127.6].map(formatRate)).toEqual(['0', '0.3', '4.2', '128'])
  })
})
