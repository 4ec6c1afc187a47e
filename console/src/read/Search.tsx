import { useState } from 'preact/hooks'

import { description } from '../description'
import { buildHash, go } from '../router'
import { Card } from './Card'
import { Failure } from './Failure'
import { useLoaded } from './load'
import { search } from './search'
import { text } from './words'

/** Bytes of words that a search takes. */
const mostWords = 200

/** A field for words, where the service names a server that searches. */
export function SearchField({ words }: { words: string }) {
  const [typed, setTyped] = useState(words)
  if (!description().search) return null
  return (
    <form
      class="place-field"
      role="search"
      onSubmit={event => {
        event.preventDefault()
        const asked = typed.trim()
        go(buildHash(['read'], asked ? new URLSearchParams({ words: asked }) : undefined))
      }}
    >
      <label>
        <span class="small">{text('searchWords')}</span>
        <input
          type="search"
          value={typed}
          maxLength={mostWords}
          onInput={event => setTyped(event.currentTarget.value)}
          data-testid="search-words"
        />
      </label>
      <button type="submit" data-testid="search-go">
        {text('search')}
      </button>
    </form>
  )
}

/** What has the words. */
export function Found({ words }: { words: string }) {
  const { loaded, reload } = useLoaded(words, signal => search(description().search ?? '', words, signal))
  const results = loaded.state === 'ready' ? loaded.value : undefined
  return (
    <section aria-busy={loaded.state === 'loading'} data-testid="search-results">
      <h1>{text('searchTitle', { words })}</h1>
      {loaded.state === 'loading' && <output class="read-loading">{text('loading')}</output>}
      {loaded.state === 'failed' && <Failure error={loaded.error} retry={reload} />}
      {results?.items.length === 0 && <p class="soft">{text('noneFound')}</p>}
      {results?.similar && <p class="soft">{text('similarFound')}</p>}
      <ul class="read-cards">
        {results?.items.map(item => <Card key={`${item.kind}/${item.id}`} item={item} heading="h2" />)}
      </ul>
    </section>
  )
}
