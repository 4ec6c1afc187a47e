import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Pair } from '../src/form'
import { canonicalString, sign, signatureOf } from '../src/explore/sign'

interface Vector {
  method: string
  secret: string
  parameters: Pair[]
  canonical: string
  signature: string
}

const page = readFileSync(new URL('../../docs/signatures.md', import.meta.url), 'utf8')
const vectors = JSON.parse(page.slice(page.lastIndexOf('```json') + 7, page.lastIndexOf('```'))) as Vector[]

test('the page of signatures has vectors', () => {
  expect(vectors.length).toBeGreaterThanOrEqual(5)
})

for (const vector of vectors) {
  test(`the vector with ${vector.parameters[0]![1]} and ${vector.parameters.length} parameters is signed as the page says`, async () => {
    expect(canonicalString(vector.method, vector.parameters)).toBe(vector.canonical)
    expect(await signatureOf(vector.canonical, vector.secret)).toBe(vector.signature)
  })
}

test('a signature replaces a parameter sig, key or ts of the form', async () => {
  const { secret } = vectors[0]!
  const signed = await sign('GET', [['sig', 'x'], ['ts', '1'], ['func', 'getAlbum'], ['key', 'mine']], { key: 'k', secret, time: 1700000000, nonce: '' })
  expect(signed.slice(0, -1)).toEqual([['ts', '1700000000'], ['func', 'getAlbum'], ['key', 'k']])
  expect(signed.at(-1)).toEqual(['sig', await signatureOf('GET\n/API.php\nfunc=getAlbum&key=k&ts=1700000000', secret)])
})
