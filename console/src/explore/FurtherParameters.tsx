import type { Pair } from '../form'
import { text } from './words'

const mostParameters = 100

/** Parameters that the description does not have, or that replace those of the form. */
export function FurtherParameters({ extras, change }: { extras: readonly Pair[]; change: (extras: Pair[]) => void }) {
  const put = (at: number, pair: Pair) => change(extras.map((each, i) => (i === at ? pair : each)))
  return (
    <details class="further" open={extras.length > 0}>
      <summary data-testid="further">{text('further')}</summary>
      <p class="hint">{text('furtherHint')}</p>
      {extras.map(([name, value], i) => (
        <div class="further-row" key={i}>
          <input
            type="text"
            value={name}
            placeholder={text('name')}
            aria-label={text('furtherName', { n: i + 1 })}
            spellcheck={false}
            onInput={event => put(i, [event.currentTarget.value, value])}
            data-testid={`further-name-${i}`}
          />
          <input
            type="text"
            value={value}
            placeholder={text('value')}
            aria-label={text('furtherValue', { n: i + 1 })}
            spellcheck={false}
            onInput={event => put(i, [name, event.currentTarget.value])}
            data-testid={`further-value-${i}`}
          />
          <button type="button" class="plain" aria-label={text('remove', { n: i + 1 })} onClick={() => change(extras.filter((_, at) => at !== i))}>
            ✕
          </button>
        </div>
      ))}
      <button type="button" disabled={extras.length >= mostParameters} onClick={() => change([...extras, ['', '']])} data-testid="further-add">
        {text('add')}
      </button>
    </details>
  )
}
