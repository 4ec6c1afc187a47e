// Photos on their way to albums: sent one after another in the order in which they were chosen. One that fails stops
// none of the others, and a repetition adds no second photo. They go on while the page shows something else.

import { signal } from '@preact/signals'

import { callWithFile } from '../files'

export interface Upload {
  /** The identifier of the request, a UUID. A repetition has the same. */
  id: string
  album: string
  file: File
  state: 'waiting' | 'sending' | 'failed' | 'done'
  /** The part that was sent, from 0 to 1. */
  sent: number
  /** Why it failed. */
  failure?: unknown
}

/** Sends a photo and tells how far it is. It rejects with a CallFailure. */
export type Send = (upload: Upload, progress: (sent: number) => void) => Promise<void>

export class Uploads {
  readonly all = signal<readonly Upload[]>([])
  private running = false

  constructor(private readonly send: Send) {}

  /** Sends files to an album, after those that wait already. */
  add(album: string, files: Iterable<File>): void {
    const added = [...files].map((file): Upload => ({ id: newUUID(), album, file, state: 'waiting', sent: 0 }))
    this.all.value = [...this.all.value.filter(each => each.state !== 'done'), ...added]
    void this.run()
  }

  /** Sends a failed one again, after those that wait. */
  retry(id: string): void {
    const upload = this.all.value.find(each => each.id === id)
    if (upload?.state !== 'failed') return
    this.drop(id)
    this.all.value = [...this.all.value, { ...upload, state: 'waiting', sent: 0 }]
    void this.run()
  }

  /** Forgets one that failed. */
  drop(id: string): void {
    this.all.value = this.all.value.filter(each => each.id !== id)
  }

  private change(id: string, change: Partial<Upload>): void {
    this.all.value = this.all.value.map(each => (each.id === id ? { ...each, ...change } : each))
  }

  private async run(): Promise<void> {
    if (this.running) return
    this.running = true
    for (;;) {
      const next = this.all.value.find(each => each.state === 'waiting')
      if (!next) break
      this.change(next.id, { state: 'sending' })
      try {
        await this.send(next, sent => this.change(next.id, { sent }))
        this.change(next.id, { state: 'done', sent: 1 })
      } catch (failure) {
        this.change(next.id, { state: 'failed', failure })
      }
    }
    this.running = false
  }
}

/** The uploads of the page. */
export const uploads = new Uploads(({ id, album, file }, progress) =>
  callWithFile('addPhoto', { albumID: album, requestID: id }, 'photo', file, progress),
)

// A page that is left would lose what is not sent.
globalThis.addEventListener?.('beforeunload', event => {
  if (uploads.all.value.some(each => each.state === 'waiting' || each.state === 'sending')) event.preventDefault()
})

/** Returns a random UUID. A page that came by plain HTTP has no crypto.randomUUID. */
export function newUUID(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = (bytes[6]! & 0x0f) | 0x40
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = [...bytes].map(each => each.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
