import './read.css'

import { useState } from 'preact/hooks'

import { buildHash, go, route } from '../router'
import { userOfSession } from './access'
import { ContentView } from './ContentView'
import { isIdentifier } from './identifier'
import type { ContentKind } from './model'
import { UserView } from './UserView'
import { text } from './words'

type Kind = ContentKind | 'user'

const kinds: readonly Kind[] = ['user', 'album', 'blog', 'landmark']

/** The reading views: #/read/KIND/IDENTIFIER, and a form for both without them. */
export default function ReadView() {
  const [, kind, id] = route.value.path
  const known = kinds.find(each => each === kind)
  return (
    <div class="read">
      <Finder key={`${known}/${id}`} kind={known ?? 'user'} id={id ?? ''} isStart={!known || !isIdentifier(id)} />
      {known &&
        isIdentifier(id) &&
        (known === 'user' ? <UserView key={id} id={id} /> : <ContentView kind={known} id={id} />)}
    </div>
  )
}

function Finder(props: { kind: Kind; id: string; isStart: boolean }) {
  const [kind, setKind] = useState<Kind>(props.kind)
  const [id, setID] = useState(props.id)
  const [invalid, setInvalid] = useState(false)
  const mine = userOfSession()
  return (
    <form
      class="read-finder"
      onSubmit={event => {
        event.preventDefault()
        setInvalid(!isIdentifier(id.trim()))
        if (isIdentifier(id.trim())) go(buildHash(['read', kind, id.trim()]))
      }}
    >
      {props.isStart && (
        <>
          <h1>{text('title')}</h1>
          <p class="soft">{text('intro')}</p>
        </>
      )}
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
      </div>
      {invalid && (
        <p id="read-invalid" class="read-problem" role="alert">
          {text('invalid')}
        </p>
      )}
      {mine && (
        <p>
          <a href={buildHash(['read', 'user', mine])} data-testid="read-mine">
            {text('mine')}
          </a>
        </p>
      )}
    </form>
  )
}
