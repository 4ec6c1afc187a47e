import { useEffect, useRef, useState } from 'preact/hooks'

import { baseMap } from '../map/base'
import { baseColours, paintBase } from '../map/paint'
import { projectX, projectY, type Drawing, type Window } from '../map/shapes'
import { isDark } from '../theme'
import type { Place } from './model'

/** Width of the window around the place, in pixels of the page. */
const pixels = 320

/** The zoom of small maps: some 13 degrees in 320 pixels, so that a coast is mostly in sight. */
const zoom = 5

/** A map of the surroundings of a place. It shows nothing that the text beside it does not say. */
export function SmallMap({ place }: { place: Place }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const [drawing, setDrawing] = useState<Drawing>()
  const size = pixels / (256 * 2 ** zoom)
  const window: Window = { x: projectX(place.lng) - size / 2, y: projectY(place.lat) - size / 2, size, pixels }
  const dark = isDark.value
  useEffect(() => baseMap().draw(window, setDrawing), [place.lat, place.lng])
  useEffect(() => {
    if (canvas.current) paintBase(canvas.current, window, drawing, baseColours())
  }, [drawing, dark])
  return (
    <div class="read-map" aria-hidden="true">
      <canvas ref={canvas} width={pixels * 2} height={pixels * 2} />
      <svg viewBox="0 0 24 32">
        <path d="M12 31C5 21 2 17 2 11.5a10 10 0 0 1 20 0C22 17 19 21 12 31Z" />
        <circle cx="12" cy="11.5" r="3.5" />
      </svg>
    </div>
  )
}
