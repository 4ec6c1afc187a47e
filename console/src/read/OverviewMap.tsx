import { useEffect, useRef, useState } from 'preact/hooks'

import { baseMap } from '../map/base'
import { baseColours, paintBase } from '../map/paint'
import { projectX, projectY, type Drawing, type Window } from '../map/shapes'
import { buildHash } from '../router'
import { isDark } from '../theme'
import { windowAround } from './overview'
import type { Summary } from './model'
import { text } from './words'

/** A small map of all that a page lists, which opens the map there. */
export function OverviewMap({ items }: { items: readonly Summary[] }) {
  const link = useRef<HTMLAnchorElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const [shown, show] = useState<{ window: Window; drawing?: Drawing | undefined }>()
  const dark = isDark.value
  useEffect(() => {
    const { clientWidth, clientHeight } = link.current!
    const window = windowAround(
      items.map(each => each.place),
      clientWidth,
      clientHeight,
    )
    show({ window })
    return baseMap().draw(window, drawing => show({ window, drawing }))
  }, [items])
  useEffect(() => {
    if (canvas.current && shown) paintBase(canvas.current, shown.window, shown.drawing, baseColours())
  }, [shown, dark])
  const pixels = shown?.window.pixels ?? 0
  return (
    <a
      class="home-map"
      ref={link}
      href={shown ? mapHash(shown.window) : '#/map'}
      aria-label={text('openMap')}
      data-testid="home-map"
    >
      {shown && (
        <>
          <canvas ref={canvas} width={pixels * 2} height={pixels * 2} />
          <svg viewBox={`0 0 ${pixels} ${pixels}`} aria-hidden="true">
            {items.map(({ kind, id, place }) => (
              <circle
                key={`${kind}/${id}`}
                class={`mark-${kind}`}
                cx={((projectX(place.lng) - shown.window.x) / shown.window.size) * pixels}
                cy={((projectY(place.lat) - shown.window.y) / shown.window.size) * pixels}
                r="6"
              />
            ))}
          </svg>
          <span class="home-map-name">{text('openMap')} →</span>
        </>
      )}
    </a>
  )
}

function mapHash({ x, y, size, pixels }: Window): string {
  const lng = (x + size / 2 - 0.5) * 360
  const lat = (Math.atan(Math.sinh(Math.PI * (1 - 2 * (y + size / 2)))) * 180) / Math.PI
  const zoom = Math.round(Math.log2(pixels / (256 * size)))
  return buildHash(['map'], new URLSearchParams({ at: `${lat.toFixed(4)},${lng.toFixed(4)},${Math.max(2, zoom)}` }))
}
