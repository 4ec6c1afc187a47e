import { useEffect, useRef, useState } from 'preact/hooks'

import { Failure } from '../shell/Failure'
import { Gate } from '../read/load'
import { categories } from './kinds'
import type { Landmark } from './parts'
import type { LandmarkSource } from './source'
import { loadCategory, locate } from './start'
import { text } from './words'

/** Landmarks of each category that a press of the button loads. */
const step = 25

/** What was read of a category: landmarks without a place yet, and where the rest begins. */
interface Rest {
  items: { id: number; name: string }[]
  next: string
  isWhole: boolean
}

/**
 * The way to landmarks of a service that cannot search by place: by category, in the order of their
 * creation, and with a request for each place.
 */
export function Listing({ source, hidden }: { source: LandmarkSource; hidden: number[] }) {
  const rests = useRef(new Map<number, Rest>())
  const controller = useRef(new AbortController())
  const [located, setLocated] = useState(0)
  const [state, setState] = useState<'ready' | 'loading' | 'done' | { error: unknown }>('ready')
  useEffect(() => () => controller.current.abort(), [])

  const load = async () => {
    setState('loading')
    try {
      const landmarks = await loadMore(rests.current, hidden, controller.current.signal)
      source.give(landmarks)
      setLocated(before => before + landmarks.length)
      setState(landmarks.length === 0 ? 'done' : 'ready')
    } catch (error) {
      if (!controller.current.signal.aborted) setState({ error })
    }
  }
  return (
    <section class="map-listing" data-testid="listing">
      <p class="small">{text('nearbyOff')}</p>
      <button
        class="primary"
        type="button"
        disabled={state === 'loading'}
        onClick={() => void load()}
        data-testid="load-listing"
      >
        {text('loadMore', { count: step })}
      </button>
      <output class="small soft">{text(state === 'done' ? 'allLocated' : 'located', { count: located })}</output>
      {typeof state === 'object' && <Failure error={state.error} />}
    </section>
  )
}

/** Loads the next landmarks of each category with their places. A landmark that is gone is left out. */
async function loadMore(rests: Map<number, Rest>, hidden: number[], signal: AbortSignal): Promise<Landmark[]> {
  const gate = new Gate(4)
  const found: Landmark[] = []
  for (let category = 1; category <= categories; category++) {
    if (hidden.includes(category)) continue
    const rest = rests.get(category) ?? { items: [], next: '', isWhole: false }
    if (rest.items.length < step && !rest.isWhole) {
      const part = await loadCategory(category, rest.next, step, signal)
      rest.items.push(...part.items)
      rest.next = part.next
      rest.isWhole = part.next === ''
    }
    const taken = rest.items.splice(0, step)
    rests.set(category, rest)
    const places = await Promise.allSettled(taken.map(({ id }) => gate.run(() => locate(id, category, signal), signal)))
    found.push(...places.flatMap(each => (each.status === 'fulfilled' ? [each.value] : [])))
  }
  return found
}
