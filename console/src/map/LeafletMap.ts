// The map itself: Leaflet with the base map, tiles where they are set, and the marks.

import * as L from 'leaflet'

import type { Box } from './areas'
import { BaseLayer } from './baseLayer'
import type { Mark } from './clusters'
import { numbersOfMap } from './kinds'
import { drawnMargin, MarksLayer, type MarkColours } from './marksLayer'
import { NamesLayer } from './namesLayer'
import { baseColours } from './paint'
import { lastLatitude } from './shapes'

/** The deepest zoom of the map. */
export const deepestMapZoom = 18

export interface MapEvents {
  /** The view has changed; `drawn` is a larger box, whose marks are drawn. */
  moved: (view: Box, drawn: Box, zoom: number) => void
  chosen: (mark: Mark) => void
}

export interface MapOptions {
  /** The address of raster tiles; empty for none. */
  tiles: string
  lat: number
  lng: number
  zoom: number
  zoomIn: string
  zoomOut: string
}

export class LandmarkMap {
  readonly map: L.Map
  private readonly base: BaseLayer
  private readonly marks: MarksLayer
  private readonly names = new NamesLayer()
  private readonly ring = L.circleMarker([0, 0], {
    radius: 16,
    className: 'map-ring',
    interactive: false,
    renderer: L.svg(),
  })
  private readonly observer: ResizeObserver

  constructor(
    element: HTMLElement,
    options: MapOptions,
    private readonly events: MapEvents,
  ) {
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches
    this.map = L.map(element, {
      maxZoom: deepestMapZoom,
      maxBounds: [
        [-lastLatitude, -180],
        [lastLatitude, 180],
      ],
      maxBoundsViscosity: 1,
      zoomControl: false,
      zoomAnimation: !still,
      fadeAnimation: false,
      markerZoomAnimation: !still,
      inertia: !still,
    })
    this.map.attributionControl.setPrefix('Leaflet')
    this.base = new BaseLayer(baseColours())
    this.marks = new MarksLayer(markColours(), mark => events.chosen(mark))
    this.map.setMinZoom(this.leastZoom())
    this.map.setView([options.lat, options.lng], Math.max(options.zoom, this.leastZoom()))
    this.base.addTo(this.map)
    this.map.attributionControl.addAttribution('Natural Earth')
    // Tiles have names of their own.
    if (options.tiles) addTiles(this.map, options.tiles)
    else this.names.addTo(this.map)
    this.marks.addTo(this.map)
    L.control.scale({ imperial: false, position: 'bottomleft' }).addTo(this.map)
    L.control.zoom({ position: 'topright', zoomInTitle: options.zoomIn, zoomOutTitle: options.zoomOut }).addTo(this.map)
    this.map.on('moveend', () => this.announce())
    this.observer = new ResizeObserver(() => {
      this.map.setMinZoom(this.leastZoom())
      this.map.invalidateSize({ animate: false })
    })
    this.observer.observe(element)
    this.announce()
  }

  show(marks: Mark[]): void {
    this.marks.show(marks)
  }

  /** Draws a ring around a place, and moves the map there if the place is out of view. */
  point(place: { lat: number; lng: number } | undefined): void {
    this.ring.remove()
    if (!place) return
    this.ring.setLatLng(place).addTo(this.map)
    if (!this.map.getBounds().contains(place)) this.go(place.lat, place.lng, this.map.getZoom())
  }

  go(lat: number, lng: number, zoom: number): void {
    this.map.setView([lat, lng], Math.min(zoom, deepestMapZoom))
  }

  recolour(): void {
    this.base.recolour(baseColours())
    this.marks.recolour(markColours())
  }

  /** Shows the names of places in the language of the page. */
  rename(): void {
    this.names.draw()
  }

  close(): void {
    this.observer.disconnect()
    this.map.remove()
  }

  /** The zoom at which the Earth is about as wide as the map. */
  private leastZoom(): number {
    return Math.max(0, Math.floor(Math.log2(Math.max(this.map.getSize().x, 1) / 256)))
  }

  private announce(): void {
    const view = this.map.getBounds()
    this.events.moved(boxOf(view), boxOf(view.pad(drawnMargin)), this.map.getZoom())
  }
}

function addTiles(map: L.Map, tiles: string): void {
  const host = /^https?:\/\/([^/{}]+)/.exec(tiles)?.[1] ?? ''
  L.tileLayer(tiles, { maxZoom: deepestMapZoom, noWrap: true, attribution: host }).addTo(map)
}

function boxOf(bounds: L.LatLngBounds): Box {
  return { south: bounds.getSouth(), west: bounds.getWest(), north: bounds.getNorth(), east: bounds.getEast() }
}

/** Returns the colours of the present theme. */
function markColours(): MarkColours {
  const style = getComputedStyle(document.documentElement)
  const of = (name: string) => style.getPropertyValue(name).trim()
  return {
    categories: Array.from({ length: numbersOfMap + 1 }, (_, i) => i).map(category => of(`--map-category-${category}`)),
    fill: of('--surface'),
    text: of('--text'),
    outline: of('--surface'),
  }
}
