// Numbers of the health view: rates from two readings of counters, and series of them.

/** What console/health.json says. A member is absent when the service does not know it. */
export interface Health {
  ready: boolean
  version?: string
  revision?: string
  /** RFC 3339. */
  startTime?: string
  checks?: { name: string; ok: boolean; info?: string }[]
  operations?: OperationHealth[]
  store?: { engine?: string; bytes?: number }
  connections?: number
  memoryBytes?: number
}

export interface OperationHealth {
  /** Empty for requests without a known operation. */
  func: string
  /** Requests since the start, by outcome. */
  outcomes: Record<string, number>
  /** Failures since the start, by reason. */
  reasons?: Record<string, number>
  count: number
  /** Seconds, estimated over all requests since the start. */
  p50?: number
  p99?: number
}

/** A reading and when it was made, in milliseconds of the page's clock. */
export interface Reading {
  at: number
  health: Health
}

/** One operation between two readings. */
export interface OperationRate {
  func: string
  /** Requests per second, by outcome. */
  outcomes: Record<string, number>
  total: number
}

/** A point of the charts: what happened between two readings. */
export interface Point {
  at: number
  /** Requests per second by outcome, of all operations together. */
  outcomes: Record<string, number>
  operations: OperationRate[]
  memoryBytes: number | undefined
  storeBytes: number | undefined
  connections: number | undefined
  /** The p99 of the slowest operation that was called between the readings, in seconds. */
  slowest: { func: string; p99: number } | undefined
}

/** Readings that are kept: ten minutes at one in three seconds. */
export const mostReadings = 200

/** Adds a reading. Readings from before a restart are dropped: their counters mean something else. */
export function addReading(readings: readonly Reading[], reading: Reading): Reading[] {
  const last = readings.at(-1)
  const isRestart = last !== undefined && hasRestarted(last.health, reading.health)
  return (isRestart ? [reading] : [...readings, reading]).slice(-mostReadings)
}

/** Reports whether counters began anew between two readings. */
export function hasRestarted(before: Health, after: Health): boolean {
  if (before.startTime !== after.startTime) return true
  const counts = new Map((after.operations ?? []).map(each => [each.func, each.count]))
  return (before.operations ?? []).some(each => (counts.get(each.func) ?? 0) < each.count)
}

/** Returns the points between readings. */
export function pointsOf(readings: readonly Reading[]): Point[] {
  return readings.slice(1).map((reading, i) => pointOf(readings[i]!, reading))
}

/** Returns what happened between two readings. */
export function pointOf(before: Reading, after: Reading): Point {
  const seconds = Math.max((after.at - before.at) / 1000, 0.001)
  const earlier = new Map((before.health.operations ?? []).map(each => [each.func, each]))
  const operations = (after.health.operations ?? []).map(each => rateOf(earlier.get(each.func), each, seconds))
  const outcomes: Record<string, number> = {}
  for (const operation of operations) {
    for (const [outcome, rate] of Object.entries(operation.outcomes))
      outcomes[outcome] = (outcomes[outcome] ?? 0) + rate
  }
  const called = new Set(operations.filter(each => each.total > 0).map(each => each.func))
  const slow = (after.health.operations ?? [])
    .filter(each => called.has(each.func) && each.p99 !== undefined)
    .toSorted((a, b) => b.p99! - a.p99!)[0]
  return {
    at: after.at,
    outcomes,
    operations,
    memoryBytes: after.health.memoryBytes,
    storeBytes: after.health.store?.bytes,
    connections: after.health.connections,
    slowest: slow && { func: slow.func, p99: slow.p99! },
  }
}

function rateOf(before: OperationHealth | undefined, after: OperationHealth, seconds: number): OperationRate {
  const outcomes: Record<string, number> = {}
  for (const [outcome, count] of Object.entries(after.outcomes)) {
    outcomes[outcome] = Math.max(0, count - (before?.outcomes[outcome] ?? 0)) / seconds
  }
  return { func: after.func, outcomes, total: Object.values(outcomes).reduce((a, b) => a + b, 0) }
}

/** Returns a round number that is at least the largest value: the top of a chart. */
export function topOf(values: readonly number[]): number {
  const most = Math.max(0, ...values)
  if (most === 0) return 1
  const unit = 10 ** Math.floor(Math.log10(most))
  const step = [1, 2, 2.5, 5, 10].find(each => each * unit >= most * (1 - 1e-9))
  return step! * unit
}

/** Returns a round number of bytes that is at least the largest value. */
export function topOfBytes(values: readonly number[]): number {
  const unit = 1024 ** Math.floor(Math.log2(Math.max(1, ...values)) / 10)
  return topOf(values.map(each => each / unit)) * unit
}

/** Returns a chart's line through the values that are there, as the data of an SVG path. */
export function linePath(values: readonly (number | undefined)[], top: number, width: number, height: number): string {
  const last = Math.max(values.length - 1, 1)
  let pen = 'M'
  let path = ''
  values.forEach((value, i) => {
    if (value === undefined) {
      pen = 'M'
      return
    }
    path += `${pen}${round((i / last) * width)} ${round(height - (Math.min(value, top) / top) * height)}`
    pen = 'L'
  })
  return path
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}

/** Returns a duration in seconds as people read it: 850 µs, 1.2 ms, 3.4 s. */
export function formatSeconds(seconds: number): string {
  if (seconds < 0.001) return `${Math.round(seconds * 1e6)} µs`
  if (seconds < 1) return `${(seconds * 1000).toPrecision(seconds < 0.1 ? 2 : 3)} ms`
  return `${seconds.toPrecision(3)} s`
}

/** Returns a size as people read it: 512 B, 1.5 KiB, 106 MiB. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  const step = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), units.length - 1)
  const value = bytes / 1024 ** step
  return `${step > 0 && value < 10 ? value.toFixed(1) : Math.round(value)} ${units[step]}`
}

/** Returns a rate with the digits that matter: 0, 0.3, 4.2, 128. */
export function formatRate(rate: number): string {
  if (rate === 0) return '0'
  return rate < 10 ? rate.toFixed(1) : String(Math.round(rate))
}
