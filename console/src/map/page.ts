// One page of what is in a box: its address, and its reply.

import { encodeForm } from '../form'
import type { ContentKind } from '../read/model'
import type { Box } from './areas'
import { albumNumber, blogNumber } from './kinds'
import { LoadError } from './loader'
import type { Landmark, Page } from './parts'

/** The operations that list what is in a box. */
export const operations: Record<ContentKind, string> = {
  landmark: 'getNearbyPOIList',
  album: 'getNearbyAlbumList',
  blog: 'getNearbyBlogList',
}

/** Returns the address of a page of a box. */
export function pageAddress(api: string, kind: ContentKind, box: Box, after: string, limit: number): string {
  const form = encodeForm([
    ['func', operations[kind]],
    ['latMin', String(box.south)],
    ['latMax', String(box.north)],
    ['lngMin', String(box.west)],
    ['lngMax', String(box.east)],
    ['limit', String(limit)],
    ...(after ? [['after', after] as const] : []),
    ['responseFormat', 'JSON'],
  ])
  return `${api}?${form}`
}

type Located = { Location?: { lat: number; lng: number } }

interface PageReply {
  status?: string
  info?: string
  POIList?: ({ POIID: number; name: string; category?: number } & Located)[]
  albumList?: ({ albumID: number; albumTitle: string } & Located)[]
  blogList?: ({ blogID: number; blogTitle: string } & Located)[]
  next?: string | number
}

/** Reads a reply. It throws a LoadError if the reply is a failure. */
export function parsePage(reply: PageReply): Page {
  if (reply.status !== 'SUCCESS') throw new LoadError(reply.info ?? 'no reply')
  const landmarks: Landmark[] = []
  const add = (id: number, name: string, category: number, place: Located['Location']) => {
    if (place) landmarks.push({ id, name, category, lat: place.lat, lng: place.lng })
  }
  for (const each of reply.POIList ?? []) add(each.POIID, each.name, each.category ?? 0, each.Location)
  for (const each of reply.albumList ?? []) add(each.albumID, each.albumTitle, albumNumber, each.Location)
  for (const each of reply.blogList ?? []) add(each.blogID, each.blogTitle, blogNumber, each.Location)
  return { landmarks, next: String(reply.next ?? '') }
}

/** Waits of a repetition whose reply names none, in milliseconds. */
const shortWait = 1000

/** Fetches a page. It throws a LoadError if that fails. */
export async function fetchPage(address: string, signal: AbortSignal): Promise<Page> {
  let response: Response
  try {
    response = await fetch(address, { signal, cache: 'no-store', credentials: 'same-origin' })
  } catch (error) {
    throw new LoadError(error instanceof Error ? error.message : String(error), shortWait)
  }
  if (response.status === 429 || response.status >= 500) {
    const seconds = Number(response.headers.get('Retry-After'))
    throw new LoadError(`HTTP ${response.status}`, seconds > 0 ? Math.min(seconds, 30) * 1000 : shortWait)
  }
  let reply: PageReply
  try {
    reply = (await response.json()) as PageReply
  } catch (error) {
    throw new LoadError(error instanceof Error ? error.message : String(error), shortWait)
  }
  return parsePage(reply)
}
