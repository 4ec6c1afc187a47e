// The landmarks of the map as signals, from the worker that fetches and clusters them.

import { signal } from '@preact/signals'

import type { ContentKind } from '../read/model'
import type { Box } from './areas'
import type { Landmark } from './parts'
import type { FromWorker, Shown, ToWorker } from './protocol'

export class LandmarkSource {
  readonly shown = signal<Shown | undefined>(undefined)
  private readonly worker = new Worker(new URL('./landmarks.worker.ts', import.meta.url), { type: 'module' })
  private readonly waiting = new Map<number, (landmarks: Landmark[]) => void>()

  /** `api` is the address of the edge, and `kinds` those that it can search by place. */
  constructor(api: string, kinds: ContentKind[], pageSize: number) {
    this.worker.addEventListener('message', ({ data }: MessageEvent<FromWorker>) => {
      if (data.kind === 'marks') this.shown.value = data.shown
      else {
        this.waiting.get(data.cluster)?.(data.landmarks)
        this.waiting.delete(data.cluster)
      }
    })
    this.send({ kind: 'open', api: new URL(api, document.baseURI).href, kinds, pageSize })
  }

  show(view: Box, drawn: Box, zoom: number, hidden: number[]): void {
    this.send({ kind: 'show', view, drawn, zoom, hidden })
  }

  give(landmarks: Landmark[]): void {
    this.send({ kind: 'give', landmarks })
  }

  /** Returns the landmarks of a cluster, or none when it has changed since. */
  openCluster(cluster: number): Promise<Landmark[]> {
    return new Promise(resolve => {
      this.waiting.set(cluster, resolve)
      this.send({ kind: 'open-cluster', cluster })
    })
  }

  retry(): void {
    this.send({ kind: 'retry' })
  }

  reload(): void {
    this.send({ kind: 'reload' })
  }

  close(): void {
    this.worker.terminate()
  }

  private send(message: ToWorker): void {
    this.worker.postMessage(message)
  }
}
