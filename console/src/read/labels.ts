// Names of categories and types, from the description of the operations.

import { inLanguage } from '../categories'
import { findOperation } from '../description'
import type { ContentKind } from './model'

/** The words for what a list of a kind has. */
export const kindWords = { album: 'albums', blog: 'blogs', landmark: 'landmarks' } as const

/** The operation and the parameter whose values name the categories of a kind of content. */
const sources: Record<ContentKind, [func: string, parameter: string]> = {
  album: ['addAlbum', 'category'],
  blog: ['postBlog', 'type'],
  landmark: ['getCategoryPOIList', 'category'],
}

/** Returns the name of a category or type, or its number where the description has no name. */
export function categoryName(kind: ContentKind, category: string): string {
  const [func, parameter] = sources[kind]
  const values = findOperation(func)?.parameters?.find(each => each.name === parameter)?.values
  return inLanguage(values?.find(each => each.value === category)?.label || category)
}

/** Returns the categories, or the types, of a kind of content. */
export function categories(kind: ContentKind): { value: string; label: string }[] {
  const [func, parameter] = sources[kind]
  const values = findOperation(func)?.parameters?.find(each => each.name === parameter)?.values ?? []
  return values.map(({ value, label }) => ({ value, label: inLanguage(label || value) }))
}
