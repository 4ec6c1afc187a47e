// What the map shows: landmarks of five categories, albums and entries. Each is switched on and off, has a
// colour and a symbol, and counts in clusters by a number.

import type { ContentKind } from '../read/model'

/** Categories of landmarks are from 1 to this (rule 6.2). */
export const categories = 5

/** The numbers of albums and of entries. */
export const albumNumber = 6
export const blogNumber = 7

/** The highest number. */
export const numbersOfMap = 7

/** Returns the kind of content that a number stands for. */
export function kindOf(number: number): ContentKind {
  return number === albumNumber ? 'album' : number === blogNumber ? 'blog' : 'landmark'
}

/** Reports whether anything of a kind is switched on. */
export function isShown(kind: ContentKind, hidden: readonly number[]): boolean {
  for (let number = 1; number <= numbersOfMap; number++) {
    if (kindOf(number) === kind && !hidden.includes(number)) return true
  }
  return false
}
