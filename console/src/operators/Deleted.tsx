// What was deleted while waybookctl console runs, and until when feeds of changes show it.

import { numbers } from '../i18n'
import { useEvents, type Failure } from './api'
import { FailureNote, LiveHead, Table, timeOf } from './parts'
import type { State } from './State'
import { text } from './words'

type Kind = 'user' | 'album' | 'entry' | 'landmark'

interface Feed {
  kind: Kind
  read: number
  is_live: boolean
  deletions: { id: number; time: string }[]
  failure?: Failure
}

export function DeletedPage() {
  const { seen, isLost } = useEvents<Feed[]>('deleted/events')
  const state = useEvents<State>('state/events')
  // Services of one installation may have different settings; the shortest time is true of all.
  const kept = (state.seen?.programs ?? []).flatMap(each => each.metrics?.waybook_changes_kept_seconds ?? [])
  const seconds = kept.length > 0 ? Math.min(...kept) : undefined
  const deletions = (seen ?? [])
    .flatMap(feed => feed.deletions.map(each => ({ ...each, kind: feed.kind })))
    .toSorted((a, b) => b.time.localeCompare(a.time))
  const reading = (seen ?? []).filter(each => !each.is_live && !each.failure)
  return (
    <>
      <LiveHead title={text('deleted')} isThere={seen !== undefined} isLost={isLost} />
      {seen?.map(each => <FailureNote key={each.kind} failure={each.failure} />)}
      {reading.length > 0 && (
        <p class="soft" role="status">
          {text('reading', { count: numbers.value.format(reading.reduce((sum, each) => sum + each.read, 0)) })}
        </p>
      )}
      <p class="hint">{text(seconds === undefined ? 'deletedHintUnknown' : 'deletedHint', { days: numbers.value.format((seconds ?? 0) / 86400) })}</p>
      {seen && deletions.length === 0 && <p class="soft">{text('noDeleted')}</p>}
      {deletions.length > 0 && (
        <Table label={text('deleted')} testid="deleted" heads={[text('kind'), text('id'), text('deletedAt'), text('shownUntil')]}>
          {deletions.map(each => (
            <tr key={each.kind + each.id}>
              <th scope="row">{text(each.kind)}</th>
              <td>{each.id}</td>
              <td class="whole">{timeOf(each.time)}</td>
              <td class="whole">
                {seconds === undefined ? '' : timeOf(new Date(Date.parse(each.time) + seconds * 1000).toISOString())}
              </td>
            </tr>
          ))}
        </Table>
      )}
    </>
  )
}
