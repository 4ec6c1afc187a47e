import type { ComponentChildren } from 'preact'

import { numbers } from '../i18n'
import { sharesOf, type Vote } from './model'
import { text } from './words'

/** A vote as bars. `action` makes what stands beside a choice, such as a button; choices count from 1. */
export function VoteBars({ vote, action }: { vote: Vote; action: (choice: number) => ComponentChildren }) {
  const shares = sharesOf(vote)
  return (
    <section class="read-vote card" aria-label={text('vote')} data-testid="vote">
      <h2>{text('vote')}</h2>
      <p class="read-text">{vote.description}</p>
      <ol>
        {vote.choices.map((choice, i) => (
          <li key={i} data-testid="choice">
            <div class="read-choice">
              <span>{choice.description}</span>
              <span class="soft small">
                {choice.votes === 1 ? text('votesOne') : text('votes', { count: numbers.value.format(choice.votes) })} ·{' '}
                {Math.round(shares[i]! * 100)} %
              </span>
            </div>
            <svg class="read-bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
              <rect class="read-bar-all" width="100" height="1" />
              <rect class="read-bar-share" width={shares[i]! * 100} height="1" />
            </svg>
            {action(i + 1)}
          </li>
        ))}
      </ol>
    </section>
  )
}
