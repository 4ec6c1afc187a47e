// The landmarks that the service has in any case: those that a category's list begins with.

import { call } from '../api'
import { loadContent, takes } from '../read/load'
import type { Place } from '../read/model'
import { categories } from './kinds'
import type { Landmark } from './parts'

interface ListReply {
  POIList?: { POIID: number; name: string }[]
  next?: number | string
}

/** A part of a category's landmarks, and where the next part begins; empty at the end. */
export interface CategoryPart {
  items: { id: number; name: string }[]
  next: string
}

/** Loads a part of a category. A service without `limit` sends the whole category. */
export async function loadCategory(
  category: number,
  after: string,
  limit: number,
  signal: AbortSignal,
): Promise<CategoryPart> {
  const part = takes('getCategoryPOIList', 'limit') ? { limit, after: after || undefined } : {}
  const reply = await call<ListReply>('getCategoryPOIList', { category, ...part }, { signal })
  return {
    items: (reply.POIList ?? []).map(each => ({ id: each.POIID, name: each.name })),
    next: String(reply.next ?? ''),
  }
}

/** Loads the place of a landmark. */
export async function locate(id: number, category: number, signal: AbortSignal): Promise<Landmark> {
  const { title, place } = await loadContent('landmark', String(id), signal)
  return { id, name: title, category, lat: place.lat, lng: place.lng }
}

/** Returns the place of each category's first landmark. Whatever fails is left out. */
export async function firstPlaces(signal: AbortSignal): Promise<Place[]> {
  if (!takes('getCategoryPOIList', 'limit')) return []
  const found = await Promise.allSettled(
    Array.from({ length: categories }, async (_, i) => {
      const { items } = await loadCategory(i + 1, '', 1, signal)
      return items[0] && locate(items[0].id, i + 1, signal)
    }),
  )
  return found.flatMap(each => (each.status === 'fulfilled' && each.value ? [each.value] : []))
}
