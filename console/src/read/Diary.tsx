import { numbers } from '../i18n'
import { visibleOr } from '../format'
import { buildHash } from '../router'
import { loadDated } from './lists'
import { countMonths, formatMonth, monthNames, weekdays, weeksOf, type Day, type Thread } from './calendar'
import { Failure } from '../shell/Failure'
import { contentHash } from './Head'
import { useLoaded } from './load'
import type { Summary } from './model'
import { Weather } from './Weather'
import { text } from './words'

/** Entries of a year that are counted at most. */
const mostOfYear = 1000

/** Years before the present one that are searched for the latest entry. */
const yearsBack = 6

/** Returns the address of a month of a user's diary. */
export function diaryHash(user: string, month: string): string {
  return buildHash(['read', 'user', user], new URLSearchParams({ diary: month }))
}

/** A user's published entries as a calendar. `month` is YYYY-MM, or empty for that of the latest entry. */
export function Diary({ user, month }: { user: string; month: string }) {
  const { loaded, reload } = useLoaded(`${user}/${month.slice(0, 4)}`, signal =>
    month ? loadYear(user, month.slice(0, 4), signal) : latestYear(user, signal),
  )
  if (loaded.state === 'loading') return <output class="read-loading">{text('loading')}</output>
  if (loaded.state === 'failed') return <Failure error={loaded.error} retry={reload} />
  const { year, entries, isWhole } = loaded.value
  const counts = countMonths(entries)
  const latest = counts.findLastIndex(count => count > 0)
  const shown = month || `${year}-${String((latest < 0 ? new Date().getMonth() : latest) + 1).padStart(2, '0')}`
  return (
    <div class="diary" data-testid="diary" data-month={shown}>
      <Months user={user} year={year} counts={counts} shown={shown} />
      {!isWhole && <p class="soft small">{text('yearCut', { count: numbers.value.format(entries.length) })}</p>}
      <Month month={shown} entries={entries.filter(each => each.date.startsWith(shown))} />
    </div>
  )
}

interface Year {
  year: string
  entries: Summary[]
  isWhole: boolean
}

async function loadYear(user: string, year: string, signal: AbortSignal): Promise<Year> {
  const { items, next } = await loadDated(user, year, mostOfYear, signal)
  return { year, entries: items, isWhole: next === '' }
}

/** Loads the latest of the last years with entries; the present one if there is none. */
async function latestYear(user: string, signal: AbortSignal): Promise<Year> {
  const now = new Date().getFullYear()
  for (let year = now; year > now - yearsBack; year--) {
    const found = await loadYear(user, String(year), signal)
    if (found.entries.length > 0) return found
  }
  return { year: String(now), entries: [], isWhole: true }
}

/** The months of a year with the numbers of their entries. */
function Months({ user, year, counts, shown }: { user: string; year: string; counts: number[]; shown: string }) {
  const toYear = (by: number) => `${String(Number(year) + by).padStart(4, '0')}-${shown.slice(5, 7)}`
  return (
    <nav class="diary-months" aria-label={text('months')}>
      <p class="diary-year">
        <a class="button" href={diaryHash(user, toYear(-1))} data-testid="diary-year-before">
          ‹ <span>{formatMonth(toYear(-1).slice(0, 4))}</span>
        </a>
        <strong>{formatMonth(year)}</strong>
        <a class="button" href={diaryHash(user, toYear(1))} data-testid="diary-year-after">
          <span>{formatMonth(toYear(1).slice(0, 4))}</span> ›
        </a>
      </p>
      <ul>
        {monthNames().map((name, i) => {
          const month = `${year}-${String(i + 1).padStart(2, '0')}`
          return (
            <li key={month}>
              <a
                href={diaryHash(user, month)}
                aria-current={month === shown ? 'true' : undefined}
                class={counts[i] ? undefined : 'soft'}
                data-testid={`diary-${month}`}
              >
                {name}
                {counts[i]! > 0 && (
                  <span class="tag">
                    {counts[i]}
                    <span class="hidden"> {text('entriesOf')}</span>
                  </span>
                )}
              </a>
            </li>
          )
        })}
      </ul>
    </nav>
  )
}

/** A month as weeks, and on a narrow screen as a list of the days with entries. */
function Month({ month, entries }: { month: string; entries: Summary[] }) {
  const short = weekdays('short')
  const long = weekdays('long')
  if (entries.length === 0) return <p class="soft">{text('noneThen')}</p>
  return (
    <table class="diary-month" data-testid="diary-month">
      <caption class="hidden">{formatMonth(month)}</caption>
      <thead>
        <tr>
          {short.map((name, i) => (
            <th key={name} scope="col" abbr={long[i]!}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {weeksOf(month, entries).map((week, i) => (
          <tr key={i}>
            {week.map((day, weekday) => (
              <td key={weekday} class={day && day.entries.length > 0 ? 'diary-day' : 'diary-empty'}>
                {day && <DayCell day={day} name={long[weekday]!} />}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function DayCell({ day, name }: { day: Day; name: string }) {
  return (
    <>
      <p class="diary-number">
        {day.number} <span class="diary-weekday">{name}</span>
      </p>
      <Threads threads={day.entries} />
    </>
  )
}

/** Entries, each with its answers below it. */
export function Threads({ threads }: { threads: Thread[] }) {
  if (threads.length === 0) return null
  return (
    <ul class="diary-entries">
      {threads.map(({ entry, answers }) => (
        <li key={entry.id} data-testid="diary-entry">
          {entry.weather && <Weather name={entry.weather} />}{' '}
          <a href={contentHash('blog', entry.id)}>{visibleOr(entry.title, text('untitled'))}</a>
          <Threads threads={answers} />
        </li>
      ))}
    </ul>
  )
}

