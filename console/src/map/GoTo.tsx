import { useState } from 'preact/hooks'

import { parsePlace } from '../read/lists'
import type { Place } from '../read/model'
import { text } from './words'

/** A field for coordinates, which the map goes to. */
export function GoTo({ go }: { go: (place: Place) => void }) {
  const [typed, setTyped] = useState('')
  const [invalid, setInvalid] = useState(false)
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        const place = parsePlace(typed)
        setInvalid(!place)
        if (place) go(place)
      }}
    >
      <div class="map-go">
        <label>
          <span class="small">{text('coordinates')}</span>
          <input
            value={typed}
            placeholder="25.034, 121.565"
            autoComplete="off"
            aria-invalid={invalid}
            aria-describedby={invalid ? 'map-go-invalid' : undefined}
            onInput={event => setTyped(event.currentTarget.value)}
            data-testid="map-coordinates"
          />
        </label>
        <button type="submit" data-testid="map-go">
          {text('goThere')}
        </button>
      </div>
      {invalid && (
        <p id="map-go-invalid" class="map-problem small" role="alert">
          {text('coordinatesInvalid')}
        </p>
      )}
    </form>
  )
}
