// Reads console/health.json again and again while the page is visible.

import { useEffect, useState } from 'preact/hooks'

import { description } from '../description'
import { addReading, type Health, type Reading } from './rates'

/** The pause between readings, in milliseconds. */
const pause = 3000

/** A request is given up after this time, in milliseconds. */
const timeout = 10_000

export interface Polled {
  readings: Reading[]
  /** Why the last reading failed; empty when it did not. */
  failure: string
}

/** Kept while other views are open, so that the charts go on where they stopped. */
let kept: Reading[] = []

/** Returns the readings so far. The hook reads while the component is mounted and the page visible. */
export function useHealth(): Polled {
  const [polled, setPolled] = useState<Polled>({ readings: kept, failure: '' })
  useEffect(() => {
    const controller = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const poll = async () => {
      let failure = ''
      try {
        kept = addReading(kept, { at: performance.now(), health: await read(controller.signal) })
      } catch (error) {
        failure = error instanceof Error ? error.message : String(error)
      }
      if (controller.signal.aborted) return
      setPolled({ readings: kept, failure })
      timer = setTimeout(next, pause)
    }
    const next = () => {
      timer = undefined
      if (!document.hidden) void poll()
    }
    const follow = () => {
      if (!document.hidden && timer === undefined) next()
    }
    void poll()
    document.addEventListener('visibilitychange', follow)
    return () => {
      controller.abort()
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', follow)
    }
  }, [])
  return polled
}

async function read(signal: AbortSignal): Promise<Health> {
  const response = await fetch(description().paths.health, {
    cache: 'no-store',
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]),
  })
  if (!response.ok) throw new Error(`HTTP ${response.status}`)
  return (await response.json()) as Health
}
