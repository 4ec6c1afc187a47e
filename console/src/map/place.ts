// What the map's address says: its middle, zoom, what is switched off, and the chosen content.

import { mapNames } from '../read/mapNames'
import type { ContentKind } from '../read/model'
import { numbersOfMap } from './kinds'

/** Content that was chosen on the map. */
export interface Chosen {
  kind: ContentKind
  id: string
}

/** A state of the map that can be linked to. */
export interface MapPlace {
  lat: number
  lng: number
  zoom: number
  hidden: number[]
  chosen: Chosen | undefined
}

/** Reads the query of the map's address. Undefined without a valid middle. */
export function placeOf(query: URLSearchParams): Pick<MapPlace, 'lat' | 'lng' | 'zoom'> | undefined {
  const [lat, lng, zoom] = (query.get('at') ?? '').split(',').map(each => (each.trim() ? Number(each) : NaN))
  if (lat === undefined || lng === undefined || !(Math.abs(lat) <= 90) || !(Math.abs(lng) <= 180)) return undefined
  return { lat, lng, zoom: zoom !== undefined && zoom >= 0 && zoom <= 22 ? zoom : 14 }
}

/** Reads the numbers that are switched off. */
export function hiddenOf(query: URLSearchParams): number[] {
  return (query.get('hide') ?? '')
    .split(',')
    .map(Number)
    .filter(each => Number.isInteger(each) && each >= 1 && each <= numbersOfMap)
}

/** Reads the chosen content. */
export function chosenOf(query: URLSearchParams): Chosen | undefined {
  for (const kind of ['landmark', 'album', 'blog'] as const) {
    const id = query.get(mapNames[kind]) ?? ''
    if (/^[1-9][0-9]{0,15}$/.test(id)) return { kind, id }
  }
  return undefined
}

/** Writes the query of a state. Coordinates have as many digits as the zoom shows. */
export function queryOf(place: MapPlace): URLSearchParams {
  const digits = Math.min(6, Math.max(2, Math.round(place.zoom / 3) + 1))
  const query = new URLSearchParams()
  query.set('at', [place.lat.toFixed(digits), place.lng.toFixed(digits), place.zoom].join(','))
  if (place.hidden.length > 0) query.set('hide', place.hidden.join(','))
  if (place.chosen) query.set(mapNames[place.chosen.kind], place.chosen.id)
  return query
}
