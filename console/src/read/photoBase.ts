import { description } from '../description'

/** Returns the address against which relative addresses of photos are resolved: a setting, or the page's. */
export function photoBase(): string {
  return description().photos || document.baseURI
}
