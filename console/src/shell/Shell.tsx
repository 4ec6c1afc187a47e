// The frame of every view: navigation, language, theme, and the view that the address names.

import { useEffect, useRef } from 'preact/hooks'
import { loadDescription, loading } from '../description'
import { SessionMenu } from '../session/SessionMenu'
import { route } from '../router'
import { Choices, Mark } from './Choices'
import { Failure } from './Failure'
import { Message } from './Message'
import { View } from './View'
import { text } from './words'

/** The views for developers; the others are for everybody. */
const developerViews = ['explore', 'health'] as const

const isForDevelopers = (name: string) => developerViews.some(each => each === name)

export function Shell() {
  const current = route.value.path[0] ?? 'read'
  useTitle(current)
  const link = (name: string, hash: string, title: string, isCurrent: boolean) => (
    <a key={name} href={hash} aria-current={isCurrent ? 'page' : undefined} data-testid={`nav-${name}`}>
      {title}
    </a>
  )
  return (
    <>
      <a class="skip" href="#content" onClick={focusContent}>
        {text('skip')}
      </a>
      <header class="bar">
        <a class="brand" href="#/" data-testid="brand">
          <Mark />
          <span class="brand-name">Waybook</span>
        </a>
        <nav aria-label={text('views')}>
          {link('read', '#/', text('read'), current === 'read')}
          {link('map', '#/map', text('map'), current === 'map')}
          {link('developers', '#/explore', text('developers'), isForDevelopers(current))}
        </nav>
        <div class="bar-end">
          {loading.value.state === 'ready' && <SessionMenu />}
          <Choices />
        </div>
      </header>
      {isForDevelopers(current) && (
        <nav class="subbar" aria-label={text('developers')}>
          {developerViews.map(each => link(each, `#/${each}`, text(each), each === current))}
        </nav>
      )}
      <main id="content" tabIndex={-1}>
        <Content name={current} />
      </main>
    </>
  )
}

function Content({ name }: { name: string }) {
  const now = loading.value
  if (now.state === 'loading') return <Message busy title={text('loading')} />
  if (now.state === 'failed') {
    return (
      <Message title={text('notLoaded')}>
        <Failure error={now.cause} sentence={text('notLoadedAction')} retry={() => void loadDescription()} testid="not-loaded" />
      </Message>
    )
  }
  return <View name={name} />
}

function focusContent(event: Event): void {
  event.preventDefault()
  document.getElementById('content')?.focus()
}

/** Keeps the title of the document, and moves the focus to a new view so that screen readers read it. */
function useTitle(name: string): void {
  const title = name === 'map' || name === 'health' || name === 'explore' || name === 'account' ? text(name) : text('read')
  const last = useRef(name)
  useEffect(() => {
    document.title = `${title} · Waybook`
    if (last.current !== name) document.getElementById('content')?.focus({ preventScroll: true })
    last.current = name
  }, [title, name])
}
