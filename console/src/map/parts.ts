// Parts of the map's content: the cells that were fetched, wholly or in part, within a bound on
// the landmarks that are kept. Nothing here fetches; loader.ts does.

import { boxesMeet, boxOfCell, cellHolds, cellKey, cellsInView, childrenOf, levelOfView, parentOf } from './areas'
import type { Box, Cell } from './areas'

/** A landmark, an album or an entry as the map shows it. */
export interface Landmark {
  id: number
  name: string
  lat: number
  lng: number
  /** From 1 to 5 for landmarks; see kinds.ts. */
  category: number
}

/** One cell's landmarks, as far as they were fetched. */
export interface Part {
  cell: Cell
  landmarks: Landmark[]
  /** Where the next page begins; empty before the first page. */
  after: string
  /** Whether all pages were fetched. */
  complete: boolean
  pages: number
  /** Counts views; the part with the lowest number was seen longest ago. */
  lastSeen: number
}

/** A page of a cell's landmarks. `next` is empty on the last page. */
export interface Page {
  landmarks: Landmark[]
  next: string
}

export class Parts {
  private readonly parts = new Map<string, Part>()
  private kept = 0
  private views = 0
  private view: Box = { south: 0, west: 0, north: 0, east: 0 }
  private cells: Cell[] = []

  /** `capacity` is the number of landmarks that are kept at most. */
  constructor(readonly capacity: number) {}

  /** Returns the number of landmarks that are kept, of all parts together. */
  get size(): number {
    return this.kept
  }

  /** Reports whether the view alone fills the memory, so that nothing more can be fetched. */
  get full(): boolean {
    return this.kept >= this.capacity
  }

  /** Sets what is in view. */
  show(view: Box): void {
    this.view = view
    this.cells = cellsInView(view)
    this.views++
    for (const part of this.parts.values()) {
      if (boxesMeet(boxOfCell(part.cell), view)) part.lastSeen = this.views
    }
    this.shrink()
  }

  /**
   * Returns the cells of the view whose landmarks are not all here. First pages come before
   * further ones, and the middle of the view before its edge. The list is empty when the view
   * fills the memory.
   */
  missing(): Cell[] {
    if (this.full) return []
    const wanted = this.cells.filter(cell => !this.covers(cell))
    const pages = (cell: Cell) => this.parts.get(cellKey(cell))?.pages ?? 0
    return wanted.toSorted((a, b) => pages(a) - pages(b))
  }

  /** Reports whether all landmarks of a cell are here, in its own part or in others. */
  covers(cell: Cell): boolean {
    for (let at: Cell | undefined = cell; at; at = parentOf(at)) {
      if (this.parts.get(cellKey(at))?.complete) return true
    }
    return childrenOf(cell).every(child => this.parts.get(cellKey(child))?.complete)
  }

  /** Returns the `after` of a cell's next page. */
  after(cell: Cell): string {
    return this.parts.get(cellKey(cell))?.after ?? ''
  }

  /** Keeps a page of a cell. A landmark on the border of two cells is kept in one of them. */
  add(cell: Cell, page: Page): void {
    const key = cellKey(cell)
    let part = this.parts.get(key)
    if (!part) {
      part = { cell, landmarks: [], after: '', complete: false, pages: 0, lastSeen: this.views }
      this.parts.set(key, part)
    }
    const own = page.landmarks.filter(landmark => cellHolds(cell, landmark.lat, landmark.lng))
    for (const landmark of own) part.landmarks.push(landmark)
    this.kept += own.length
    part.pages++
    part.after = page.next
    part.complete = page.next === ''
    if (part.complete) this.dropInside(cell)
    this.shrink()
  }

  /** Returns every landmark once, without those of categories that are switched off. */
  landmarks(shows: (category: number) => boolean): Landmark[] {
    const seen = new Set<number>()
    const all: Landmark[] = []
    for (const part of this.parts.values()) {
      for (const landmark of part.landmarks) {
        if (!shows(landmark.category) || seen.has(landmark.id)) continue
        seen.add(landmark.id)
        all.push(landmark)
      }
    }
    return all
  }

  /** Forgets everything, as after a change of what the edge stores. */
  clear(): void {
    this.parts.clear()
    this.kept = 0
  }

  /** Drops the parts inside a cell that is complete itself. */
  private dropInside(cell: Cell): void {
    for (const [key, part] of this.parts) {
      const deeper = part.cell.level - cell.level
      if (deeper > 0 && part.cell.column >> deeper === cell.column && part.cell.row >> deeper === cell.row) {
        this.drop(key, part)
      }
    }
  }

  /**
   * Drops parts that the view does not need, those seen longest ago first, until the rest fits. A
   * part that is larger than the view's cells and incomplete is one of them: cells of the view
   * take its place.
   */
  private shrink(): void {
    if (!this.full) return
    const level = levelOfView(this.view)
    const spare = [...this.parts]
      .filter(([, part]) => !boxesMeet(boxOfCell(part.cell), this.view) || (!part.complete && part.cell.level < level))
      .toSorted(([, a], [, b]) => a.lastSeen - b.lastSeen)
    for (const [key, part] of spare) {
      if (!this.full) return
      this.drop(key, part)
    }
  }

  private drop(key: string, part: Part): void {
    this.parts.delete(key)
    this.kept -= part.landmarks.length
  }
}
