// Fetches the parts that are missing from the view: a few requests at a time, given up when the
// view moves away, and repeated after failures that a repetition can mend.

import { boxOfCell, cellKey } from './areas'
import type { Box, Cell } from './areas'
import type { Page, Parts } from './parts'

/** Fetches the page of a box that begins at `after`. It throws a LoadError when it fails. */
export type FetchPage = (box: Box, after: string, signal: AbortSignal) => Promise<Page>

/** A request that failed. */
export class LoadError extends Error {
  /** `retryAfter` is in milliseconds; undefined means that a repetition would fail again. */
  constructor(
    message: string,
    readonly retryAfter?: number,
  ) {
    super(message)
  }
}

export interface LoaderOptions {
  parts: Parts
  fetchPage: FetchPage
  /** Is called after each page, failure or change of the view. */
  changed: () => void
  /** Requests at a time. */
  parallel: number
  /** Waits, in milliseconds. Tests pass their own. */
  wait: (milliseconds: number) => Promise<void>
}

/** How far the view has come. */
export interface Progress {
  /** Cells of the view that miss landmarks. */
  missing: number
  /** Whether requests are on their way. */
  loading: boolean
  /** Whether the memory is full. */
  full: boolean
  /** The last failure that was given up; empty when there is none. */
  failure: string
}

/** Attempts at one page. */
const attempts = 4

export class Loader {
  private readonly running = new Map<string, AbortController>()
  private readonly failed = new Map<string, number>()
  private failure = ''
  private pausing = false
  private stopped = false

  constructor(private readonly options: LoaderOptions) {}

  get progress(): Progress {
    const missing = this.options.parts.missing().length
    return {
      missing,
      loading: this.running.size > 0 || this.pausing,
      full: this.options.parts.full,
      failure: this.failure,
    }
  }

  /** Sets what is in view, gives up what the view no longer needs, and fetches what it misses. */
  show(view: Box): void {
    this.stopped = false
    this.options.parts.show(view)
    this.failed.clear()
    this.failure = ''
    const missing = new Set(this.options.parts.missing().map(cellKey))
    for (const [key, controller] of this.running) {
      if (!missing.has(key)) controller.abort()
    }
    this.pump()
    this.options.changed()
  }

  /** Fetches again what failed. */
  retry(): void {
    this.failed.clear()
    this.failure = ''
    this.pump()
    this.options.changed()
  }

  /** Gives up all requests, until the next view is shown. */
  stop(): void {
    this.stopped = true
    for (const controller of this.running.values()) controller.abort()
  }

  private pump(): void {
    if (this.pausing || this.stopped) return
    for (const cell of this.options.parts.missing()) {
      if (this.running.size >= this.options.parallel) return
      const key = cellKey(cell)
      if (this.running.has(key) || (this.failed.get(key) ?? 0) >= attempts) continue
      void this.fetch(cell, key)
    }
  }

  private async fetch(cell: Cell, key: string): Promise<void> {
    const { parts, fetchPage } = this.options
    const controller = new AbortController()
    this.running.set(key, controller)
    try {
      const page = await fetchPage(boxOfCell(cell), parts.after(cell), controller.signal)
      if (!controller.signal.aborted) parts.add(cell, page)
    } catch (error) {
      if (!controller.signal.aborted) await this.fail(key, error)
    } finally {
      this.running.delete(key)
    }
    this.pump()
    this.options.changed()
  }

  /** Counts a failure. After one that a repetition can mend, all requests wait. */
  private async fail(key: string, error: unknown): Promise<void> {
    const retryAfter = error instanceof LoadError ? error.retryAfter : undefined
    const tried = retryAfter === undefined ? attempts : (this.failed.get(key) ?? 0) + 1
    this.failed.set(key, tried)
    if (tried >= attempts) {
      this.failure = error instanceof Error ? error.message : String(error)
      return
    }
    this.pausing = true
    await this.options.wait(retryAfter ?? 0)
    this.pausing = false
  }
}
