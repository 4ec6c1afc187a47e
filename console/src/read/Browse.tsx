import { useEffect, useRef, useState } from 'preact/hooks'

import { findOperation } from '../description'
import { numbers } from '../i18n'
import { buildHash, go, route } from '../router'
import { keepCount, keptCount } from '../shell/scroll'
import { filterOf, kinds, loadPart, queryOf, radiuses, type Filter, type Loaded } from './lists'
import { formatMonth, shiftMonth } from './calendar'
import { Card } from './Card'
import { Failure } from '../shell/Failure'
import { categories, kindWords } from './labels'
import { formatPlace, type ContentKind } from './model'
import { PlaceField } from './PlaceField'
import { text } from './words'

/** Cards that are loaded at a time. */
const step = 24

/** Cards that are loaded at once to return to a place in a list. */
const mostAtOnce = 480

/** Lists that were left, by their address, so that back shows them at once: the last few of them. */
const lists = new Map<string, Loaded>()
const mostLists = 6


/** Returns the address of a list. */
export function browseHash(filter: Filter): string {
  return buildHash(['read'], queryOf(filter))
}

/** What is new, of everybody, with what narrows it. */
export function Browse() {
  const filter = filterOf(route.value.query)
  const address = queryOf(filter).toString()
  return (
    <section aria-labelledby="read-title">
      <h1 id="read-title">{titleOf(filter)}</h1>
      <Narrow filter={filter} />
      <Items key={address} address={address} filter={filter} />
    </section>
  )
}

function titleOf({ kind, near, date }: Filter): string {
  const name = text(kindWords[kind])
  const what = near || date ? name : name.toLowerCase()
  if (near) return text('nearTitle', { what, place: formatPlace(near) })
  if (date) return text('dateTitle', { what, date: formatMonth(date) })
  return text('newTitle', { what })
}

/** The links and fields that narrow a list. A link keeps what the others chose. */
function Narrow({ filter }: { filter: Filter }) {
  const { kind, near, date, category } = filter
  const choose = (change: Partial<Filter>) => go(browseHash({ ...filter, ...change }))
  return (
    <div class="read-narrow">
      <nav aria-label={text('kind')} class="read-kinds">
        {kinds.map(each => (
          <a
            key={each}
            href={browseHash({ ...filter, kind: each, category: '', date: '' })}
            aria-current={each === kind ? 'page' : undefined}
            data-testid={`browse-${each}`}
          >
            {text(kindWords[each])}
          </a>
        ))}
      </nav>
      {!date && (
        <label>
          <span class="small">{text(kind === 'blog' ? 'type' : 'category')}</span>
          <select
            value={category}
            onChange={event => choose({ category: event.currentTarget.value })}
            data-testid="browse-category"
          >
            <option value="">{text('all')}</option>
            {categories(kind).map(each => (
              <option key={each.value} value={each.value}>
                {each.label}
              </option>
            ))}
          </select>
        </label>
      )}
      <NearField key={near ? `${near.lat},${near.lng}` : ''} filter={filter} choose={choose} />
      {kind === 'blog' && !near && findOperation('getDatedBlogList') && <MonthField date={date} choose={choose} />}
    </div>
  )
}

interface FieldProps {
  filter: Filter
  choose: (change: Partial<Filter>) => void
}

/** A place to list around, by its coordinates. Pages of content and the map have links that fill it in. */
function NearField({ filter, choose }: FieldProps) {
  const { near, radius } = filter
  return (
    <PlaceField
      place={near}
      label={text('nearField')}
      button={text('listNear')}
      name="browse-near"
      choose={place => choose({ near: place, date: '' })}
      clear={() => choose({ near: undefined, date: '' })}
      before={
        near && (
          <label>
            <span class="small">{text('radius')}</span>
            <select
              value={String(radius)}
              onChange={event => choose({ radius: Number(event.currentTarget.value) })}
              data-testid="browse-radius"
            >
              {radiuses.map(each => (
                <option key={each} value={String(each)}>
                  {each} km
                </option>
              ))}
            </select>
          </label>
        )
      }
      after={
        near && (
          <button type="button" class="plain" onClick={() => choose({ near: undefined })} data-testid="browse-everywhere">
            {text('everywhere')}
          </button>
        )
      }
    />
  )
}

/** The month whose entries are listed, with the months beside it. */
function MonthField({ date, choose }: { date: string; choose: FieldProps['choose'] }) {
  if (!date) {
    const now = new Date()
    const month = `${now.getFullYear()}-${String(now.getMonth() + 1).padStart(2, '0')}`
    return (
      <button type="button" onClick={() => choose({ date: month, category: '' })} data-testid="browse-by-month">
        {text('byMonth')}
      </button>
    )
  }
  const month = date.length === 4 ? `${date}-01` : date.slice(0, 7)
  const button = (by: number, testid: string) => {
    const name = formatMonth(shiftMonth(month, by))
    return (
      <button type="button" onClick={() => choose({ date: shiftMonth(month, by) })} data-testid={testid}>
        {by < 0 ? `‹ ${name}` : `${name} ›`}
      </button>
    )
  }
  return (
    <div class="read-month" role="group" aria-label={text('month')}>
      {button(-12, 'browse-year-before')}
      {button(-1, 'browse-month-before')}
      <strong>{formatMonth(date)}</strong>
      {button(1, 'browse-month-after')}
      {button(12, 'browse-year-after')}
      <button type="button" class="plain" onClick={() => choose({ date: '' })} data-testid="browse-any-date">
        {text('anyDate')}
      </button>
    </div>
  )
}

/** The cards of a list. It loads the next ones when its end comes near. */
function Items({ address, filter }: { address: string; filter: Filter }) {
  // A list that was left is shown again by back, and loaded anew by a link.
  const [list, setList] = useState<Loaded | undefined>(() => (keptCount() > 0 ? lists.get(address) : undefined))
  const [state, setState] = useState<'loading' | 'ready' | { error: unknown }>(list ? 'ready' : 'loading')
  const controller = useRef<AbortController | undefined>(undefined)
  const end = useRef<HTMLDivElement>(null)

  const load = () => {
    controller.current?.abort()
    const { signal } = (controller.current = new AbortController())
    setState('loading')
    const count = list ? step : Math.max(step, Math.min(keptCount(), mostAtOnce))
    loadPart(filter, list?.next ?? '', count, signal).then(
      part => {
        if (signal.aborted) return
        const items = (list?.items ?? []).concat(part.items)
        setList({ items, next: part.next })
        setState('ready')
        keepCount(items.length)
        remember(address, { items, next: part.next })
      },
      (error: unknown) => signal.aborted || setState({ error }),
    )
  }
  useEffect(() => {
    if (!list) load()
    return () => controller.current?.abort()
  }, [])
  const latest = useRef(load)
  latest.current = load
  const hasMore = list !== undefined && list.next !== ''
  useEffect(() => {
    if (!hasMore || state !== 'ready') return
    const observer = new IntersectionObserver(
      entries => entries.some(each => each.isIntersecting) && latest.current(),
      { rootMargin: '600px' },
    )
    observer.observe(end.current!)
    return () => observer.disconnect()
  }, [hasMore, state, list])
  const count = list?.items.length ?? 0
  return (
    <div class="read-section" aria-busy={state === 'loading' && !list} data-testid="browse-list" data-next={list?.next ?? ''}>
      {list && count === 0 && <p class="soft">{emptyText(filter)}</p>}
      <ul class="read-cards">{list?.items.map(item => <Card key={item.id} item={item} heading="h2" />)}</ul>
      <output class="soft small" data-testid="browse-count">
        {state === 'loading'
          ? text('loading')
          : count > 0 && text(hasMore ? 'shownSoFar' : 'shownAll', { count: numbers.value.format(count) })}
      </output>
      {typeof state === 'object' && <Failure error={state.error} retry={load} />}
      <div ref={end} />
      {state === 'ready' && hasMore && (
        <button type="button" onClick={load} data-testid="browse-more">
          {text('more')}
        </button>
      )}
    </div>
  )
}

function emptyText({ kind, near, date, category }: Filter): string {
  if (near) return text('noneNear')
  if (date) return text('noneThen')
  return text(category ? 'noneOf' : kind === 'blog' ? 'noneYetBlogs' : 'noneYet')
}

function remember(address: string, list: Loaded): void {
  lists.delete(address)
  lists.set(address, list)
  for (const oldest of [...lists.keys()].slice(0, Math.max(0, lists.size - mostLists))) lists.delete(oldest)
}

/** Links to what is near content, by kind. */
export function NearLinks({ kind, near }: { kind: ContentKind; near: Filter['near'] }) {
  return (
    <nav class="read-kinds" aria-label={text('nearby')}>
      <span class="soft small">{text('nearby')}</span>
      {kinds.map(each => (
        <a
          key={each}
          href={browseHash({ kind: each, category: '', near, radius: 5, date: '' })}
          data-testid={`near-${each}`}
          data-of={kind}
        >
          {text(kindWords[each])}
        </a>
      ))}
    </nav>
  )
}
