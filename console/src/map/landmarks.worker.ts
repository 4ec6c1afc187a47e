// The worker that fetches landmarks, albums and entries, keeps them and clusters them, so that the page
// stays smooth.

import type { ContentKind } from '../read/model'
import type { Box } from './areas'
import { Clusters, countOf } from './clusters'
import { isShown } from './kinds'
import { Loader, type Progress } from './loader'
import { nearestIn, newestIn } from './nearest'
import { fetchPage, pageAddress } from './page'
import { Parts, type Landmark } from './parts'
import { mostLeaves, mostListed, mostMarks, type FromWorker, type ToWorker } from './protocol'

/** How many are kept of each kind at most: together some 150 MB. */
const capacity: Record<ContentKind, number> = { landmark: 250_000, album: 60_000, blog: 60_000 }

/** Requests at a time. A browser opens six connections, and the page needs some itself. */
const parallel: Record<ContentKind, number> = { landmark: 2, album: 1, blog: 1 }

/** A kind of content with what was fetched of it. */
interface Layer {
  kind: ContentKind
  parts: Parts
  loader: Loader
}

/** A build of clusters is followed by a pause of this many times its duration. */
const restFactor = 2

class LandmarkWorker {
  private readonly clusters = new Clusters()
  private layers: Layer[] = []
  private given: Landmark[] = []
  /** What the clusters were built from. */
  private shown: Landmark[] = []
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
        this.open(message.api, message.kinds, message.pageSize)
        break
      case 'show':
        this.show(message)
        break
      case 'give':
        this.given = this.given.concat(message.landmarks).slice(-capacity.landmark)
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
        for (const { loader } of this.layers) loader.retry()
        break
      case 'reload':
        for (const { kind, loader, parts } of this.layers) {
          loader.stop()
          parts.clear()
          if (isShown(kind, this.hidden)) loader.show(this.view)
        }
        this.changed()
    }
  }

  private open(api: string, kinds: ContentKind[], pageSize: number): void {
    this.layers = kinds.map(kind => {
      const parts = new Parts(capacity[kind])
      const loader = new Loader({
        parts,
        fetchPage: (box, after, signal) => fetchPage(pageAddress(api, kind, box, after, pageSize), signal),
        changed: () => this.changed(),
        parallel: parallel[kind],
        wait: milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds)),
      })
      return { kind, parts, loader }
    })
  }

  private show(message: Extract<ToWorker, { kind: 'show' }>): void {
    const sameCategories = String(this.hidden) === String(message.hidden)
    this.view = message.view
    this.drawn = message.drawn
    this.zoom = message.zoom
    this.hidden = message.hidden
    if (!sameCategories) this.build()
    // What is switched off is not fetched.
    for (const { kind, loader } of this.layers) {
      if (isShown(kind, this.hidden)) loader.show(message.view)
      else loader.stop()
    }
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
    const landmarks = this.layers.flatMap(({ parts }) => parts.landmarks(category => !this.hidden.includes(category)))
    for (const landmark of this.given) {
      if (!this.hidden.includes(landmark.category)) landmarks.push(landmark)
    }
    this.shown = landmarks
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
        nearest: nearestIn(this.shown, this.view, mostListed),
        newest: newestIn(this.shown, this.view, mostListed),
        kept: this.layers.reduce((sum, { parts }) => sum + parts.size, this.given.length),
        progress: this.progress(),
      },
    })
  }

  /** Returns how far the kinds that are switched on have come together. */
  private progress(): Progress {
    const all = this.layers.filter(({ kind }) => isShown(kind, this.hidden)).map(({ loader }) => loader.progress)
    return {
      missing: all.reduce((sum, each) => sum + each.missing, 0),
      loading: all.some(each => each.loading),
      full: all.some(each => each.full),
      failure: all.find(each => each.failure)?.failure ?? '',
    }
  }

  private send(message: FromWorker): void {
    postMessage(message)
  }
}

const worker = new LandmarkWorker()
addEventListener('message', (event: MessageEvent<ToWorker>) => worker.receive(event.data))
