import { expect, test } from 'vitest'
import { encodeForm, lastValues, percentEncode } from '../src/form'

test('only the unreserved characters of RFC 3986 stay as they are', () => {
  expect(percentEncode("aZ09-._~ !'()*+&=%/台\n")).toBe('aZ09-._~%20%21%27%28%29%2A%2B%26%3D%25%2F%E5%8F%B0%0A')
})

test('half of a surrogate pair becomes the replacement character', () => {
  expect(percentEncode('a\ud83db')).toBe('a%EF%BF%BDb')
})

test('a form keeps the order of its parameters and encodes names', () => {
  expect(encodeForm([['b', '2'], ['a=', ''], ['b', '台 北']])).toBe('b=2&a%3D=&b=%E5%8F%B0%20%E5%8C%97')
})

test('the last value of a name counts', () => {
  expect(lastValues([['a', '1'], ['b', '2'], ['a', '3']])).toEqual([['a', '3'], ['b', '2']])
})
