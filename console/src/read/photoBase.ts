import { description } from '../description'
import { isUploaded, loadableImage } from './model'

/** Returns the address against which an address of a photo is resolved: a setting, or the page's. Uploads are here. */
export function photoBase(address: string): string {
  return (!isUploaded(address) && description().photos) || document.baseURI
}

/** Returns where a photo is, if this page may load it. */
export function photoSource(address: string): string | undefined {
  return loadableImage(address, photoBase(address), document.baseURI)
}
