import './read.css'

import { useState } from 'preact/hooks'

import { buildHash, go, route } from '../router'
import { userOfSession } from './access'
import { Browse } from './Browse'
import { Home } from './Home'
import { canBrowse } from './lists'
import { ContentView } from './ContentView'
import { isIdentifier } from './identifier'
import type { ContentKind } from './model'
import { UserView } from './UserView'
import { text } from './words'

type Kind = ContentKind | 'user'

const kinds: readonly Kind[] = ['user', 'album', 'blog', 'landmark']

/** The reading views: what is new at #/, the lists at #/read, and #/read/KIND/IDENTIFIER. */
export default function ReadView() {
  const [, kind, id] = route.value.path
  const known = kinds.find(each => each === kind)
  if (known && isIdentifier(id)) {
    return (
      <div class="read">
        <Ways />
        {known === 'user' ? <UserView key={id} id={id} /> : <ContentView kind={known} id={id} />}
      </div>
    )
  }
  const finder = (
    <details class="read-finder-fold" open={!canBrowse()}>
      <summary>{text('byIdentifier')}</summary>
      <Finder key={`${known}/${id}`} kind={known ?? 'user'} id={id ?? ''} />
    </details>
  )
  if (route.value.path.length === 0 && canBrowse()) {
    return (
      <div class="read">
        <Home />
        {finder}
      </div>
    )
  }
  return (
    <div class="read">
      {finder}
      {canBrowse() ? (
        <Browse />
      ) : (
        <section>
          <h1>{text('title')}</h1>
          <p class="soft">{text('browseOff')}</p>
        </section>
      )}
    </div>
  )
}

/** Links from a page of content to the lists. */
function Ways() {
  const mine = userOfSession()
  return (
    <nav class="read-kinds read-ways" aria-label={text('lists')}>
      <a href="#/" data-testid="read-new">
        ← {text('whatIsNew')}
      </a>
      {mine && (
        <a href={buildHash(['read', 'user', mine])} data-testid="read-mine">
          {text('mine')}
        </a>
      )}
    </nav>
  )
}

function Finder(props: { kind: Kind; id: string }) {
  const [kind, setKind] = useState<Kind>(props.kind)
  const [id, setID] = useState(props.id)
  const [invalid, setInvalid] = useState(false)
  const mine = userOfSession()
  return (
    <form
      class="read-finder"
      aria-label={text('byIdentifier')}
      onSubmit={event => {
        event.preventDefault()
        setInvalid(!isIdentifier(id.trim()))
        if (isIdentifier(id.trim())) go(buildHash(['read', kind, id.trim()]))
      }}
    >
      <div class="read-finder-fields">
        <label>
          <span class="small">{text('kind')}</span>
          <select value={kind} onChange={event => setKind(event.currentTarget.value as Kind)} data-testid="read-kind">
            {kinds.map(each => (
              <option key={each} value={each}>
                {text(each)}
              </option>
            ))}
          </select>
        </label>
        <label>
          <span class="small">{text('identifier')}</span>
          <input
            inputMode="numeric"
            autoComplete="off"
            value={id}
            aria-invalid={invalid}
            aria-describedby={invalid ? 'read-invalid' : undefined}
            onInput={event => setID(event.currentTarget.value)}
            data-testid="read-id"
          />
        </label>
        <button class="primary" type="submit" data-testid="read-open">
          {text('open')}
        </button>
        {mine && (
          <a class="button" href={buildHash(['read', 'user', mine])} data-testid="read-mine">
            {text('mine')}
          </a>
        )}
      </div>
      {invalid && (
        <p id="read-invalid" class="read-problem" role="alert">
          {text('invalid')}
        </p>
      )}
    </form>
  )
}
