// The names of places as a layer of Leaflet, below the marks.

import * as L from 'leaflet'

import { language } from '../i18n'
import { drawnMargin } from './marksLayer'
import { apart, type Label } from './naming'
import type { Place } from './places'

const pane = 'names'

/** The height of a name and the distance from its place to its text in pixels. map.css has the same. */
const height = 16
const indent = 8

const font = '500 12px system-ui, sans-serif'

interface Name extends Label {
  text: string
}

export class NamesLayer extends L.Layer {
  private readonly measure = document.createElement('canvas').getContext('2d')!
  private places: readonly Place[] = []

  override onAdd(map: L.Map): this {
    // Tiles are at 200, and marks at 400.
    const element = map.getPane(pane) ?? map.createPane(pane)
    element.style.zIndex = '300'
    element.setAttribute('aria-hidden', 'true')
    map.on('moveend', this.draw, this)
    map.on('zoomstart', this.clear, this)
    void import('./places').then(({ places }) => {
      this.places = places
      this.draw()
    })
    return this
  }

  override onRemove(map: L.Map): this {
    map.off('moveend', this.draw, this)
    map.off('zoomstart', this.clear, this)
    this.clear(map)
    return this
  }

  /** Shows the names anew: in another language, or elsewhere. */
  draw(): void {
    const map = this._map
    if (!map) return
    const bounds = map.getBounds().pad(drawnMargin)
    const zoom = map.getZoom()
    const inView = this.places.filter(([least, lat, lng]) => least <= zoom && bounds.contains([lat, lng]))
    this.measure.font = font
    map.getPane(pane)!.replaceChildren(...apart(inView.map(place => this.nameOf(place, map))).map(elementOf))
  }

  private nameOf([, lat, lng, en, zh]: Place, map: L.Map): Name {
    const text = language.value === 'en' ? en : zh
    const { x, y } = map.latLngToLayerPoint([lat, lng])
    return { text, left: x, top: y - height / 2, width: indent + this.measure.measureText(text).width, height }
  }

  private clear(at: L.Map | L.LeafletEvent): void {
    const map = at instanceof L.Map ? at : this._map
    map?.getPane(pane)?.replaceChildren()
  }
}

function elementOf(name: Name): HTMLElement {
  const element = document.createElement('span')
  element.className = 'map-place'
  element.textContent = name.text
  L.DomUtil.setPosition(element, L.point(name.left, name.top).round())
  return element
}
