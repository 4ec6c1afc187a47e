// The frame of every view: navigation, language, theme, and the view that the address names.

import { useEffect, useRef } from 'preact/hooks'
import { loadDescription, loading } from '../description'
import { SessionMenu } from '../session/SessionMenu'
import { route } from '../router'
import { LanguageChoice, Mark, ThemeChoice } from './Choices'
import { Message } from './Message'
import { View } from './View'
import { text } from './words'

const views = ['explore', 'map', 'read', 'health'] as const

export function Shell() {
  const current = route.value.path[0] ?? 'explore'
  useTitle(current)
  return (
    <>
      <a class="skip" href="#content" onClick={focusContent}>
        {text('skip')}
      </a>
      <header class="bar">
        <a class="brand" href="#/explore" data-testid="brand">
          <Mark />
          Waybook
        </a>
        <nav aria-label={text('views')}>
          {views.map(each => (
            <a key={each} href={`#/${each}`} aria-current={each === current ? 'page' : undefined} data-testid={`nav-${each}`}>
              {text(each)}
            </a>
          ))}
        </nav>
        <div class="bar-end">
          {loading.value.state === 'ready' && <SessionMenu />}
          <LanguageChoice />
          <ThemeChoice />
        </div>
      </header>
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
      <Message title={text('notLoaded')} detail={`${text('notLoadedAction')} (${now.cause})`}>
        <button class="primary" type="button" onClick={() => void loadDescription()} data-testid="retry">
          {text('retry')}
        </button>
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
  const title = name === 'map' || name === 'health' || name === 'read' ? text(name) : text('explore')
  const last = useRef(name)
  useEffect(() => {
    document.title = `${title} · Waybook`
    if (last.current !== name) document.getElementById('content')?.focus({ preventScroll: true })
    last.current = name
  }, [title, name])
}
