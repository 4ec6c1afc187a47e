import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'

import { parsePlace } from './lists'
import { formatPlace, type Place } from './model'
import { text } from './words'

interface PlaceFieldProps {
  /** The place that the field has at first. */
  place?: Place | undefined
  label: string
  button: string
  /** Names the field for tests; its button has the same name with `-go`. */
  name: string
  choose: (place: Place) => void
  /** Called for an empty field, which is invalid otherwise. */
  clear?: () => void
  /** Beside the field, before the button and after it. */
  before?: ComponentChildren
  after?: ComponentChildren
}

/** A field for coordinates, latitude first, with its button. */
export function PlaceField({ place, label, button, name, choose, clear, before, after }: PlaceFieldProps) {
  const [typed, setTyped] = useState(place ? formatPlace(place) : '')
  const [invalid, setInvalid] = useState(false)
  const problem = useId()
  return (
    <form
      class="place-field"
      onSubmit={event => {
        event.preventDefault()
        const found = parsePlace(typed)
        const isCleared = clear !== undefined && typed.trim() === ''
        setInvalid(!found && !isCleared)
        if (found) choose(found)
        else if (isCleared) clear()
      }}
    >
      <label>
        <span class="small">{label}</span>
        <input
          value={typed}
          placeholder="25.034, 121.565"
          autoComplete="off"
          aria-invalid={invalid}
          aria-describedby={invalid ? problem : undefined}
          onInput={event => setTyped(event.currentTarget.value)}
          data-testid={name}
        />
      </label>
      {before}
      <button type="submit" data-testid={`${name}-go`}>
        {button}
      </button>
      {after}
      {invalid && (
        <p id={problem} class="read-problem place-problem" role="alert">
          {text('placeInvalid')}
        </p>
      )}
    </form>
  )
}
