import { useEffect, useRef, useState } from 'preact/hooks'

import { findOperation } from '../description'
import { visibleOr } from '../format'
import { buildHash, route } from '../router'
import { Card } from './Card'
import { Diary } from './Diary'
import { Failure } from '../shell/Failure'
import { kindWords } from './labels'
import { listOperations, loadList, personOfUser, useLoaded, type List } from './load'
import type { ContentKind } from './model'
import { text } from './words'

/** Cards that are shown at first, and with each press of the button. */
const step = 12

/** The albums of a user, the entries and the landmarks as cards, or the entries as a calendar. */
export function UserView({ id }: { id: string }) {
  const diary = route.value.query.get('diary')
  const month = /^\d{4}-(0[1-9]|1[0-2])$/.test(diary ?? '') ? diary! : ''
  const hasDiary = findOperation('getDatedBlogList') !== undefined
  const isDiary = diary !== null && hasDiary
  const { loaded } = useLoaded(id, signal => personOfUser(id, signal))
  const [failure, setFailure] = useState<unknown>()
  const name = loaded.state === 'ready' ? visibleOr(loaded.value?.name ?? '', '') : ''
  return (
    <div data-testid="user-page">
      {name && <p class="soft small">{text('userTitle', { id })}</p>}
      <h1>{name || text('userTitle', { id })}</h1>
      {hasDiary && (
        <nav class="read-kinds" aria-label={text('shownAs')}>
          <a href={buildHash(['read', 'user', id])} aria-current={isDiary ? undefined : 'page'} data-testid="user-cards">
            {text('cards')}
          </a>
          <a
            href={buildHash(['read', 'user', id], new URLSearchParams({ diary: '' }))}
            aria-current={isDiary ? 'page' : undefined}
            data-testid="user-diary"
          >
            {text('calendar')}
          </a>
        </nav>
      )}
      {failure !== undefined ? (
        <Failure error={failure} retry={() => setFailure(undefined)} />
      ) : isDiary ? (
        <Diary user={id} month={month} />
      ) : (
        <>
          {(['album', 'blog', 'landmark'] as const).map(kind =>
            findOperation(listOperations[kind]) ? (
              <Cards key={`${kind}/${id}`} kind={kind} user={id} fail={setFailure} />
            ) : (
              <section class="read-section">
                <h2>{text(kindWords[kind])}</h2>
                <p class="soft">{text('listOff')}</p>
              </section>
            ),
          )}
        </>
      )}
    </div>
  )
}

/** `fail` is called if the list cannot be loaded: what fails for one list mostly fails for all. */
function Cards({ kind, user, fail }: { kind: ContentKind; user: string; fail: (error: unknown) => void }) {
  const [list, setList] = useState<List>({ items: [], next: '' })
  const [shown, setShown] = useState(0)
  const [state, setState] = useState<'loading' | 'ready'>('loading')
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
      (error: unknown) => signal.aborted || fail(error),
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
      aria-label={text(kindWords[kind])}
      data-testid={`${kind}-cards`}
    >
      <h2>{text(kindWords[kind])}</h2>
      {state === 'ready' && list.items.length === 0 && (
        <p class="soft">{text(kind === 'album' ? 'noAlbums' : kind === 'blog' ? 'noBlogs' : 'noLandmarks')}</p>
      )}
      <ul class="read-cards">
        {list.items.slice(0, shown).map(item => (
          <Card key={item.id} item={{ kind, ...item }} heading="h3" />
        ))}
      </ul>
      {state === 'loading' && <output class="read-loading">{text('loading')}</output>}
      {state === 'ready' && hasMore && (
        <button type="button" onClick={load} data-testid={`more-${kind}`}>
          {text('more')}
        </button>
      )}
    </section>
  )
}
