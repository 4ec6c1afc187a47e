import { expect, test } from 'vitest'

import { filterOf, parsePlace, queryOf, requestOf } from '../../src/read/lists'
import { summaryOf } from '../../src/read/model'

test.each([
  ['25.034, 121.565', 25.034, 121.565],
  [' -33.9 18.4 ', -33.9, 18.4],
  ['25.0340° N, 121.5645° E', 25.034, 121.5645],
  ['33.9° S, 18.4° W', -33.9, -18.4],
])('a place is read from %s', (text, lat, lng) => {
  expect(parsePlace(text)).toEqual({ lat, lng })
})

test.each(['', '25', '91, 0', '0, 181', 'a, b', '25.034,', '1, 2, 3', '25,,3'])('no place is read from %j', text => {
  expect(parsePlace(text)).toBeUndefined()
})

test('an address keeps what narrows a list, and nothing that is not valid', () => {
  const read = (text: string) => queryOf(filterOf(new URLSearchParams(text))).toString()
  expect(read('')).toBe('kind=album')
  expect(read('kind=blog&category=0_3&date=2026-04')).toBe('kind=blog&category=0_3&date=2026-04')
  expect(read('kind=blog&date=2026-04&near=25,121')).toBe('kind=blog&near=25%2C121&radius=5')
  expect(read('kind=user&category=<b>&date=x&near=95,0&radius=7')).toBe('kind=album')
  expect(read('kind=album&date=2026-04')).toBe('kind=album')
})

test('a filter becomes the request of its list', () => {
  const request = (text: string) => requestOf(filterOf(new URLSearchParams(text)), 'n', 24)
  const part = { limit: 24, after: 'n' }
  expect(request('')).toEqual(['getRecentAlbumList', part])
  expect(request('kind=landmark&category=2')).toEqual(['getRecentPOIList', { ...part, category: '2' }])
  expect(request('kind=blog&category=0_1')).toEqual(['getRecentBlogList', { ...part, type: '0_1' }])
  expect(request('kind=blog&near=25,121&radius=1')).toEqual([
    'getNearbyBlogList',
    { ...part, lat: 25, lng: 121, radius: 1000 },
  ])
  expect(request('kind=blog&date=2026-04-05')).toEqual(['getDatedBlogList', { ...part, year: 2026, month: 4, day: 5 }])
})

test('an item of each list becomes a summary', () => {
  const Location = { lat: 1, lng: 2 }
  const date = { year: 2026, month: 4, day: 5 }
  expect(summaryOf({ albumID: 7, albumTitle: 'a', category: 3, ownerID: 9, ownerName: 'n', Location, updateDate: date, score: 4 })).toMatchObject({
    kind: 'album', id: '7', title: 'a', category: '3', owner: { id: '9', name: 'n' }, place: Location, date: '2026-04-05', score: 4,
  })
  expect(summaryOf({ blogID: 8, blogTitle: 'b', type: '0_1', authorID: 9, postDate: date, weather: '有彩虹', replyBlogID: 7 })).toMatchObject({
    kind: 'blog', id: '8', category: '0_1', owner: { id: '9' }, date: '2026-04-05', weather: '有彩虹', quoted: '7', score: undefined,
  })
  expect(summaryOf({ POIID: 6, name: 'c', category: 1, distance: 3.5 })).toMatchObject({ kind: 'landmark', id: '6', title: 'c', distance: 3.5 })
})
