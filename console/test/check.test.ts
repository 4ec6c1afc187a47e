import { expect, test } from 'vitest'
import type { Parameter } from '../src/description'
import { check, faultsOf } from '../src/explore/check'

const lat: Parameter = { name: 'lat', hint: '', type: 'decimal', min: -90, max: 90 }
const id: Parameter = { name: 'albumID', hint: '', type: 'id', min: 1, max: 9007199254740991 }
const title: Parameter = { name: 'albumTitle', hint: '', type: 'text', maxLength: 3 }
const category: Parameter = { name: 'category', hint: '', type: 'enum', values: [{ value: '1' }] }

test.each([
  [lat, '90', null],
  [lat, '.5', null],
  [lat, '1e-07', null],
  [lat, '5.0E-4', null],
  [lat, '', null],
  [lat, '-90.1', 'range'],
  [lat, 'north', 'number'],
  [lat, '1,5', 'number'],
  [id, '9007199254740991', null],
  [id, '0', 'range'],
  [id, '9007199254740993', 'range'],
  [id, '-1', 'integer'],
  [title, '台北😀', null],
  [title, '台北市區', 'long'],
  [category, '2', 'choice'],
  [{ ...title, type: 'boolean' } as Parameter, 'yes', 'boolean'],
  [{ ...title, type: 'boolean' } as Parameter, 'TRUE', null],
])('%o with %j has the fault %j', (parameter, value, kind) => {
  expect(check(parameter, value)?.kind ?? null).toBe(kind)
})

test('the info of a failure names the parameters at fault', () => {
  const info = 'MISSING PARAMETER: albumTitle; INVALID PARAMETER: category (1 to 16); INVALID PARAMETER: day (no such day in that month); INVALID ENCODING: note'
  expect([...faultsOf(info).keys()]).toEqual(['albumTitle', 'category', 'day', 'note'])
  expect(faultsOf('ALBUM NOT FOUND').size).toBe(0)
})
