import { CallFailure } from '../api'
import { findFailure } from '../description'
import { text } from './words'

/** Returns a failure's words, and what the description says to do. */
export function explain(error: unknown): { cause: string; advice: string } {
  const known = error instanceof CallFailure ? findFailure(error.reason, error.info) : undefined
  return {
    cause: error instanceof Error ? error.message : String(error),
    advice: known ? `${known.meaning} ${known.action}` : '',
  }
}

/** A failure with its words, what to do, and a button to try again. */
export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  const { cause, advice } = explain(error)
  return (
    <div class="read-failure" role="alert" data-testid="failure">
      <p>{text('loadFailed', { cause })}</p>
      {advice && <p class="soft small">{advice}</p>}
      {retry && (
        <button type="button" onClick={retry} data-testid="retry">
          {text('retry')}
        </button>
      )}
    </div>
  )
}
