import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

import { act, can } from './actions'
import type { Comment, Content } from './model'
import { userOfSession } from './access'
import { Failure } from '../shell/Failure'
import { text } from './words'

/** The most characters of a comment, a reply and a description (rule 11.2). */
const maxLength = 2000

interface Changing {
  content: Content
  /** Is called after the service made the change. */
  changed: () => void
}

/** Buttons to recommend content and to withdraw that. The replies do not say which of them applies. */
export function Recommendation({ content, changed }: Changing) {
  if (!userOfSession()) return null
  return (
    <div class="read-actions">
      {can('recommend', content) && (
        <Press label={text('recommend')} run={() => act('recommend', content)} done={changed} testid="recommend" />
      )}
      {can('withdrawRecommendation', content) && (
        <Press
          label={text('withdraw')}
          run={() => act('withdrawRecommendation', content)}
          done={changed}
          testid="withdraw"
        />
      )}
    </div>
  )
}

/** A button that votes for a choice, counted from 1. */
export function Ballot({ content, choice, changed }: Changing & { choice: number }) {
  if (!userOfSession() || !can('castVote', content)) return null
  return (
    <Press
      label={text('castVote')}
      run={() => act('castVote', content, { choice })}
      done={changed}
      testid={`cast-${choice}`}
    />
  )
}

/** A form for a comment. */
export function NewComment({ content, changed }: Changing) {
  if (!userOfSession() || !can('addComment', content)) return null
  return (
    <TextForm
      label={text('yourComment')}
      send={text('sendComment')}
      testid="new-comment"
      done={changed}
      run={comment => act('addComment', content, { comment })}
    />
  )
}

/** Buttons to answer and to remove a comment, or all of its author, for those who may. */
export function CommentActions({ content, comment, changed }: Changing & { comment: Comment }) {
  const [replying, setReplying] = useState(false)
  const user = userOfSession()
  const isOwner = user !== '' && content.owner.id === user
  const isAuthor = user !== '' && comment.author.id === user
  if (!comment.id || (!isOwner && !isAuthor)) return null
  const commentID = comment.id
  return (
    <div class="read-actions">
      {isOwner && can('replyComment', content) && !replying && (
        <button class="plain" type="button" onClick={() => setReplying(true)} data-testid="reply-comment">
          {text('answer')}
        </button>
      )}
      {can('removeComment', content) && (
        <Press
          plain
          label={text('remove')}
          run={() => act('removeComment', content, { commentID })}
          done={changed}
          testid="remove-comment"
        />
      )}
      {isOwner && !isAuthor && comment.author.id !== '' && can('removeCommentsByUser', content) && (
        <Press
          plain
          label={text('removeAllBy')}
          confirm={text('removeForGood')}
          run={() => act('removeCommentsByUser', content, { userID: comment.author.id })}
          done={changed}
          testid="remove-all-by"
        />
      )}
      {replying && (
        <TextForm
          label={text('yourReply')}
          send={text('sendReply')}
          testid="new-reply"
          done={() => {
            setReplying(false)
            changed()
          }}
          run={reply => act('replyComment', content, { commentID, reply })}
        />
      )}
    </div>
  )
}

/** Runs a write once at a time and shows its failure. */
function useWrite(run: () => Promise<void>, done: () => void): { busy: boolean; failure: unknown; start: () => void } {
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>()
  const start = () => {
    if (busy) return
    setBusy(true)
    setFailure(undefined)
    run()
      .then(done, setFailure)
      .finally(() => setBusy(false))
  }
  return { busy, failure, start }
}

/** A button that runs a write; with `confirm` at its second press, before which it shows that. */
export function Press(props: {
  label: ComponentChildren
  confirm?: string
  run: () => Promise<void>
  done: () => void
  testid: string
  plain?: boolean
}) {
  const write = useWrite(props.run, props.done)
  const [isAsking, setAsking] = useState(false)
  const press = () => {
    setAsking(!isAsking && props.confirm !== undefined)
    if (isAsking || props.confirm === undefined) write.start()
  }
  return (
    <>
      <button
        class={props.plain ? 'plain' : ''}
        type="button"
        disabled={write.busy}
        onClick={press}
        onBlur={() => setAsking(false)}
        data-testid={props.testid}
      >
        {isAsking ? props.confirm : props.label}
      </button>
      {write.failure !== undefined && <Failure error={write.failure} testid="problem" />}
    </>
  )
}

/** A form for a text. `initial` is one that may be changed, or removed. */
export function TextForm(props: {
  label: string
  send: string
  initial?: string
  run: (value: string) => Promise<void>
  done: () => void
  testid: string
}) {
  const initial = props.initial ?? ''
  const [value, setValue] = useState(initial)
  const write = useWrite(
    () => props.run(value),
    () => {
      setValue(initial)
      props.done()
    },
  )
  return (
    <form
      class="read-form"
      data-testid={props.testid}
      onSubmit={event => {
        event.preventDefault()
        write.start()
      }}
    >
      <label>
        {props.label}
        <textarea value={value} maxLength={maxLength} required={initial === ''} onInput={event => setValue(event.currentTarget.value)} />
      </label>
      <button class="primary" type="submit" disabled={write.busy || value === initial}>
        {props.send}
      </button>
      {write.failure !== undefined && <Failure error={write.failure} testid="problem" />}
    </form>
  )
}
