import type { ContentKind } from './model'

/** The parameters of the map's address that choose content. */
export const mapNames: Record<ContentKind, string> = { album: 'album', blog: 'blog', landmark: 'poi' }
