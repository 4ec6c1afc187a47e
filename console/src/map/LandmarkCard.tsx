import { useEffect, useRef } from 'preact/hooks'

import { Body } from '../read/ContentView'
import { Failure } from '../read/Failure'
import { contentHash, Facts } from '../read/Head'
import { loadContent, useLoaded } from '../read/load'
import { summaryOfContent, type Place } from '../read/model'
import { text } from './words'

interface Props {
  id: string
  back: () => void
  /** Is called with the place of the landmark once it is known. */
  found: (place: Place) => void
}

/** The chosen landmark: photos, comments, recommendations. */
export function LandmarkCard({ id, back, found }: Props) {
  const heading = useRef<HTMLHeadingElement>(null)
  const { loaded, reload } = useLoaded(id, signal => loadContent('landmark', id, signal))
  useEffect(() => heading.current?.focus({ preventScroll: true }), [])
  const place = loaded.state === 'ready' ? loaded.value.place : undefined
  useEffect(() => {
    if (place) found(place)
  }, [place?.lat, place?.lng])
  return (
    <article class="map-card" data-testid="landmark-card">
      <button class="plain" type="button" onClick={back} data-testid="close-card">
        ← {text('back')}
      </button>
      <h2 ref={heading} tabIndex={-1}>
        {loaded.state === 'ready' ? loaded.value.title : '…'}
      </h2>
      {loaded.state === 'failed' && <Failure error={loaded.error} retry={reload} />}
      {loaded.state === 'ready' && (
        <>
          <Facts content={summaryOfContent(loaded.value)} />
          <p class="small">
            <a href={contentHash('landmark', id)}>{text('open')}</a>
          </p>
          <Body content={loaded.value} changed={reload} />
        </>
      )}
    </article>
  )
}
