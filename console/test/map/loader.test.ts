import { describe, expect, test } from 'vitest'
import { cellsInView, type Box } from '../../src/map/areas'
import { LoadError, Loader } from '../../src/map/loader'
import { Parts, type Page } from '../../src/map/parts'

const view = { south: 24, west: 120, north: 26, east: 122 }
const far = { south: -40, west: -70, north: -38, east: -68 }

interface Asked {
  box: Box
  after: string
  signal: AbortSignal
  answer: (page: Page) => void
  fail: (error: unknown) => void
}

/** A loader whose requests the test answers. */
function setUp(parallel = 3) {
  const asked: Asked[] = []
  const waits: number[] = []
  const parts = new Parts(1000)
  const loader = new Loader({
    parts,
    parallel,
    changed: () => undefined,
    wait: milliseconds => {
      waits.push(milliseconds)
      return Promise.resolve()
    },
    fetchPage: (box, after, signal) =>
      new Promise((answer, fail) => {
        asked.push({ box, after, signal, answer, fail })
        signal.addEventListener('abort', () => fail(signal.reason))
      }),
  })
  return { asked, waits, parts, loader }
}

/** Lets everything run that waits for nothing but promises. */
async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve()
}

const end: Page = { landmarks: [], next: '' }

describe('loader', () => {
  test('sends a few requests at a time until nothing is missing', async () => {
    const { asked, loader, parts } = setUp()
    loader.show(view)
    expect(asked).toHaveLength(3)
    for (let i = 0; i < cellsInView(view).length; i++) {
      asked[i]!.answer(end)
      await settle()
    }
    expect(asked).toHaveLength(cellsInView(view).length)
    expect(parts.missing()).toEqual([])
    expect(loader.progress).toEqual({ missing: 0, loading: false, full: false, failure: '' })
  })

  test('continues a part where its last page ended', async () => {
    const { asked, loader } = setUp(1)
    loader.show({ south: 24, west: 120, north: 24, east: 120 })
    asked[0]!.answer({ landmarks: [], next: 'page two' })
    await settle()
    expect(asked[1]).toMatchObject({ box: asked[0]!.box, after: 'page two' })
  })

  test('gives up requests when the view moves away, and ignores what they bring', async () => {
    const { asked, loader, parts } = setUp()
    loader.show(view)
    const former = asked.slice()
    loader.show(far)
    expect(former.every(each => each.signal.aborted)).toBe(true)
    await settle()
    expect(asked.slice(3).map(each => each.box)).toHaveLength(3)
    expect(parts.size).toBe(0)
    expect(loader.progress.failure).toBe('')
  })

  test('keeps requests that the new view needs, too', () => {
    const { asked, loader } = setUp()
    loader.show(view)
    loader.show({ ...view, east: view.east + 0.001 })
    expect(asked.every(each => !each.signal.aborted)).toBe(true)
    expect(asked).toHaveLength(3)
  })

  test('repeats a request after the pause that the service asked for', async () => {
    const { asked, waits, loader } = setUp(1)
    loader.show(view)
    asked[0]!.fail(new LoadError('HTTP 429', 5000))
    await settle()
    expect(waits).toEqual([5000])
    expect(asked[1]!.box).toEqual(asked[0]!.box)
  })

  test('reports a failure that repetitions do not mend, and repeats it only when asked', async () => {
    const { asked, waits, loader } = setUp(1)
    loader.show({ south: 24, west: 120, north: 24, east: 120 })
    for (let i = 0; i < 4; i++) {
      asked[i]!.fail(new LoadError('HTTP 503', 1))
      await settle()
    }
    expect(waits).toHaveLength(3)
    expect(asked).toHaveLength(4)
    expect(loader.progress).toMatchObject({ missing: 1, loading: false, failure: 'HTTP 503' })
    loader.retry()
    expect(asked).toHaveLength(5)
    expect(loader.progress.failure).toBe('')
  })

  test('gives up at once when a repetition would fail again', async () => {
    const { asked, waits, loader } = setUp(1)
    loader.show({ south: 24, west: 120, north: 24, east: 120 })
    asked[0]!.fail(new LoadError('INVALID PARAMETER: latMin'))
    await settle()
    expect(waits).toEqual([])
    expect(asked).toHaveLength(1)
    expect(loader.progress.failure).toBe('INVALID PARAMETER: latMin')
  })
})
