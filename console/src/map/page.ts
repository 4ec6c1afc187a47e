// One page of getNearbyPOIList: its address, and its reply.

import { encodeForm } from '../form'
import type { Box } from './areas'
import { LoadError } from './loader'
import type { Landmark, Page } from './parts'

/** Returns the address of a page of a box. */
export function pageAddress(api: string, box: Box, after: string, limit: number): string {
  const form = encodeForm([
    ['func', 'getNearbyPOIList'],
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

interface PageReply {
  status?: string
  info?: string
  POIList?: { POIID: number; name: string; category?: number; Location?: { lat: number; lng: number } }[]
  next?: string | number
}

/** Reads a reply. It throws a LoadError if the reply is a failure. */
export function parsePage(reply: PageReply): Page {
  if (reply.status !== 'SUCCESS') throw new LoadError(reply.info ?? 'no reply')
  const landmarks: Landmark[] = []
  for (const { POIID: id, name, category = 0, Location: place } of reply.POIList ?? []) {
    if (place) landmarks.push({ id, name, category, lat: place.lat, lng: place.lng })
  }
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
