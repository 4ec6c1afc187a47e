// Messages between the page and the worker that fetches and clusters landmarks.

import type { ContentKind } from '../read/model'
import type { Box } from './areas'
import type { Mark } from './clusters'
import type { Progress } from './loader'
import type { Landmark } from './parts'

export type ToWorker =
  /** Begins. `api` is the absolute address of the edge, and `kinds` those that it can search by place. */
  | { kind: 'open'; api: string; kinds: ContentKind[]; pageSize: number }
  /** Sets what is in view, which box is drawn, and the categories that are switched off. */
  | { kind: 'show'; view: Box; drawn: Box; zoom: number; hidden: number[] }
  /** Adds landmarks that the page fetched itself. */
  | { kind: 'give'; landmarks: Landmark[] }
  /** Asks for the landmarks of a cluster. */
  | { kind: 'open-cluster'; cluster: number }
  /** Fetches again what failed. */
  | { kind: 'retry' }
  /** Forgets all landmarks and fetches them again. */
  | { kind: 'reload' }

export type FromWorker = { kind: 'marks'; shown: Shown } | { kind: 'cluster'; cluster: number; landmarks: Landmark[] }

/** What the map shows now. */
export interface Shown {
  /** The marks to draw: those of the drawn box. */
  marks: Mark[]
  /** Landmarks in view, as far as they were fetched. */
  inView: number
  /** Those in view that are nearest to its middle, and those that were made last. */
  nearest: Near[]
  newest: Near[]
  /** Landmarks in memory. */
  kept: number
  progress: Progress
}

/** A landmark with its distance from the middle of the view in metres. */
export interface Near extends Landmark {
  distance: number
}

/** The most landmarks of the two lists. */
export const mostListed = 60

/** The most marks that are drawn. */
export const mostMarks = 400

/** The most landmarks of a cluster that are listed. */
export const mostLeaves = 100
