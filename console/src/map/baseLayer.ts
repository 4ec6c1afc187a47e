// The base map as a layer of Leaflet: tiles of canvas that show land, coasts and borders.

import * as L from 'leaflet'

import { baseMap } from './base'
import { paintBase, type BaseColours } from './paint'
import type { Drawing, Window } from './shapes'

/** Width of a tile in pixels of the page. */
const tilePixels = 512

interface Tile {
  drawing: Drawing | undefined
  window: Window
  cancel: () => void
}

export class BaseLayer extends L.GridLayer {
  private readonly tiles = new Map<HTMLElement, Tile>()

  constructor(private colours: BaseColours) {
    super({
      tileSize: tilePixels,
      noWrap: true,
      bounds: [
        [-90, -180],
        [90, 180],
      ],
      keepBuffer: 1,
      updateWhenZooming: false,
    })
    this.on('tileunload', event => {
      const tile = (event as L.TileEvent).tile
      this.tiles.get(tile)?.cancel()
      this.tiles.delete(tile)
    })
  }

  /** Draws all tiles anew in other colours. */
  recolour(colours: BaseColours): void {
    this.colours = colours
    for (const [canvas, tile] of this.tiles) paintBase(canvas as HTMLCanvasElement, tile.window, tile.drawing, colours)
  }

  protected override createTile(coords: L.Coords, done: L.DoneCallback): HTMLElement {
    const canvas = document.createElement('canvas')
    const ratio = Math.min(window.devicePixelRatio, 2)
    canvas.width = canvas.height = tilePixels * ratio
    const size = tilePixels / (256 * 2 ** coords.z)
    const tile: Tile = {
      drawing: undefined,
      window: { x: coords.x * size, y: coords.y * size, size, pixels: tilePixels },
      cancel: () => undefined,
    }
    this.tiles.set(canvas, tile)
    tile.cancel = baseMap().draw(tile.window, drawing => {
      tile.drawing = drawing
      paintBase(canvas, tile.window, drawing, this.colours)
      done(undefined, canvas)
    })
    return canvas
  }
}
