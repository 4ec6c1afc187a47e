// A plugin of vite that cuts the 1:10m countries of world-atlas to the parts that src/map/coast.ts names.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { Plugin } from 'vite'

import { cutPart, partsInARow } from './src/map/coast.ts'
import { shapesOf } from './src/map/shapes.ts'

const source = new URL('./node_modules/world-atlas/countries-10m.json', import.meta.url)
const folder = new URL('./node_modules/.coast/', import.meta.url)

export function coast(): Plugin {
  return {
    name: 'coast',
    buildStart() {
      const earth = shapesOf(JSON.parse(readFileSync(source, 'utf8')) as Parameters<typeof shapesOf>[0])
      rmSync(folder, { recursive: true, force: true })
      mkdirSync(folder)
      for (let column = 0; column < partsInARow; column++) {
        for (let row = 0; row < partsInARow; row++) {
          const part = cutPart(earth, column, row)
          if (part) writeFileSync(new URL(`coast-${column}-${row}.json`, folder), JSON.stringify(part))
        }
      }
    },
  }
}
