// The worker that projects the base map and cuts it to tiles.

import type { Topology } from 'topojson-specification'

import { partOf, shapesOfPart, type Part } from './coast.ts'
import { draw, shapesOf, type Drawing, type Shapes, type Window } from './shapes.ts'

export type ToBase =
  { kind: 'open'; world: string } | { kind: 'draw'; id: number; window: Window } | { kind: 'cancel'; id: number }

export interface FromBase {
  id: number
  /** Undefined when the base map could not be loaded. */
  drawing: Drawing | undefined
}

/** Parts of the finer coast that are kept. The browser keeps their files. */
const keptParts = 12

/** The files of the finer coast, which the build cuts. */
const files = import.meta.glob<string>('/node_modules/.coast/*.json', { query: '?url', import: 'default', eager: true })

const queue = new Map<number, Window>()
const parts = new Map<string, Promise<Shapes | undefined>>()
/** The coarser coast, loaded when a window needs it. */
let world: (() => Promise<Shapes | undefined>) | undefined
let running = false

async function load<Stored>(address: string, shapes: (stored: Stored) => Shapes): Promise<Shapes | undefined> {
  try {
    const response = await fetch(address)
    return response.ok ? shapes((await response.json()) as Stored) : undefined
  } catch {
    return undefined
  }
}

/** Returns the shapes for a window: the part that it is in, or the whole Earth if that part cannot be loaded. */
async function shapesFor(window: Window): Promise<Shapes | undefined> {
  const part = partOf(window)
  const found = part && (await shapesAt(part.column, part.row))
  return found ?? world?.()
}

function shapesAt(column: number, row: number): Promise<Shapes | undefined> {
  const name = `${column}-${row}`
  const address = files[`/node_modules/.coast/coast-${name}.json`]
  if (!address) return Promise.resolve({ land: [], coasts: [], borders: [] }) // all sea
  const found = parts.get(name) ?? load<Part>(new URL(address, import.meta.url).href, part => shapesOfPart(part, column, row))
  parts.delete(name)
  parts.set(name, found)
  void found.then(shapes => {
    if (!shapes) parts.delete(name) // the next window asks again
  })
  if (parts.size > keptParts) parts.delete(parts.keys().next().value!)
  return found
}

/** Draws what is queued, the last first, and lets cancellations in between. */
async function run(): Promise<void> {
  if (running) return
  running = true
  for (let next = [...queue].at(-1); next; next = [...queue].at(-1)) {
    const [id, window] = next
    queue.delete(id)
    const shapes = await shapesFor(window)
    const drawing = shapes && draw(shapes, window)
    const buffers = drawing ? [...drawing.land, ...drawing.coasts, ...drawing.borders].map(line => line.buffer) : []
    postMessage({ id, drawing } satisfies FromBase, { transfer: buffers as ArrayBuffer[] })
    await new Promise(resolve => setTimeout(resolve))
  }
  running = false
}

addEventListener('message', ({ data }: MessageEvent<ToBase>) => {
  if (data.kind === 'open') {
    let loaded: Promise<Shapes | undefined> | undefined
    world = () => (loaded ??= load<Parameters<typeof shapesOf>[0] & Topology>(data.world, shapesOf))
  }
  if (data.kind === 'cancel') queue.delete(data.id)
  if (data.kind === 'draw') {
    queue.set(data.id, data.window)
    void run()
  }
})
