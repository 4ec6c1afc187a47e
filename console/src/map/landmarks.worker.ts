// The worker that fetches landmarks, keeps them and clusters them, so that the page stays smooth.

import type { Box } from './areas'
import { Clusters, countOf } from './clusters'
import { Loader } from './loader'
import { fetchPage, pageAddress } from './page'
import { Parts, type Landmark } from './parts'
import { mostLeaves, mostMarks, type FromWorker, type ToWorker } from './protocol'

/** Landmarks that are kept at most: some 100 MB. */
const capacity = 250_000

/** Requests at a time. A browser opens six connections, and the page needs some itself. */
const parallel = 4

/** A build of clusters is followed by a pause of this many times its duration. */
const restFactor = 2

class LandmarkWorker {
  private readonly parts = new Parts(capacity)
  private readonly clusters = new Clusters()
  private loader: Loader | undefined
  private given: Landmark[] = []
  private view: Box = { south: 0, west: 0, north: 0, east: 0 }
  private drawn = this.view
  private zoom = 0
  private hidden: number[] = []
  private stale = false
  private built = { at: 0, took: 0 }
  private timer: ReturnType<typeof setTimeout> | undefined

  receive(message: ToWorker): void {
    switch (message.kind) {
      case 'open':
        this.open(message.api, message.pageSize)
        break
      case 'show':
        this.show(message)
        break
      case 'give':
        this.given = this.given.concat(message.landmarks).slice(-capacity)
        this.changed()
        break
      case 'open-cluster':
        this.send({
          kind: 'cluster',
          cluster: message.cluster,
          landmarks: this.clusters.leaves(message.cluster, mostLeaves),
        })
        break
      case 'retry':
        this.loader?.retry()
        break
      case 'reload':
        this.loader?.stop()
        this.parts.clear()
        this.loader?.show(this.view)
        this.changed()
    }
  }

  private open(api: string, pageSize: number): void {
    if (!api) return
    this.loader = new Loader({
      parts: this.parts,
      fetchPage: (box, after, signal) => fetchPage(pageAddress(api, box, after, pageSize), signal),
      changed: () => this.changed(),
      parallel,
      wait: milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds)),
    })
  }

  private show(message: Extract<ToWorker, { kind: 'show' }>): void {
    const sameCategories = String(this.hidden) === String(message.hidden)
    this.view = message.view
    this.drawn = message.drawn
    this.zoom = message.zoom
    this.hidden = message.hidden
    if (!sameCategories) this.build()
    this.loader?.show(message.view)
    this.report()
  }

  /** Builds the clusters anew, soon: after a rest, so that pages that arrive are built together. */
  private changed(): void {
    this.stale = true
    if (this.timer !== undefined) return
    const rest = Math.max(100, this.built.took * restFactor)
    this.timer = setTimeout(
      () => {
        this.timer = undefined
        if (this.stale) this.build()
        this.report()
      },
      Math.max(0, this.built.at + rest - performance.now()),
    )
  }

  private build(): void {
    const start = performance.now()
    const landmarks = this.parts.landmarks(category => !this.hidden.includes(category))
    for (const landmark of this.given) {
      if (!this.hidden.includes(landmark.category)) landmarks.push(landmark)
    }
    this.clusters.build(landmarks)
    this.stale = false
    this.built = { at: performance.now(), took: performance.now() - start }
  }

  private report(): void {
    const inView = countOf(this.clusters.marks(this.view, this.zoom, Infinity))
    this.send({
      kind: 'marks',
      shown: {
        marks: this.clusters.marks(this.drawn, this.zoom, mostMarks),
        inView,
        kept: this.parts.size + this.given.length,
        progress: this.loader?.progress ?? { missing: 0, loading: false, full: false, failure: '' },
      },
    })
  }

  private send(message: FromWorker): void {
    postMessage(message)
  }
}

const worker = new LandmarkWorker()
addEventListener('message', (event: MessageEvent<ToWorker>) => worker.receive(event.data))
