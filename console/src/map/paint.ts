// Paints the base map on canvases: the tiles of the map, and small maps of one place.

import './colours.css'

import { projectX, projectY, type Drawing, type Window } from './shapes'

/** The colours of the base map. */
export interface BaseColours {
  land: string
  sea: string
  coast: string
  border: string
  grid: string
}

/** Returns the colours of the present theme. */
export function baseColours(): BaseColours {
  const style = getComputedStyle(document.documentElement)
  const of = (name: string) => style.getPropertyValue(`--map-${name}`).trim()
  return { land: of('land'), sea: of('sea'), coast: of('coast'), border: of('border'), grid: of('grid') }
}

/** Paints a window of the base map on a canvas as wide as the window. Without a drawing it is all sea. */
export function paintBase(
  canvas: HTMLCanvasElement,
  window: Window,
  drawing: Drawing | undefined,
  colours: BaseColours,
): void {
  const ctx = canvas.getContext('2d', { alpha: false })
  if (!ctx) return
  const scale = canvas.width / window.pixels
  ctx.setTransform(scale, 0, 0, scale, 0, 0)
  ctx.fillStyle = colours.sea
  ctx.fillRect(0, 0, window.pixels, window.pixels)
  if (drawing) paintDrawing(ctx, drawing, colours)
  paintGrid(ctx, window, colours.grid)
}

function paintDrawing(ctx: CanvasRenderingContext2D, drawing: Drawing, colours: BaseColours): void {
  ctx.lineJoin = 'round'
  ctx.beginPath()
  for (const ring of drawing.land) {
    trace(ctx, ring)
    ctx.closePath()
  }
  ctx.fillStyle = colours.land
  ctx.fill('evenodd')
  stroke(ctx, drawing.borders, colours.border, 1)
  stroke(ctx, drawing.coasts, colours.coast, 1)
}

function stroke(ctx: CanvasRenderingContext2D, lines: Float32Array[], colour: string, width: number): void {
  ctx.beginPath()
  for (const line of lines) trace(ctx, line)
  ctx.strokeStyle = colour
  ctx.lineWidth = width
  ctx.stroke()
}

function trace(ctx: CanvasRenderingContext2D, line: Float32Array): void {
  for (let i = 0; i < line.length; i += 2) {
    if (i === 0) ctx.moveTo(line[0]!, line[1]!)
    else ctx.lineTo(line[i]!, line[i + 1]!)
  }
}

/** Distances of the lines of latitude and longitude, in degrees. */
const gridSteps = [30, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001]

/** Paints lines of latitude and longitude, some 150 pixels from each other. */
function paintGrid(ctx: CanvasRenderingContext2D, window: Window, colour: string): void {
  const degrees = 360 * window.size
  const step = gridSteps.findLast(each => (each / degrees) * window.pixels >= 150) ?? gridSteps[0]!
  const west = (window.x - 0.5) * 360
  ctx.beginPath()
  for (let i = Math.ceil(west / step); i * step <= west + degrees; i++) {
    const x = Math.round(((projectX(i * step) - window.x) / window.size) * window.pixels) + 0.5
    ctx.moveTo(x, 0)
    ctx.lineTo(x, window.pixels)
  }
  const north = latitudeAt(window.y)
  const south = latitudeAt(window.y + window.size)
  for (let i = Math.ceil(south / step); i * step <= north; i++) {
    const y = Math.round(((projectY(i * step) - window.y) / window.size) * window.pixels) + 0.5
    ctx.moveTo(0, y)
    ctx.lineTo(window.pixels, y)
  }
  ctx.strokeStyle = colour
  ctx.lineWidth = 1
  ctx.stroke()
}

/** Returns the latitude of a place in the unit square of Web Mercator. */
function latitudeAt(y: number): number {
  return (Math.atan(Math.sinh(Math.PI * (1 - 2 * y))) * 180) / Math.PI
}
