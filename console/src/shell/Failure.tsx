import { failureDetails, failureSentence } from '../failures'
import { text } from './words'

/** A failure as one box: a sentence for people, what programmers need behind a fold, and a button to try again. */
export function Failure(props: {
  error: unknown
  sentence?: string
  retry?: (() => void) | undefined
  dismiss?: () => void
  testid?: string
}) {
  const { error, retry, dismiss } = props
  const details = failureDetails(error)
  return (
    <div class="note bad failure" role="alert" data-testid={props.testid ?? 'failure'}>
      <p>{props.sentence ?? failureSentence(error)}</p>
      {details && (
        <details>
          <summary>{text('details')}</summary>
          <code>{details}</code>
        </details>
      )}
      <p class="failure-actions">
        {retry && (
          <button type="button" onClick={retry} data-testid="retry">
            {text('retry')}
          </button>
        )}
        {dismiss && (
          <button class="plain" type="button" onClick={dismiss}>
            {text('dismiss')}
          </button>
        )}
      </p>
    </div>
  )
}
