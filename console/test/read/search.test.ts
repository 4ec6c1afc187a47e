import { expect, test } from 'vitest'

import { resultsOf } from '../../src/read/search'

test('an entry of the server is an entry of the page, and what is unknown is left out', () => {
  const found = [
    { kind: 'entry', id: '7', title: '夜景' },
    { kind: 'user', id: '8', title: 'x' },
    { kind: 'album', id: '../9', title: 'x' },
    null,
    { kind: 'landmark', id: '10' },
  ]
  expect(resultsOf({ found, similar: true })).toEqual({
    items: [
      { kind: 'blog', id: '7', title: '夜景' },
      { kind: 'landmark', id: '10', title: '' },
    ],
    similar: true,
  })
})

test('a reply without results fails, and a long one is cut', () => {
  for (const reply of [null, {}, { found: 'x' }]) expect(() => resultsOf(reply)).toThrow('no results')
  expect(resultsOf({ found: Array.from({ length: 500 }, () => ({ kind: 'album', id: '1' })) }).items).toHaveLength(50)
})
