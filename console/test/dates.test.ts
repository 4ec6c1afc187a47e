import { expect, test } from 'vitest'
import { dateOf } from '../src/dates'

test.each([
  ['2027', '2', '28', '2027-02-28'],
  ['2027', '2', '29', ''],
  ['2028', '02', '29', '2028-02-29'],
  ['', '', '', ''],
  ['2027', '13', '1', ''],
  ['9999', '12', '31', '9999-12-31'],
  ['12345', '1', '1', ''],
  ['two', '1', '1', ''],
])('year %j, month %j and day %j are the date %j', (year, month, day, date) => {
  expect(dateOf(year, month, day)).toBe(date)
})
