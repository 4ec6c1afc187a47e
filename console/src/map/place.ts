// What the map's address says: its middle, zoom, switched-off categories, and the chosen landmark.

/** A state of the map that can be linked to. */
export interface MapPlace {
  lat: number
  lng: number
  zoom: number
  hidden: number[]
  /** The chosen landmark; empty for none. */
  landmark: string
}

/** Reads the query of the map's address. Undefined without a valid middle. */
export function placeOf(query: URLSearchParams): Pick<MapPlace, 'lat' | 'lng' | 'zoom'> | undefined {
  const [lat, lng, zoom] = (query.get('at') ?? '').split(',').map(each => (each.trim() ? Number(each) : NaN))
  if (lat === undefined || lng === undefined || !(Math.abs(lat) <= 90) || !(Math.abs(lng) <= 180)) return undefined
  return { lat, lng, zoom: zoom !== undefined && zoom >= 0 && zoom <= 22 ? zoom : 14 }
}

/** Reads the switched-off categories. */
export function hiddenOf(query: URLSearchParams): number[] {
  return (query.get('hide') ?? '')
    .split(',')
    .map(Number)
    .filter(each => Number.isInteger(each) && each >= 1 && each <= 5)
}

/** Reads the chosen landmark. */
export function landmarkOf(query: URLSearchParams): string {
  const id = query.get('poi') ?? ''
  return /^[1-9][0-9]{0,15}$/.test(id) ? id : ''
}

/** Writes the query of a state. Coordinates have as many digits as the zoom shows. */
export function queryOf(place: MapPlace): URLSearchParams {
  const digits = Math.min(6, Math.max(2, Math.round(place.zoom / 3) + 1))
  const query = new URLSearchParams()
  query.set('at', [place.lat.toFixed(digits), place.lng.toFixed(digits), place.zoom].join(','))
  if (place.hidden.length > 0) query.set('hide', place.hidden.join(','))
  if (place.landmark) query.set('poi', place.landmark)
  return query
}
