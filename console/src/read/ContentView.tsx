import './read.css'

import { Ballot, CommentActions, NewComment, Recommendation } from './Actions'
import { Comments } from './Comments'
import { Failure } from './Failure'
import { contentHash, Facts } from './Head'
import { loadContent, useLoaded } from './load'
import type { Content, ContentKind } from './model'
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
          <h1>{content.title.trim() || text('untitled')}</h1>
          <Facts content={content} />
        </div>
        <SmallMap place={content.place} />
      </header>
      <Body content={content} changed={reload} />
    </article>
  )
}

/** Everything of content below its head. `changed` is called after an action changed it. */
export function Body({ content, changed }: { content: Content; changed: () => void }) {
  const { entry } = content
  return (
    <>
      {entry?.quoted && (
        <p>
          <a href={contentHash('blog', entry.quoted)}>{text('quotes', { id: entry.quoted })}</a>
        </p>
      )}
      {entry && (
        <div class="read-text read-entry" data-testid="entry-text">
          {entry.text}
        </div>
      )}
      <Recommendation content={content} changed={changed} />
      {entry?.vote && (
        <VoteBars vote={entry.vote} action={choice => <Ballot content={content} choice={choice} changed={changed} />} />
      )}
      {content.photos.length > 0 && <Photos photos={content.photos} />}
      <Comments
        comments={content.comments}
        actions={comment => <CommentActions content={content} comment={comment} changed={changed} />}
      >
        <NewComment content={content} changed={changed} />
      </Comments>
    </>
  )
}
