import { useEffect, useRef, useState } from 'preact/hooks'

import { findOperation } from '../description'
import { Failure } from './Failure'
import { contentHash, Facts } from './Head'
import { Gate, loadContent, loadList, type Item, type List } from './load'
import type { Content } from './model'
import { SmallMap } from './SmallMap'
import { text } from './words'

/** Cards that are shown at first, and with each press of the button. */
const step = 12

/** Cards are loaded by requests of their own, this many at a time. */
const gate = new Gate(4)

/** The albums and entries of a user. */
export function UserView({ id }: { id: string }) {
  return (
    <div data-testid="user-page">
      <h1>{text('userTitle', { id })}</h1>
      <Cards key={`album/${id}`} kind="album" user={id} />
      {findOperation('getUserBlogList') ? (
        <Cards key={`blog/${id}`} kind="blog" user={id} />
      ) : (
        <section class="read-section">
          <h2>{text('blogs')}</h2>
          <p class="soft">{text('blogsOff')}</p>
        </section>
      )}
    </div>
  )
}

function Cards({ kind, user }: { kind: 'album' | 'blog'; user: string }) {
  const [list, setList] = useState<List>({ items: [], next: '' })
  const [shown, setShown] = useState(0)
  const [state, setState] = useState<'loading' | 'ready' | { error: unknown }>('loading')
  const controller = useRef<AbortController | undefined>(undefined)

  const load = () => {
    if (shown > 0 && list.items.length > shown) {
      setShown(shown + step)
      return
    }
    const { signal } = (controller.current = new AbortController())
    setState('loading')
    loadList(kind, user, list.next, step, signal).then(
      part => {
        setList({ items: list.items.concat(part.items), next: part.next })
        setShown(shown + step)
        setState('ready')
      },
      (error: unknown) => signal.aborted || setState({ error }),
    )
  }
  useEffect(() => {
    load()
    return () => controller.current?.abort()
  }, [])

  const hasMore = list.next !== '' || list.items.length > shown
  return (
    <section
      class="read-section"
      aria-label={text(kind === 'album' ? 'albums' : 'blogs')}
      data-testid={`${kind}-cards`}
    >
      <h2>{text(kind === 'album' ? 'albums' : 'blogs')}</h2>
      {state === 'ready' && list.items.length === 0 && (
        <p class="soft">{text(kind === 'album' ? 'noAlbums' : 'noBlogs')}</p>
      )}
      <ul class="read-cards">
        {list.items.slice(0, shown).map(item => (
          <Card key={item.id} kind={kind} item={item} />
        ))}
      </ul>
      {state === 'loading' && <output class="read-loading">{text('loading')}</output>}
      {typeof state === 'object' && <Failure error={state.error} retry={load} />}
      {state === 'ready' && hasMore && (
        <button type="button" onClick={load} data-testid={`more-${kind}`}>
          {text('more')}
        </button>
      )}
    </section>
  )
}

/** A card. The list has only the title; the rest is loaded when the card comes into sight. */
function Card({ kind, item }: { kind: 'album' | 'blog'; item: Item }) {
  const element = useRef<HTMLLIElement>(null)
  const [content, setContent] = useState<Content | 'gone'>()
  useEffect(() => {
    const controller = new AbortController()
    const observer = new IntersectionObserver(
      entries => {
        if (!entries.some(each => each.isIntersecting)) return
        observer.disconnect()
        gate
          .run(() => loadContent(kind, item.id, controller.signal), controller.signal)
          .then(setContent, () => controller.signal.aborted || setContent('gone'))
      },
      { rootMargin: '200px' },
    )
    observer.observe(element.current!)
    return () => {
      observer.disconnect()
      controller.abort()
    }
  }, [kind, item.id])
  const isLoaded = content !== undefined && content !== 'gone'
  return (
    <li ref={element} class="read-card card" data-testid={`${kind}-card`} aria-busy={content === undefined}>
      {isLoaded ? <SmallMap place={content.place} /> : <div class="read-map" />}
      <div class="read-card-text">
        <h3>
          <a href={contentHash(kind, item.id)}>{item.title.trim() || text('untitled')}</a>
        </h3>
        {isLoaded && <Facts content={content} compact />}
        {content === 'gone' && <p class="soft small">{text('gone')}</p>}
      </div>
    </li>
  )
}
