// The months of a diary: their days, and entries with those that answer them.

import { language } from '../i18n'
import type { Summary } from './model'

/** A day of a month with its entries; undefined days fill up the first and the last week. */
export interface Day {
  number: number
  entries: Thread[]
}

/** An entry with the entries of the same list that answer it. */
export interface Thread {
  entry: Summary
  answers: Thread[]
}

/** Returns the weeks of a month, YYYY-MM, from Sunday to Saturday. */
export function weeksOf(month: string, entries: readonly Summary[]): (Day | undefined)[][] {
  const [year = 0, number = 1] = month.split('-').map(Number)
  const first = dateAt(year, number - 1, 1)
  const length = dateAt(year, number, 0).getUTCDate()
  const cells: (Day | undefined)[] = Array.from({ length: first.getUTCDay() }, () => undefined)
  for (let day = 1; day <= length; day++) {
    const date = `${month}-${String(day).padStart(2, '0')}`
    cells.push({ number: day, entries: threadsOf(entries.filter(each => each.date === date)) })
  }
  while (cells.length % 7 !== 0) cells.push(undefined)
  return Array.from({ length: cells.length / 7 }, (_, i) => cells.slice(i * 7, i * 7 + 7))
}

/** Puts each entry that answers another one of the list under it. Entries that answer each other stay apart. */
export function threadsOf(entries: readonly Summary[]): Thread[] {
  const threads = new Map(entries.map(entry => [entry.id, { entry, answers: [] } as Thread]))
  const roots: Thread[] = []
  for (const thread of threads.values()) {
    const answered = threads.get(thread.entry.quoted)
    if (answered && !answersItself(thread.entry, threads)) answered.answers.push(thread)
    else roots.push(thread)
  }
  return roots
}

function answersItself(entry: Summary, threads: ReadonlyMap<string, Thread>): boolean {
  const seen = new Set<string>()
  for (let at: Summary | undefined = entry; at; at = threads.get(at.quoted)?.entry) {
    if (seen.has(at.id)) return true
    seen.add(at.id)
  }
  return false
}

/** Counts the entries of each month of a year, January first. */
export function countMonths(entries: readonly Summary[]): number[] {
  const counts = Array.from({ length: 12 }, () => 0)
  for (const { date } of entries) counts[Number(date.slice(5, 7)) - 1]!++
  return counts
}

/** Returns the month that is `by` months after one. */
export function shiftMonth(month: string, by: number): string {
  const [year = 0, number = 1] = month.split('-').map(Number)
  const at = Math.min(Math.max(year * 12 + number - 1 + by, 12), 9999 * 12 + 11)
  return `${String(Math.floor(at / 12)).padStart(4, '0')}-${String((at % 12) + 1).padStart(2, '0')}`
}

/** Writes a year, a month or a day in the language of the page. */
export function formatMonth(date: string): string {
  const [year = 0, month, day] = date.split('-').map(Number)
  return new Intl.DateTimeFormat(language.value === 'en' ? 'en' : 'zh-TW', {
    timeZone: 'UTC',
    year: 'numeric',
    ...(month ? { month: 'long' } : {}),
    ...(day ? { day: 'numeric' } : {}),
  }).format(dateAt(year, (month ?? 1) - 1, day ?? 1))
}

/** Returns the names of the days of the week, Sunday first. */
export function weekdays(width: 'long' | 'short'): string[] {
  const format = new Intl.DateTimeFormat(language.value === 'en' ? 'en' : 'zh-TW', { timeZone: 'UTC', weekday: width })
  return Array.from({ length: 7 }, (_, i) => format.format(dateAt(2023, 0, i + 1)))
}

/** Returns the names of the months of a year. */
export function monthNames(): string[] {
  const format = new Intl.DateTimeFormat(language.value === 'en' ? 'en' : 'zh-TW', { timeZone: 'UTC', month: 'short' })
  return Array.from({ length: 12 }, (_, i) => format.format(dateAt(2023, i, 1)))
}

/** Returns a date of any year; Date.UTC takes those below 100 for others. */
function dateAt(year: number, month: number, day: number): Date {
  const date = new Date(0)
  date.setUTCFullYear(year, month, day)
  return date
}
