// Forms as the edge reads them: application/x-www-form-urlencoded in UTF-8.

/** A parameter of a request. */
export type Pair = readonly [name: string, value: string]

export const formType = 'application/x-www-form-urlencoded'

/**
 * Percent-encodes every byte of the text's UTF-8 except the unreserved characters of RFC 3986. Half of a
 * surrogate pair becomes U+FFFD, as in a form that a browser sends.
 */
export function percentEncode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    each => '%' + each.charCodeAt(0).toString(16).toUpperCase(),
  )
}

/** Encodes the parameters in their order. */
export function encodeForm(pairs: readonly Pair[]): string {
  return pairs.map(([name, value]) => percentEncode(name) + '=' + percentEncode(value)).join('&')
}

/** Returns one parameter per name, in the order of the first, with the value that counts: the last. */
export function lastValues(pairs: readonly Pair[]): Pair[] {
  return [...new Map(pairs)]
}
