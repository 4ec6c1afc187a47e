import { describe, expect, test } from 'vitest'
import { LoadError } from '../../src/map/loader'
import { pageAddress, parsePage } from '../../src/map/page'
import { shortCount } from '../../src/map/count'
import { chosenOf, hiddenOf, placeOf, queryOf } from '../../src/map/place'

describe('pages of landmarks', () => {
  const box = { south: -45, west: -180, north: 0, east: -90 }

  test('the address names the box, the part and the format', () => {
    expect(pageAddress('/API.php', 'landmark', box, '', 2000)).toBe(
      '/API.php?func=getNearbyPOIList&latMin=-45&latMax=0&lngMin=-180&lngMax=-90&limit=2000&responseFormat=JSON',
    )
    expect(pageAddress('/API.php', 'album', box, 'a-b_c', 10)).toContain('func=getNearbyAlbumList&latMin=-45&latMax=0&lngMin=-180&lngMax=-90&limit=10&after=a-b_c&')
  })

  test('a reply becomes landmarks', () => {
    const poi = { POIID: 7, name: '士林夜市', category: 2, Location: { lat: 25.0881, lng: 121.5242 } }
    expect(parsePage({ status: 'SUCCESS', POIList: [poi], next: 'x' })).toEqual({
      landmarks: [{ id: 7, name: '士林夜市', category: 2, lat: 25.0881, lng: 121.5242 }],
      next: 'x',
    })
    expect(parsePage({ status: 'SUCCESS', POIList: [] })).toEqual({ landmarks: [], next: '' })
    const Location = { lat: 1, lng: 2 }
    expect(parsePage({ status: 'SUCCESS', albumList: [{ albumID: 8, albumTitle: 'a', Location }] }).landmarks).toEqual([
      { id: 8, name: 'a', category: 6, lat: 1, lng: 2 },
    ])
    expect(parsePage({ status: 'SUCCESS', blogList: [{ blogID: 9, blogTitle: 'b', Location }] }).landmarks).toEqual([
      { id: 9, name: 'b', category: 7, lat: 1, lng: 2 },
    ])
  })

  test('a failure is thrown with its words', () => {
    expect(() => parsePage({ status: 'FAILED', info: 'SERVICE BUSY' })).toThrow(new LoadError('SERVICE BUSY'))
  })
})

describe('the address of the map', () => {
  test('a state reads back the same', () => {
    const place = { lat: 25.034, lng: -121.5645, zoom: 12, hidden: [1, 7], chosen: { kind: 'album' as const, id: '890384652529112' } }
    const query = queryOf(place)
    expect(placeOf(query)).toEqual({ lat: 25.034, lng: -121.5645, zoom: 12 })
    expect(hiddenOf(query)).toEqual([1, 7])
    expect(chosenOf(query)).toEqual(place.chosen)
    expect(chosenOf(new URLSearchParams('poi=12'))).toEqual({ kind: 'landmark', id: '12' })
  })

  test('anything else is ignored', () => {
    for (const at of ['', '1', 'a,b,c', '91,0,3', '0,181,3', 'NaN,NaN', ',,', '1e3,2,3']) {
      expect(placeOf(new URLSearchParams({ at }))).toBeUndefined()
    }
    expect(placeOf(new URLSearchParams({ at: '1,2,99' }))).toEqual({ lat: 1, lng: 2, zoom: 14 })
    expect(hiddenOf(new URLSearchParams({ hide: '0,8,x,2' }))).toEqual([2])
    for (const poi of ['0', '-1', '1.5', 'abc', '99999999999999999']) {
      expect(chosenOf(new URLSearchParams({ poi }))).toBeUndefined()
    }
  })
})

test('counts of clusters have at most four characters', () => {
  expect([2, 999, 1000, 1249, 9949, 9950, 15_400, 150_000, 999_499, 999_500, 2_340_000].map(shortCount)).toEqual([
    '2',
    '999',
    '1.0k',
    '1.2k',
    '9.9k',
    '10k',
    '15k',
    '150k',
    '999k',
    '1.0M',
    '2.3M',
  ])
})
