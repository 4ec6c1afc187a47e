import 'leaflet/dist/leaflet.css'
import './map.css'

import { useEffect, useRef, useState } from 'preact/hooks'

import { description } from '../description'
import { language } from '../i18n'
import { takes } from '../read/load'
import type { ContentKind } from '../read/model'
import { PlaceField } from '../read/PlaceField'
import { buildHash, replaceHash, route } from '../router'
import { isDark } from '../theme'
import type { Box } from './areas'
import type { Mark } from './clusters'
import { ContentCard } from './ContentCard'
import { InView, type Order } from './InView'
import { kindOf } from './kinds'
import { LandmarkMap } from './LeafletMap'
import { Legend, numbersToSwitch } from './Legend'
import { Listing } from './Listing'
import { operations } from './page'
import type { Landmark } from './parts'
import { chosenOf, hiddenOf, placeOf, queryOf } from './place'
import { LandmarkSource } from './source'
import { firstPlaces } from './start'
import { Status } from './Status'
import { text } from './words'

/** Where the map begins when nothing says otherwise: Taiwan. */
const start = { lat: 23.7, lng: 120.95, zoom: 7 }

/** The address follows the map after this pause, in milliseconds. */
const addressDelay = 300

/** Landmarks in a reply. */
const pageSize = 2000

/** The zoom at which the map shows a place that was typed. */
const placeZoom = 15

/** Landmarks, albums and entries on a map, with a list of what is in view beside it. */
export default function MapView() {
  const element = useRef<HTMLDivElement>(null)
  const side = useRef<HTMLDivElement>(null)
  const map = useRef<LandmarkMap | undefined>(undefined)
  const [source] = useState(() => {
    return new LandmarkSource(description().paths.api, searchedKinds(), pageSize)
  })
  const [view, setView] = useState<{ view: Box; drawn: Box; zoom: number }>()
  const [hidden, setHidden] = useState(() => hiddenOf(route.value.query))
  const [chosen, choose] = useState(() => chosenOf(route.value.query))
  const [group, openGroup] = useState<Landmark[]>()
  const [order, setOrder] = useState<Order>('nearest')
  const shown = source.shown.value

  const openLandmark = (landmark: Landmark) => choose({ kind: kindOf(landmark.category), id: String(landmark.id) })
  const openMark = async (mark: Mark) => {
    if (mark.kind === 'landmark') {
      openGroup(undefined)
      openLandmark(mark)
      return
    }
    const zoom = map.current?.map.getZoom() ?? 0
    const leaves = mark.expansionZoom > zoom ? [] : await source.openCluster(mark.id)
    choose(undefined)
    if (leaves.length > 0) openGroup(leaves)
    else map.current?.go(mark.lat, mark.lng, Math.max(mark.expansionZoom, zoom + 1))
    side.current?.querySelector<HTMLElement>('[data-focus]')?.focus({ preventScroll: true })
  }
  const latest = useRef(openMark)
  latest.current = openMark

  useEffect(() => {
    const place = placeOf(route.value.query)
    const landmarks = new LandmarkMap(
      element.current!,
      { ...(place ?? start), tiles: description().tiles, zoomIn: text('zoomIn'), zoomOut: text('zoomOut') },
      { moved: (box, drawn, zoom) => setView({ view: box, drawn, zoom }), chosen: mark => void latest.current(mark) },
    )
    map.current = landmarks
    const controller = new AbortController()
    if (!place) void goToFirst(landmarks, controller.signal)
    return () => {
      controller.abort()
      landmarks.close()
      source.close()
    }
  }, [])

  // A link to another place of the map. The address that follows the map does not change the route.
  const { query } = route.value
  const firstQuery = useRef(query)
  useEffect(() => {
    const place = placeOf(query)
    if (query === firstQuery.current || !place) return
    map.current?.go(place.lat, place.lng, place.zoom)
    setHidden(hiddenOf(query))
    choose(chosenOf(query))
  }, [query])

  useEffect(() => {
    if (view) source.show(view.view, view.drawn, view.zoom, hidden)
  }, [view, hidden])
  useEffect(() => map.current?.show(shown?.marks ?? []), [shown])
  const chosenName = chosen ? `${chosen.kind}/${chosen.id}` : ''
  const lastChosen = useRef('')
  useEffect(() => {
    if (!chosenName && lastChosen.current) {
      map.current?.point(undefined)
      const button = side.current?.querySelector<HTMLElement>(`[data-id="${lastChosen.current}"]`)
      ;(button ?? side.current?.querySelector<HTMLElement>('[data-focus]'))?.focus()
    }
    lastChosen.current = chosenName
  }, [chosenName])
  const dark = isDark.value
  useEffect(() => map.current?.recolour(), [dark])
  useEffect(() => map.current?.rename(), [language.value])
  useEffect(() => {
    const middle = map.current?.map.getCenter()
    if (!view || !middle) return
    const place = { lat: middle.lat, lng: middle.lng, zoom: view.zoom, hidden, chosen }
    const timer = setTimeout(() => replaceHash(buildHash(['map'], queryOf(place))), addressDelay)
    return () => clearTimeout(timer)
  }, [view, hidden, chosenName])

  return (
    <div class="map-view" data-testid="map-view">
      <h1 class="hidden">{text('title')}</h1>
      <div class="map-side" ref={side}>
        <Legend hidden={hidden} numbers={numbersToSwitch(searchedKinds().includes('album'))} change={setHidden} />
        <PlaceField
          label={text('coordinates')}
          button={text('goThere')}
          name="map-coordinates"
          choose={place => {
            choose(undefined)
            map.current?.go(place.lat, place.lng, Math.max(map.current.map.getZoom(), placeZoom))
            map.current?.point(place)
          }}
        />
        <Status source={source} />
        {!takes('getNearbyPOIList', 'latMin') && <Listing source={source} hidden={hidden} />}
        {chosen ? (
          <ContentCard
            key={chosenName}
            chosen={chosen}
            back={() => choose(undefined)}
            found={place => map.current?.point(place)}
          />
        ) : (
          <InView
            shown={shown}
            order={order}
            chooseOrder={setOrder}
            group={group}
            closeGroup={() => openGroup(undefined)}
            open={openLandmark}
          />
        )}
      </div>
      <div
        class="map-canvas"
        ref={element}
        role="application"
        aria-label={text('map')}
        lang={language.value}
        data-testid="map"
        data-marks={shown?.marks.length ?? 0}
        data-kept={shown?.kept ?? 0}
        data-in-view={shown?.inView ?? 0}
        data-loading={shown?.progress.loading ?? true}
      />
    </div>
  )
}

/** The kinds of content that the service finds by their place. */
function searchedKinds(): ContentKind[] {
  return (['landmark', 'album', 'blog'] as const).filter(kind => takes(operations[kind], 'latMin'))
}

/** Moves the map to where the first landmarks are, unless someone moved it before. */
async function goToFirst(landmarks: LandmarkMap, signal: AbortSignal): Promise<void> {
  let isMoved = false
  landmarks.map.once('movestart', () => (isMoved = true))
  const places = await firstPlaces(signal)
  if (isMoved || signal.aborted || places.length === 0) return
  landmarks.map.fitBounds(
    places.map(({ lat, lng }): [number, number] => [lat, lng]),
    { maxZoom: 11, padding: [60, 60], animate: false },
  )
}
