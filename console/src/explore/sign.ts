// Signatures of requests, as docs/signatures.md defines them.

import { lastValues, percentEncode, type Pair } from '../form'

/** The path that every signature covers. */
const path = '/API.php'

/** Returns the canonical string of a request. It leaves out `sig`. */
export function canonicalString(method: string, parameters: readonly Pair[]): string {
  return `${method}\n${path}\n${sortedForm(parameters)}`
}

/** Returns the parameters but `sig`, sorted by the bytes of their names and percent-encoded. */
export function sortedForm(parameters: readonly Pair[]): string {
  return sortedPairs(parameters)
    .map(([name, value]) => `${percentEncode(name)}=${percentEncode(value)}`)
    .join('&')
}

/** Returns the parameters but `sig`, one of a name, sorted by the bytes of their names. */
export function sortedPairs(parameters: readonly Pair[]): Pair[] {
  const encoder = new TextEncoder()
  return lastValues(parameters)
    .filter(([name]) => name !== 'sig')
    .map(pair => ({ pair, bytes: encoder.encode(pair[0]) }))
    .toSorted((a, b) => compareBytes(a.bytes, b.bytes))
    .map(each => each.pair)
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    if (a[i] !== b[i]) return a[i]! - b[i]!
  }
  return a.length - b.length
}

/** Returns the signature of a canonical string. It needs WebCrypto, which browsers give to safe origins. */
export async function signatureOf(canonical: string, secret: string): Promise<string> {
  const encoder = new TextEncoder()
  const digest = hex(await crypto.subtle.digest('SHA-256', encoder.encode(canonical)))
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, ['sign'])
  return hex(await crypto.subtle.sign('HMAC', key, encoder.encode(digest)))
}

function hex(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), each => each.toString(16).padStart(2, '0')).join('')
}

export interface Signer {
  key: string
  secret: string
  /** Seconds since 1970. */
  time: number
  /** A random text that tells two equal writes apart; empty for a read. */
  nonce: string
}

/** Returns the parameters with `key`, `ts`, `nonce` and `sig`. */
export async function sign(method: string, parameters: readonly Pair[], signer: Signer): Promise<Pair[]> {
  const all = lastValues([...parameters, ...signingParameters(signer)]).filter(([name]) => name !== 'sig')
  return [...all, ['sig', await signatureOf(canonicalString(method, all), signer.secret)]]
}

function signingParameters(signer: Signer): Pair[] {
  const pairs: Pair[] = [['key', signer.key], ['ts', String(signer.time)]]
  if (signer.nonce) pairs.push(['nonce', signer.nonce])
  return pairs
}

/** Says whether this page can sign. */
export function canSign(): boolean {
  return typeof crypto.subtle !== 'undefined'
}
