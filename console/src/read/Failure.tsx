import { CallFailure } from '../api'
import { findFailure } from '../description'
import { text } from './words'

/** A failure with its words, what to do, and a button to try again. */
export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  const known = error instanceof CallFailure ? findFailure(error.reason, error.info) : undefined
  const cause = error instanceof Error ? error.message : String(error)
  return (
    <div class="read-failure" role="alert" data-testid="failure">
      <p>{text('loadFailed', { cause })}</p>
      {known && (
        <p class="soft small">
          {known.meaning} {known.action}
        </p>
      )}
      {retry && (
        <button type="button" onClick={retry} data-testid="retry">
          {text('retry')}
        </button>
      )}
    </div>
  )
}
