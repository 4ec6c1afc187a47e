// The base map's drawings, from the worker that cuts them.

import world from 'world-atlas/countries-50m.json?url'

import type { FromBase, ToBase } from './base.worker'
import type { Drawing, Window } from './shapes'

/** Asks the worker for drawings. One serves all maps of the page. */
export class BaseMap {
  private readonly worker = new Worker(new URL('./base.worker.ts', import.meta.url), { type: 'module' })
  private readonly waiting = new Map<number, (drawing: Drawing | undefined) => void>()
  private last = 0

  constructor() {
    this.worker.addEventListener('message', ({ data }: MessageEvent<FromBase>) => {
      this.waiting.get(data.id)?.(data.drawing)
      this.waiting.delete(data.id)
    })
    this.send({ kind: 'open', world: new URL(world, import.meta.url).href })
  }

  /** Calls `done` with a window's drawing, or with nothing if there is no base map. Returns how to cancel that. */
  draw(window: Window, done: (drawing: Drawing | undefined) => void): () => void {
    const id = ++this.last
    this.waiting.set(id, done)
    this.send({ kind: 'draw', id, window })
    return () => {
      if (this.waiting.delete(id)) this.send({ kind: 'cancel', id })
    }
  }

  private send(message: ToBase): void {
    this.worker.postMessage(message)
  }
}

let shared: BaseMap | undefined

/** Returns the base map. The first call starts its worker. */
export function baseMap(): BaseMap {
  return (shared ??= new BaseMap())
}
