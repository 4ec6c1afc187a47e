// Loads what the reading views show.

import { useEffect, useState } from 'preact/hooks'

import { call } from '../api'
import { description } from '../description'
import {
  albumOf,
  blogOf,
  landmarkOf,
  summaryOf,
  type AlbumReply,
  type BlogReply,
  type Content,
  type ContentKind,
  type LandmarkItem,
  type LandmarkReply,
  type Person,
  type Summary,
} from './model'

/** Loads an album, an entry or a landmark. It rejects as `call` does. */
export async function loadContent(kind: ContentKind, id: string, signal?: AbortSignal): Promise<Content> {
  const options = signal ? { signal } : {}
  switch (kind) {
    case 'album':
      return albumOf(id, await call<AlbumReply>('getAlbum', { albumID: id, ...withIDs('getAlbum') }, options))
    case 'blog':
      return blogOf(id, await call<BlogReply>('getBlog', { blogID: id, ...withIDs('getBlog') }, options))
    case 'landmark':
      return landmarkOf(id, await call<LandmarkReply>('getPOI', { POIID: id, ...withIDs('getPOI') }, options))
  }
}

/** Asks for the identifiers of people, comments and photos, where the service can tell them (rule 17.15). */
function withIDs(func: string): Record<string, string> {
  const can = description().operations.some(each => each.func === func && each.fixed?.withIDs === 'true')
  return can || takes(func, 'withIDs') ? { withIDs: 'true' } : {}
}

/** Reports whether the service has an operation with a parameter of this name. */
export function takes(func: string, parameter: string): boolean {
  return description().operations.some(
    each => each.func === func && (each.parameters ?? []).some(one => one.name === parameter),
  )
}

/** Loads the name and the icon of a user from something that the user made, if there is anything and a quick way. */
export async function personOfUser(user: string, signal: AbortSignal): Promise<Person | undefined> {
  for (const kind of ['album', 'blog', 'landmark'] as const) {
    if (!takes(listOperations[kind], 'limit')) continue
    const { items } = await loadList(kind, user, '', 1, signal)
    if (items[0]) return (await loadContent(kind, items[0].id, signal)).owner
  }
  return undefined
}

/** The operations that list what a user made. */
export const listOperations: Record<ContentKind, string> = {
  album: 'getUserAlbumList',
  blog: 'getUserBlogList',
  landmark: 'getUserPOIList',
}

/** Something that is loaded, has failed, or neither yet. A value stays while it is loaded again. */
export type Loaded<T> = { state: 'loading' } | { state: 'failed'; error: unknown } | { state: 'ready'; value: T }

/** Loads a value when `key` changes, and again when `reload` is called. */
export function useLoaded<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
): { loaded: Loaded<T>; reload: () => void } {
  const [round, setRound] = useState(0)
  const [state, setState] = useState<{ key: string; loaded: Loaded<T> }>({ key, loaded: { state: 'loading' } })
  useEffect(() => {
    const controller = new AbortController()
    const finish = (loaded: Loaded<T>) => {
      if (!controller.signal.aborted) setState({ key, loaded })
    }
    load(controller.signal).then(
      value => finish({ state: 'ready', value }),
      (error: unknown) => finish({ state: 'failed', error }),
    )
    return () => controller.abort()
  }, [key, round])
  return { loaded: state.key === key ? state.loaded : { state: 'loading' }, reload: () => setRound(round + 1) }
}

/** Lets a few tasks run at a time; the others wait in their order. */
export class Gate {
  private readonly waiting: (() => void)[] = []
  private running = 0

  constructor(private readonly most: number) {}

  /** Runs a task when its turn comes, unless the signal is aborted by then. */
  async run<T>(task: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.running >= this.most) await new Promise<void>(resolve => this.waiting.push(resolve))
    else this.running++
    try {
      signal.throwIfAborted()
      return await task()
    } finally {
      const next = this.waiting.shift()
      if (next) next()
      else this.running--
    }
  }
}

/** An item of a user's list. Landmarks come with what a card shows. */
export type Item = { id: string; title: string } & Partial<Summary>

/** A user's list, as far as it was loaded. */
export interface List {
  items: Item[]
  /** Where the next part begins; empty when the list is whole. */
  next: string
}

type ListReply = {
  albumList?: { albumID: number; albumTitle: string }[]
  blogList?: { blogID: number; blogTitle: string }[]
  POIList?: LandmarkItem[]
  next?: number | string
}

/** Loads a part of a user's albums, entries or landmarks. A service without `limit` sends the whole list. */
export async function loadList(
  kind: ContentKind,
  user: string,
  after: string,
  limit: number,
  signal?: AbortSignal,
): Promise<List> {
  const func = listOperations[kind]
  const part = takes(func, 'limit') ? { limit, after: after || undefined } : {}
  return listOf(await call<ListReply>(func, { userID: user, ...part }, signal ? { signal } : {}))
}

export function listOf(reply: ListReply): List {
  const albums = (reply.albumList ?? []).map(each => ({ id: String(each.albumID), title: each.albumTitle }))
  const blogs = (reply.blogList ?? []).map(each => ({ id: String(each.blogID), title: each.blogTitle }))
  const landmarks = (reply.POIList ?? []).map(summaryOf)
  return { items: [...albums, ...blogs, ...landmarks], next: String(reply.next ?? '') }
}
