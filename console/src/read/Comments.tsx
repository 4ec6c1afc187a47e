import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

import { visibleOr } from '../format'
import { buildHash } from '../router'
import type { Comment } from './model'
import { Icon } from './Photos'
import { text } from './words'

/** Comments that are shown at first, and with each press of the button: the newest of them. */
const step = 20

/** Comments, oldest first. `children` of a comment come from `actions`. */
export function Comments(props: {
  comments: Comment[]
  actions: (comment: Comment) => ComponentChildren
  children?: ComponentChildren
}) {
  const { comments } = props
  const [shown, show] = useState(step)
  const earlier = comments.length - shown
  return (
    <section aria-label={text('comments')} data-testid="comments">
      <h2>
        {text('comments')} <span class="soft">{comments.length}</span>
      </h2>
      {comments.length === 0 && <p class="soft small">{text('noComments')}</p>}
      {earlier > 0 && (
        <button type="button" onClick={() => show(shown + step)} data-testid="more-comments">
          {text('showComments', { count: Math.min(earlier, step) })}
        </button>
      )}
      <ol class="read-comments">
        {comments.slice(Math.max(0, earlier)).map((comment, i) => (
          <li key={comment.id || Math.max(0, earlier) + i} data-testid="comment">
            <Icon name={comment.author.name} address={comment.author.icon} />
            <div class="read-comment">
              <p class="read-by">
                <strong>
                  {comment.author.id ? (
                    <a href={buildHash(['read', 'user', comment.author.id])}>
                      {visibleOr(comment.author.name, text('unknownPerson'))}
                    </a>
                  ) : (
                    visibleOr(comment.author.name, text('unknownPerson'))
                  )}
                </strong>{' '}
                <span class="soft small">{comment.time}</span>
              </p>
              <p class="read-text">{comment.text}</p>
              {comment.reply && (
                <div class="read-reply" data-testid="reply">
                  <p class="read-by">
                    <strong>{text('reply')}</strong> <span class="soft small">{comment.reply.time}</span>
                  </p>
                  <p class="read-text">{comment.reply.text}</p>
                </div>
              )}
              {props.actions(comment)}
            </div>
          </li>
        ))}
      </ol>
      {props.children}
    </section>
  )
}
