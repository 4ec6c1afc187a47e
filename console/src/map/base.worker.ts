// The worker that projects the base map and cuts it to tiles.

import type { Topology } from 'topojson-specification'

import { draw, shapesOf, type Drawing, type Shapes, type Window } from './shapes'

export type ToBase =
  { kind: 'open'; world: string } | { kind: 'draw'; id: number; window: Window } | { kind: 'cancel'; id: number }

export interface FromBase {
  id: number
  /** Undefined when the base map could not be loaded. */
  drawing: Drawing | undefined
}

const queue = new Map<number, Window>()
let shapes: Promise<Shapes | undefined> | undefined
let running = false

async function load(address: string): Promise<Shapes | undefined> {
  try {
    const response = await fetch(address)
    if (!response.ok) return undefined
    return shapesOf((await response.json()) as Parameters<typeof shapesOf>[0] & Topology)
  } catch {
    return undefined
  }
}

/** Draws what is queued, the last first, and lets cancellations in between. */
async function run(): Promise<void> {
  if (running) return
  running = true
  const world = await shapes
  for (let next = [...queue].at(-1); next; next = [...queue].at(-1)) {
    const [id, window] = next
    queue.delete(id)
    const drawing = world && draw(world, window)
    const buffers = drawing ? [...drawing.land, ...drawing.coasts, ...drawing.borders].map(line => line.buffer) : []
    postMessage({ id, drawing } satisfies FromBase, { transfer: buffers as ArrayBuffer[] })
    await new Promise(resolve => setTimeout(resolve))
  }
  running = false
}

addEventListener('message', ({ data }: MessageEvent<ToBase>) => {
  if (data.kind === 'open') shapes = load(data.world)
  if (data.kind === 'cancel') queue.delete(data.id)
  if (data.kind === 'draw') {
    queue.set(data.id, data.window)
    void run()
  }
})
