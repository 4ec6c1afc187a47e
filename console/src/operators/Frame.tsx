// The frame of the pages: navigation, language, theme, and the page that the address names.

import type { ComponentType } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { route } from '../router'
import { LanguageChoice, Mark, ThemeChoice } from '../shell/Choices'
import { text as shellText } from '../shell/words'
import { DeletedPage } from './Deleted'
import { MovesPage } from './Moves'
import { RequestsPage } from './Requests'
import { StatePage } from './State'
import { UserPage, UsersPage } from './Users'
import { text } from './words'

const pages = {
  users: UsersPage,
  requests: RequestsPage,
  deleted: DeletedPage,
  moves: MovesPage,
  state: StatePage,
} satisfies Record<string, ComponentType>

type Name = keyof typeof pages

const names = Object.keys(pages) as Name[]

export function Frame() {
  const [first, second] = route.value.path
  const current = names.find(each => each === first) ?? 'users'
  const Page = pages[current]
  useTitle(text(current))
  return (
    <>
      <a class="skip" href="#content" onClick={focusContent}>
        {shellText('skip')}
      </a>
      <header class="bar">
        <a class="brand" href="#/users">
          <Mark />
          {text('brand')}
        </a>
        <nav aria-label={shellText('views')}>
          {names.map(each => (
            <a key={each} href={`#/${each}`} aria-current={each === current ? 'page' : undefined}>
              {text(each)}
            </a>
          ))}
        </nav>
        <div class="bar-end">
          <LanguageChoice />
          <ThemeChoice />
        </div>
      </header>
      <main id="content" tabIndex={-1} class="operators">
        {current === 'users' && second ? <UserPage key={second} id={second} /> : <Page />}
      </main>
    </>
  )
}

function focusContent(event: Event): void {
  event.preventDefault()
  document.getElementById('content')?.focus()
}

/** Keeps the title of the document, and moves the focus to a new page so that screen readers read it. */
function useTitle(title: string): void {
  const place = route.value.path.join('/')
  const last = useRef(place)
  useEffect(() => {
    document.title = `${title} · Waybook`
    if (last.current !== place) document.getElementById('content')?.focus({ preventScroll: true })
    last.current = place
  }, [title, place])
}
