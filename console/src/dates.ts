/** Returns the date as `YYYY-MM-DD`; empty if the calendar does not have it. */
export function dateOf(year: string, month: string, day: string): string {
  const text = `${year.padStart(4, '0')}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  const date = new Date(`${text}T00:00:00Z`)
  const isThere = year !== '' && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
  return isThere ? text : ''
}

/** Returns the day where the reader is, as `YYYY-MM-DD`. */
export function today(now = new Date()): string {
  return dateOf(String(now.getFullYear()), String(now.getMonth() + 1), String(now.getDate()))
}
