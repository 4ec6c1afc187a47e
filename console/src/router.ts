// The address of a view is in the hash: #/explore/getAlbum?albumID=1.

import { signal } from '@preact/signals'

/** A place of the page: the parts of its path, decoded, and its parameters in their order. */
export interface Route {
  path: string[]
  query: URLSearchParams
}

/** Parses the hash of an address, with or without `#`. It accepts any text. */
export function parseHash(hash: string): Route {
  const text = hash.replace(/^#?\/?/, '')
  const at = text.indexOf('?')
  const path = at < 0 ? text : text.slice(0, at)
  return {
    path: path.split('/').filter(Boolean).map(decode),
    query: new URLSearchParams(at < 0 ? '' : text.slice(at + 1)),
  }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** Returns the hash of a place, with `#`. */
export function buildHash(path: readonly string[], query?: URLSearchParams): string {
  const text = query?.toString()
  return '#/' + path.map(encodeURIComponent).join('/') + (text ? '?' + text : '')
}

/** The current place. */
export const route = signal<Route>(parseHash(location.hash))

addEventListener('hashchange', () => (route.value = parseHash(location.hash)))

/** Goes to a place. The browser's history keeps the former one. */
export function go(hash: string): void {
  location.hash = hash
}

/** Changes the address of the current place. The history does not grow and the view does not change. */
export function replaceHash(hash: string): void {
  history.replaceState(history.state, '', hash)
}
