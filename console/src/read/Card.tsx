import { useEffect, useRef, useState } from 'preact/hooks'

import { visibleOr } from '../format'
import { contentHash, Facts } from './Head'
import { Gate, loadContent } from './load'
import { summaryOfContent, type Content, type ContentKind, type Summary } from './model'
import { photoSource } from './photoBase'
import { SmallMap } from './SmallMap'
import { text } from './words'

/** What a card has, the rest is loaded when it comes into sight. */
export type CardItem = { kind: ContentKind; id: string; title: string } & Partial<Summary>

/** Cards are loaded by requests of their own, this many at a time. */
const gate = new Gate(4)

/** A card of content: its first photo that can be shown, or a map of its place. */
export function Card({ item, heading: Heading }: { item: CardItem; heading: 'h2' | 'h3' }) {
  const element = useRef<HTMLLIElement>(null)
  const isSummary = item.place !== undefined
  const loads = item.kind === 'album' || !isSummary
  const content = useSight(element, loads ? item : undefined)
  const shown = isSummary ? (item as Summary) : content && content !== 'gone' ? summaryOfContent(content) : undefined
  const cover = content && content !== 'gone' ? coverOf(content) : undefined
  return (
    <li
      ref={element}
      class="read-card card"
      data-testid={`${item.kind}-card`}
      aria-busy={!isSummary && content === undefined}
    >
      {cover ? (
        <Cover source={cover} place={shown?.place} />
      ) : shown ? (
        <SmallMap place={shown.place} />
      ) : (
        <div class="read-map" />
      )}
      <div class="read-card-text">
        <Heading>
          <a href={contentHash(item.kind, item.id)}>{visibleOr(item.title, text('untitled'))}</a>
        </Heading>
        {shown && <Facts content={shown} />}
        {content === 'gone' && !isSummary && <p class="soft small">{text('gone')}</p>}
      </div>
    </li>
  )
}

/** Returns the first image of content that this page may load. */
function coverOf(content: Content): string | undefined {
  for (const { address } of content.photos.slice(0, 4)) {
    const source = photoSource(address)
    if (source) return source
  }
  return undefined
}

function Cover({ source, place }: { source: string; place: Summary['place'] | undefined }) {
  const [broken, setBroken] = useState(false)
  if (broken) return place ? <SmallMap place={place} /> : <div class="read-map" />
  return <img class="read-cover" src={source} alt="" loading="lazy" decoding="async" onError={() => setBroken(true)} />
}

/** Loads content when an element comes into sight. */
function useSight(element: { current: HTMLElement | null }, item: CardItem | undefined): Content | 'gone' | undefined {
  const [content, setContent] = useState<Content | 'gone'>()
  const { kind, id } = item ?? {}
  useEffect(() => {
    if (!kind || !id) return
    const controller = new AbortController()
    const observer = new IntersectionObserver(
      entries => {
        if (!entries.some(each => each.isIntersecting)) return
        observer.disconnect()
        gate
          .run(() => loadContent(kind, id, controller.signal), controller.signal)
          .then(setContent, () => controller.signal.aborted || setContent('gone'))
      },
      { rootMargin: '200px' },
    )
    observer.observe(element.current!)
    return () => {
      observer.disconnect()
      controller.abort()
    }
  }, [kind, id])
  return content
}
