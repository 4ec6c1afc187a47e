import { expect, test } from 'vitest'

import { countMonths, shiftMonth, threadsOf, weeksOf } from '../../src/read/calendar'
import { summaryOf, type Summary } from '../../src/read/model'

function entry(id: number, date: string, quoted = 0): Summary {
  const [year = 0, month = 0, day = 0] = date.split('-').map(Number)
  return summaryOf({ blogID: id, postDate: { year, month, day }, replyBlogID: quoted })
}

test('a month begins on its day of the week and has all of its days', () => {
  const weeks = weeksOf('2026-02', [entry(1, '2026-02-28')])
  expect(weeks).toHaveLength(4)
  expect(weeks.flat().map(day => day?.number)).toEqual(Array.from({ length: 28 }, (_, i) => i + 1))
  expect(weeks[3]![6]!.entries[0]!.entry.id).toBe('1')
  const april = weeksOf('2026-04', [])
  expect(april[0]!.map(day => day?.number)).toEqual([undefined, undefined, undefined, 1, 2, 3, 4])
  expect(april.at(-1)!.map(day => day?.number)).toEqual([26, 27, 28, 29, 30, undefined, undefined])
  expect(weeksOf('0001-01', []).flat().filter(Boolean)).toHaveLength(31)
})

test('an entry is below the one that it answers', () => {
  const threads = threadsOf([entry(1, '2026-04-01'), entry(2, '2026-04-01', 1), entry(3, '2026-04-01', 2), entry(4, '2026-04-01', 99)])
  expect(threads.map(each => each.entry.id)).toEqual(['1', '4'])
  expect(threads[0]!.answers[0]!.answers[0]!.entry.id).toBe('3')
})

test('entries that answer each other are all shown', () => {
  const ids = (threads: ReturnType<typeof threadsOf>): string[] =>
    threads.flatMap(each => [each.entry.id, ...ids(each.answers)])
  expect(ids(threadsOf([entry(1, '2026-04-01', 2), entry(2, '2026-04-01', 1), entry(3, '2026-04-01', 3), entry(4, '2026-04-01', 1)])).toSorted()).toEqual(['1', '2', '3', '4'])
})

test('months are counted and shifted over the end of a year', () => {
  expect(countMonths([entry(1, '2026-01-31'), entry(2, '2026-12-01'), entry(3, '2026-12-31')])).toEqual([1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2])
  expect(shiftMonth('2026-01', -1)).toBe('2025-12')
  expect(shiftMonth('2026-12', 1)).toBe('2027-01')
  expect(shiftMonth('2026-03', -12)).toBe('2025-03')
  expect(shiftMonth('0001-01', -1)).toBe('0001-01')
  expect(shiftMonth('9999-12', 1)).toBe('9999-12')
})
