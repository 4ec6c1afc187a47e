// The base map's shapes: countries of Natural Earth, projected once and cut to the tiles that are
// drawn. It runs in a worker.

import { feature, mesh } from 'topojson-client'
import type { GeometryCollection, Topology } from 'topojson-specification'

/** A closed or open line in the unit square of Web Mercator: x0, y0, x1, y1 and so on. */
interface Line {
  points: Float64Array
  left: number
  top: number
  right: number
  bottom: number
}

/** The shapes of the whole Earth. */
export interface Shapes {
  /** Rings of land, to be filled by the even-odd rule. */
  land: Line[]
  /** Coasts, and borders between countries. */
  coasts: Line[]
  borders: Line[]
}

/** A window on the map: a square of the unit square that becomes `pixels` wide. */
export interface Window {
  x: number
  y: number
  size: number
  pixels: number
}

/** Lines of a window in pixels, x and y in turn. */
export interface Drawing {
  land: Float32Array[]
  coasts: Float32Array[]
  borders: Float32Array[]
}

/** Beyond this latitude Web Mercator shows nothing. */
export const lastLatitude = 85.0511287798066

/** Pixels beyond the window's edge at which lines are cut, so that no cut is seen. */
const tileMargin = 8

/** Points closer than this to the last one are left out, in pixels. */
const detail = 0.6

export function projectX(lng: number): number {
  return lng / 360 + 0.5
}

export function projectY(lat: number): number {
  const sine = Math.sin((Math.min(Math.max(lat, -lastLatitude), lastLatitude) * Math.PI) / 180)
  return 0.5 - (0.25 * Math.log((1 + sine) / (1 - sine))) / Math.PI
}

type World = Topology<{ countries: GeometryCollection; land: GeometryCollection }>

/** Projects a topology of world-atlas. */
export function shapesOf(world: World): Shapes {
  const land: Line[] = []
  for (const { geometry } of feature(world, world.objects.land).features) {
    if (geometry.type === 'Polygon') land.push(...geometry.coordinates.flatMap(projectRing))
    if (geometry.type === 'MultiPolygon') land.push(...geometry.coordinates.flat().flatMap(projectRing))
  }
  const lines = (filter: (a: object, b: object) => boolean) =>
    mesh(world, world.objects.countries, filter).coordinates.flatMap(each => onEarth(project(each)))
  return { land, coasts: lines((a, b) => a === b), borders: lines((a, b) => a !== b) }
}

/** Projects a ring. One that runs around a pole is closed beyond the edge of the map. */
function projectRing(coordinates: number[][]): Line[] {
  const points = project(coordinates)
  const last = points.length - 2
  if (Math.abs(points[last]! - points[0]!) > 0.5) {
    const edge = points[1]! > 0.5 ? 1.1 : -0.1
    points.push(points[last]!, edge, points[0]!, edge)
  }
  return onEarth(points)
}

/** Projects points. A line that crosses the antimeridian goes on beyond the edge of the map. */
function project(coordinates: number[][]): number[] {
  const points: number[] = []
  let turns = 0
  let last = 0
  coordinates.forEach(([lng = 0, lat = 0], i) => {
    if (i > 0 && Math.abs(lng - last) > 180) turns += lng < last ? 1 : -1
    last = lng
    points.push(projectX(lng) + turns, projectY(lat))
  })
  return points
}

/** Returns a line, and its copies a turn east and west where those are on the map. */
function onEarth(points: number[]): Line[] {
  const turned = (turns: number) => lineOf(points.map((each, i) => (i % 2 === 0 ? each + turns : each)))
  return [-1, 0, 1].map(turned).filter(line => line.right > 0 && line.left < 1)
}

/** Returns a line of points of the unit square. */
export function lineOf(coordinates: number[]): Line {
  const line = {
    points: Float64Array.from(coordinates),
    left: Infinity,
    top: Infinity,
    right: -Infinity,
    bottom: -Infinity,
  }
  for (let i = 0; i < coordinates.length; i += 2) {
    line.left = Math.min(line.left, coordinates[i]!)
    line.right = Math.max(line.right, coordinates[i]!)
    line.top = Math.min(line.top, coordinates[i + 1]!)
    line.bottom = Math.max(line.bottom, coordinates[i + 1]!)
  }
  return line
}

/** Returns what a window shows. Each ring of land stays a ring. */
export function draw(shapes: Shapes, window: Window, margin = tileMargin): Drawing {
  const near = (line: Line) => {
    const slack = (margin / window.pixels) * window.size
    return (
      line.left <= window.x + window.size + slack &&
      line.right >= window.x - slack &&
      line.top <= window.y + window.size + slack &&
      line.bottom >= window.y - slack
    )
  }
  const lines = (from: Line[]) =>
    from.filter(near).flatMap(line => cutLine(toPixels(line.points, window), window.pixels, margin))
  return {
    land: shapes.land
      .filter(near)
      .map(ring => cutRing(toPixels(ring.points, window), window.pixels, margin))
      .filter(ring => ring.length >= 6),
    coasts: lines(shapes.coasts),
    borders: lines(shapes.borders),
  }
}

/** Scales points to a window and leaves out those that make no visible difference. */
function toPixels(points: Float64Array, window: Window): number[] {
  const scale = window.pixels / window.size
  const out: number[] = []
  let lastX = Infinity
  let lastY = Infinity
  const end = points.length - 2
  for (let i = 0; i <= end; i += 2) {
    const x = (points[i]! - window.x) * scale
    const y = (points[i + 1]! - window.y) * scale
    if (i < end && Math.abs(x - lastX) < detail && Math.abs(y - lastY) < detail) continue
    out.push(x, y)
    lastX = x
    lastY = y
  }
  return out
}

/** Cuts a ring to the window by the method of Sutherland and Hodgman. */
export function cutRing(ring: number[], pixels: number, margin = tileMargin): Float32Array {
  const least = -margin
  const most = pixels + margin
  let points = ring
  for (const [axis, bound, sign] of [
    [0, least, 1],
    [0, most, -1],
    [1, least, 1],
    [1, most, -1],
  ] as const) {
    points = cutSide(points, axis, bound, sign)
    if (points.length === 0) break
  }
  return Float32Array.from(points)
}

/** Keeps the part of a ring where the coordinate of an axis, times sign, is at least the bound's. */
function cutSide(points: number[], axis: 0 | 1, bound: number, sign: 1 | -1): number[] {
  const out: number[] = []
  const count = points.length
  let [ax, ay] = [points[count - 2]!, points[count - 1]!]
  for (let i = 0; i < count; i += 2) {
    const [bx, by] = [points[i]!, points[i + 1]!]
    const a = ((axis === 0 ? ax : ay) - bound) * sign
    const b = ((axis === 0 ? bx : by) - bound) * sign
    if (a >= 0 !== b >= 0) {
      const t = a / (a - b)
      out.push(ax + (bx - ax) * t, ay + (by - ay) * t)
    }
    if (b >= 0) out.push(bx, by)
    ;[ax, ay] = [bx, by]
  }
  return out
}

/** Cuts a line to the pieces whose segments come near the window. */
export function cutLine(points: number[], pixels: number, margin = tileMargin): Float32Array[] {
  const pieces: Float32Array[] = []
  let piece: number[] = []
  const outside = (a: number, b: number) => (a < -margin && b < -margin) || (a > pixels + margin && b > pixels + margin)
  for (let i = 2; i < points.length; i += 2) {
    const [ax, ay, bx, by] = [points[i - 2]!, points[i - 1]!, points[i]!, points[i + 1]!]
    if (outside(ax, bx) || outside(ay, by)) {
      if (piece.length > 0) pieces.push(Float32Array.from(piece))
      piece = []
      continue
    }
    if (piece.length === 0) piece.push(ax, ay)
    piece.push(bx, by)
  }
  if (piece.length > 0) pieces.push(Float32Array.from(piece))
  return pieces
}
