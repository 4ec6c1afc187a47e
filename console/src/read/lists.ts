// What the reading page begins with: lists of everybody's albums, entries and landmarks, and what an
// address says of them.

import { call } from '../api'
import { findOperation } from '../description'
import {
  summaryOf,
  type AlbumItem,
  type BlogItem,
  type ContentKind,
  type LandmarkItem,
  type Place,
  type Summary,
} from './model'

/** What a list shows. */
export interface Filter {
  kind: ContentKind
  /** The number of a category, or a type of entries; empty for all. */
  category: string
  near: Place | undefined
  /** The radius around `near` in kilometres. */
  radius: number
  /** YYYY, YYYY-MM or YYYY-MM-DD, of entries; empty for all. */
  date: string
}

export const kinds: readonly ContentKind[] = ['album', 'landmark', 'blog']

/** The radiuses to choose from, in kilometres. The service takes at most 50. */
export const radiuses: readonly number[] = [1, 5, 20, 50]

/** Reads the filter of an address. What is not valid is left out. */
export function filterOf(query: URLSearchParams): Filter {
  const kind = kinds.find(each => each === query.get('kind')) ?? 'album'
  const near = parsePlace(query.get('near') ?? '')
  const radius = radiuses.find(each => String(each) === query.get('radius')) ?? 5
  const category = query.get('category') ?? ''
  const date = query.get('date') ?? ''
  return {
    kind,
    category: /^[0-9_]{1,4}$/.test(category) ? category : '',
    near,
    radius,
    date: kind === 'blog' && !near && /^\d{4}(-\d{2}){0,2}$/.test(date) ? date : '',
  }
}

/** Writes the query of a filter. */
export function queryOf(filter: Filter): URLSearchParams {
  const query = new URLSearchParams({ kind: filter.kind })
  if (filter.category) query.set('category', filter.category)
  if (filter.near) {
    query.set('near', `${filter.near.lat},${filter.near.lng}`)
    query.set('radius', String(filter.radius))
  } else if (filter.date) query.set('date', filter.date)
  return query
}

/**
 * Reads a place as people write or copy it: two decimal numbers, latitude first, with a comma or a space
 * between, and with degrees and letters as this page shows them.
 */
export function parsePlace(text: string): Place | undefined {
  const found = /^\s*([+-]?\d{1,3}(?:\.\d+)?)\s*°?\s*([NS])?\s*[,\s]\s*([+-]?\d{1,3}(?:\.\d+)?)\s*°?\s*([EW])?\s*$/i.exec(text)
  if (!found) return undefined
  const lat = Number(found[1]) * (/s/i.test(found[2] ?? '') ? -1 : 1)
  const lng = Number(found[3]) * (/w/i.test(found[4] ?? '') ? -1 : 1)
  return Math.abs(lat) <= 90 && Math.abs(lng) <= 180 ? { lat, lng } : undefined
}

/** A list as far as it was loaded. `next` is empty when it is whole. */
export interface Loaded {
  items: Summary[]
  next: string
}

interface ListReply {
  albumList?: AlbumItem[]
  blogList?: BlogItem[]
  POIList?: LandmarkItem[]
  next?: string | number
}

const noun: Record<ContentKind, string> = { album: 'Album', blog: 'Blog', landmark: 'POI' }

/** Reports whether the service lists everybody's content. */
export function canBrowse(): boolean {
  return findOperation('getRecentAlbumList') !== undefined
}

/** Returns the request for a part of a list. */
export function requestOf(filter: Filter, after: string, limit: number): [func: string, parameters: Record<string, string | number | undefined>] {
  const { kind, category, near, radius, date } = filter
  const part = { limit, after: after || undefined, [kind === 'blog' ? 'type' : 'category']: category || undefined }
  if (near) return [`getNearby${noun[kind]}List`, { lat: near.lat, lng: near.lng, radius: radius * 1000, ...part }]
  if (date) {
    const [year, month, day] = date.split('-').map(Number)
    return ['getDatedBlogList', { year, month, day, limit, after: after || undefined }]
  }
  return [`getRecent${noun[kind]}List`, part]
}

/** Loads a part of a list. It rejects as `call` does. */
export async function loadPart(filter: Filter, after: string, limit: number, signal: AbortSignal): Promise<Loaded> {
  const [func, parameters] = requestOf(filter, after, limit)
  const reply = await call<ListReply>(func, parameters, { signal })
  const items = reply.albumList ?? reply.blogList ?? reply.POIList ?? []
  return { items: items.map(summaryOf), next: String(reply.next ?? '') }
}

/** Loads the entries of an author in a year or a month, or those of all: at most `most` of them. */
export async function loadDated(user: string, date: string, most: number, signal: AbortSignal): Promise<Loaded> {
  const [year, month] = date.split('-').map(Number)
  const reply = await call<ListReply>('getDatedBlogList', { userID: user || undefined, year, month, limit: most }, { signal })
  return { items: (reply.blogList ?? []).map(summaryOf), next: String(reply.next ?? '') }
}
