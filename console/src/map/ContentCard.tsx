import { useEffect, useRef } from 'preact/hooks'

import { visibleOr } from '../format'
import { Body } from '../read/ContentView'
import { Failure } from '../shell/Failure'
import { contentHash, Facts } from '../read/Head'
import { loadContent, useLoaded } from '../read/load'
import { summaryOfContent, type Place } from '../read/model'
import type { Chosen } from './place'
import { text } from './words'

interface Props {
  chosen: Chosen
  back: () => void
  /** Is called with the place of the content once it is known. */
  found: (place: Place) => void
}

/** The chosen content: photos, comments, recommendations. */
export function ContentCard({ chosen: { kind, id }, back, found }: Props) {
  const heading = useRef<HTMLHeadingElement>(null)
  const { loaded, reload } = useLoaded(`${kind}/${id}`, signal => loadContent(kind, id, signal))
  useEffect(() => heading.current?.focus({ preventScroll: true }), [])
  const place = loaded.state === 'ready' ? loaded.value.place : undefined
  useEffect(() => {
    if (place) found(place)
  }, [place?.lat, place?.lng])
  return (
    <article class="map-card" data-testid={`${kind}-card`}>
      <button class="plain" type="button" onClick={back} data-testid="close-card">
        ← {text('back')}
      </button>
      <h2 ref={heading} tabIndex={-1}>
        {loaded.state === 'ready' ? visibleOr(loaded.value.title, '–') : '…'}
      </h2>
      {loaded.state === 'failed' && <Failure error={loaded.error} retry={reload} />}
      {loaded.state === 'ready' && (
        <>
          <Facts content={summaryOfContent(loaded.value)} />
          <p class="small">
            <a href={contentHash(kind, id)}>{text('open')}</a>
          </p>
          <Body content={loaded.value} changed={reload} />
        </>
      )}
    </article>
  )
}
