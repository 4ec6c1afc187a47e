// Clusters and landmarks as paths of Leaflet's canvas renderer: one canvas, a few hundred marks.

import * as L from 'leaflet'

import type { Mark } from './clusters'
import { shortCount } from './count'
import { numbersOfMap } from './kinds'
import { traceSymbol } from './symbols'

/** How far beyond the view marks are drawn, as a share of its width and height. */
export const drawnMargin = 0.3

/** The colours of marks. */
export interface MarkColours {
  /** Of the numbers of kinds.ts; 0 is unknown. */
  categories: string[]
  fill: string
  text: string
  outline: string
}

/** The members of Leaflet 1.9's canvas renderer that a path of its own needs. */
interface CanvasInside {
  _ctx: CanvasRenderingContext2D
  _drawing: boolean
}

interface MarkPathOptions extends L.CircleMarkerOptions {
  mark: Mark
  colours: MarkColours
}

class MarkPath extends L.CircleMarker {
  declare options: MarkPathOptions
  declare private _renderer: CanvasInside
  declare private _point: L.Point

  constructor(options: MarkPathOptions) {
    super([options.mark.lat, options.mark.lng], { ...options, radius: radiusOf(options.mark), weight: 2 })
  }

  /** Leaflet calls it to draw the path. */
  protected _updatePath(): void {
    if (!this._renderer._drawing) return
    const { mark, colours } = this.options
    const radius = this.getRadius()
    const { x, y } = this._point
    const ctx = this._renderer._ctx
    if (mark.kind === 'landmark') paintLandmark(ctx, mark.category, x, y, radius, colours)
    else paintCluster(ctx, mark.counts, mark.count, x, y, radius, colours)
  }
}

/** Returns the radius of a mark in pixels: larger for more landmarks. */
export function radiusOf(mark: Mark): number {
  return mark.kind === 'landmark' ? 7 : Math.min(13 + 3.2 * Math.log10(mark.count), 30)
}

function paintLandmark(
  ctx: CanvasRenderingContext2D,
  category: number,
  x: number,
  y: number,
  radius: number,
  colours: MarkColours,
): void {
  traceSymbol(ctx, category, x, y, radius)
  ctx.lineWidth = 3
  ctx.lineJoin = 'round'
  ctx.strokeStyle = colours.outline
  ctx.stroke()
  ctx.fillStyle = colours.categories[category] ?? colours.categories[0]!
  ctx.fill()
}

/** Paints a cluster: its number, in a ring with a share for each category. */
function paintCluster(
  ctx: CanvasRenderingContext2D,
  counts: number[],
  count: number,
  x: number,
  y: number,
  radius: number,
  colours: MarkColours,
): void {
  const ring = 4
  ctx.beginPath()
  ctx.arc(x, y, radius + 1.5, 0, 2 * Math.PI)
  ctx.fillStyle = colours.outline
  ctx.fill()
  ctx.beginPath()
  ctx.arc(x, y, radius - ring, 0, 2 * Math.PI)
  ctx.fillStyle = colours.fill
  ctx.fill()
  ctx.lineWidth = ring
  let start = -Math.PI / 2
  for (let category = 0; category <= numbersOfMap; category++) {
    const share = category === 0 ? count - counts.reduce((a, b) => a + b, 0) : counts[category - 1]!
    if (share === 0) continue
    const end = start + (2 * Math.PI * share) / count
    ctx.beginPath()
    ctx.arc(x, y, radius - ring / 2, start, end)
    ctx.strokeStyle = colours.categories[category]!
    ctx.stroke()
    start = end
  }
  ctx.fillStyle = colours.text
  ctx.font = `600 ${count < 1000 ? 11 : 10.5}px system-ui, sans-serif`
  ctx.textAlign = 'center'
  ctx.textBaseline = 'middle'
  ctx.fillText(shortCount(count), x, y + 0.5)
}

/** The layer of all marks. */
export class MarksLayer extends L.LayerGroup {
  private readonly renderer = L.canvas({ padding: drawnMargin, tolerance: 4 })
  private marks: Mark[] = []

  constructor(
    private colours: MarkColours,
    private readonly onChoose: (mark: Mark) => void,
  ) {
    super()
  }

  /** Shows these marks and no others. */
  show(marks: Mark[]): void {
    this.marks = marks
    this.draw()
  }

  recolour(colours: MarkColours): void {
    this.colours = colours
    this.draw()
  }

  private draw(): void {
    this.clearLayers()
    for (const mark of this.marks) {
      const path = new MarkPath({ mark, colours: this.colours, renderer: this.renderer })
      path.on('click', event => {
        L.DomEvent.stopPropagation(event)
        this.onChoose(mark)
      })
      path.addTo(this)
    }
  }
}
