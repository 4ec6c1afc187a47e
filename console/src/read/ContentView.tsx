import './read.css'

import { visibleOr } from '../format'
import { Ballot, CommentActions, NewComment, Recommendation } from './Actions'
import { Comments } from './Comments'
import { Failure } from '../shell/Failure'
import { NearLinks } from './Browse'
import { diaryHash } from './Diary'
import { contentHash, Facts } from './Head'
import { canBrowse } from './lists'
import { loadContent, useLoaded } from './load'
import { summaryOfContent, type Content, type ContentKind } from './model'
import { Photos } from './Photos'
import { SmallMap } from './SmallMap'
import { VoteBars } from './VoteBars'
import { text } from './words'

/** The page of an album, an entry or a landmark. */
export function ContentView({ kind, id }: { kind: ContentKind; id: string }) {
  const { loaded, reload } = useLoaded(`${kind}/${id}`, signal => loadContent(kind, id, signal))
  if (loaded.state === 'loading') return <output class="read-loading">{text('loading')}</output>
  if (loaded.state === 'failed') return <Failure error={loaded.error} retry={reload} />
  const content = loaded.value
  return (
    <article class="read-content" data-testid={`${kind}-page`}>
      <header class="read-head">
        <div>
          <p class="soft small">
            {text(kind)} {id}
          </p>
          <h1>{visibleOr(content.title, text('untitled'))}</h1>
          <Facts content={summaryOfContent(content)} zoom={content.entry?.zoom ?? 14} />
        </div>
        <SmallMap place={content.place} />
      </header>
      <Body content={content} changed={reload} />
      {canBrowse() && (
        <footer class="read-foot">
          <NearLinks kind={kind} near={content.place} />
          <button type="button" onClick={() => print()} data-testid="print">
            {text('print')}
          </button>
          {kind === 'blog' && content.owner.id && content.date && (
            <a href={diaryHash(content.owner.id, content.date.slice(0, 7))} data-testid="in-diary">
              {text('inDiary')}
            </a>
          )}
        </footer>
      )}
    </article>
  )
}

/** The beginning of the entry that the one below it answers. */
function Quoted({ id }: { id: string }) {
  const { loaded } = useLoaded(id, signal => loadContent('blog', id, signal))
  if (loaded.state === 'loading') return <output class="read-loading">{text('loading')}</output>
  const quoted = loaded.state === 'ready' ? loaded.value : undefined
  return (
    <blockquote class="read-quoted card" data-testid="quoted">
      <p class="soft small">{text('answers')}</p>
      <p>
        <a href={contentHash('blog', id)}>{quoted ? visibleOr(quoted.title, text('untitled')) : text('entryOf', { id })}</a>{' '}
        <span class="soft small">{quoted ? [quoted.owner.name, quoted.date].filter(Boolean).join(' · ') : text('gone')}</span>
      </p>
      {quoted?.entry && <p class="read-quoted-text">{quoted.entry.text}</p>}
    </blockquote>
  )
}

/** Everything of content below its head. `changed` is called after an action changed it. */
export function Body({ content, changed }: { content: Content; changed: () => void }) {
  const { entry } = content
  return (
    <>
      {entry?.quoted && <Quoted key={entry.quoted} id={entry.quoted} />}
      {entry && (
        <div class="read-text read-entry" data-testid="entry-text">
          {entry.text}
        </div>
      )}
      <Recommendation content={content} changed={changed} />
      {entry?.vote && (
        <VoteBars vote={entry.vote} action={choice => <Ballot content={content} choice={choice} changed={changed} />} />
      )}
      {(content.photos.length > 0 || content.kind === 'album') && <Photos content={content} changed={changed} />}
      <Comments
        comments={content.comments}
        actions={comment => <CommentActions content={content} comment={comment} changed={changed} />}
      >
        <NewComment content={content} changed={changed} />
      </Comments>
    </>
  )
}
