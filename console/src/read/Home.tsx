import { findOperation } from '../description'
import { openSession } from '../session/SessionMenu'
import { Failure } from '../shell/Failure'
import { userOfSession } from './access'
import { browseHash } from './Browse'
import { Card } from './Card'
import { kindWords } from './labels'
import { filterOf, kinds, loadPart } from './lists'
import { useLoaded } from './load'
import type { ContentKind, Summary } from './model'
import { OverviewMap } from './OverviewMap'
import { text } from './words'

/** Cards of each kind. */
const few = 6

/** What a visitor sees first: the newest of each kind as pictures, and where it is. */
export function Home() {
  const { loaded, reload } = useLoaded('home', loadNewest)
  return (
    <section class="home" aria-labelledby="home-title" aria-busy={loaded.state === 'loading'} data-testid="home">
      <h1 id="home-title">{text('whatIsNew')}</h1>
      {loaded.state === 'loading' && <output class="read-loading">{text('loading')}</output>}
      {loaded.state === 'failed' && <Failure error={loaded.error} retry={reload} />}
      {loaded.state === 'ready' && <Newest items={loaded.value} />}
    </section>
  )
}

async function loadNewest(signal: AbortSignal): Promise<Summary[]> {
  const parts = await Promise.all(kinds.map(kind => loadPart(newestOf(kind), '', few, signal)))
  return parts.flatMap(part => part.items)
}

function newestOf(kind: ContentKind) {
  return filterOf(new URLSearchParams({ kind }))
}

function Newest({ items }: { items: Summary[] }) {
  if (items.length === 0) return <FirstSteps />
  return (
    <div class="home-columns">
      <OverviewMap items={items} />
      <div class="home-lists">
        {kinds.map(kind => {
          const some = items.filter(each => each.kind === kind)
          if (some.length === 0) return null
          return (
            <section key={kind} class="read-section" aria-labelledby={`home-${kind}`}>
              <div class="home-head">
                <h2 id={`home-${kind}`}>{text(kindWords[kind])}</h2>
                <a
                  href={browseHash(newestOf(kind))}
                  aria-label={text('allOf', { what: text(kindWords[kind]) })}
                  data-testid={`home-all-${kind}`}
                >
                  {text('all')} →
                </a>
              </div>
              <ul class="read-cards">
                {some.map(item => (
                  <Card key={item.id} item={item} heading="h3" />
                ))}
              </ul>
            </section>
          )
        })}
      </div>
    </div>
  )
}

/** The operations that make content, with what a link to their forms says. */
const firstForms = [
  ['addAlbum', 'addAlbum'],
  ['postBlog', 'postEntry'],
] as const

/** What to do first where there is nothing yet. */
function FirstSteps() {
  const isIn = userOfSession() !== ''
  return (
    <div class="card home-steps" data-testid="first-steps">
      <p>{text('nothingYet')}</p>
      <ol>
        <li>
          {text('firstUser')} <code>{'waybookctl user create NAME --email EMAIL --generate-password'}</code>
        </li>
        <li>
          {isIn ? (
            text('loggedIn')
          ) : (
            <button class="primary" type="button" onClick={openSession} data-testid="first-login">
              {text('logIn')}
            </button>
          )}
        </li>
        <li>
          {text('firstContent')}
          {firstForms.map(
            ([func, word]) =>
              findOperation(func) && (
                <a key={func} class="button" href={`#/explore/${func}`} data-testid={`first-${func}`}>
                  {text(word)}
                </a>
              ),
          )}
        </li>
      </ol>
    </div>
  )
}
