// What was deleted and feeds of changes can still show, and until when they do.

import { numbers } from '../i18n'
import { useEvents, type Failure } from './api'
import { FailureNote, LiveHead, Table, timeOf } from './parts'
import { text } from './words'

/** waybookctl console remembers the latest of each kind. */
const most = 500

type Kind = 'user' | 'album' | 'entry' | 'landmark'

interface Feed {
  kind: Kind
  read: number
  is_live: boolean
  deletions: { id: number; time: string }[]
  count: number
  failure?: Failure
}

interface Deleted {
  kept_seconds: number
  feeds: readonly Feed[]
}

export function DeletedPage() {
  const { seen, isLost } = useEvents<Deleted>('deleted/events')
  const feeds = seen?.feeds ?? []
  const seconds = seen?.kept_seconds ?? 0
  const deletions = feeds
    .flatMap(feed => feed.deletions.map(each => ({ ...each, kind: feed.kind })))
    .toSorted((a, b) => b.time.localeCompare(a.time))
  const cut = feeds.filter(each => each.count > most)
  const reading = feeds.filter(each => !each.is_live && !each.failure)
  return (
    <>
      <LiveHead title={text('deleted')} isThere={seen !== undefined} isLost={isLost} />
      {feeds.map(each => <FailureNote key={each.kind} failure={each.failure} />)}
      {reading.length > 0 && (
        <p class="soft" role="status">
          {text('reading', { count: numbers.value.format(reading.reduce((sum, each) => sum + each.read, 0)) })}
        </p>
      )}
      {seen && (
        <p class="hint">
          {seconds > 0 ? text('deletedHint', { days: numbers.value.format(seconds / 86400) }) : text('deletedHintUnknown')}
        </p>
      )}
      {cut.map(each => (
        <p key={each.kind} class="hint">
          {text('deletedCut', { kind: text(each.kind), most: numbers.value.format(most), count: numbers.value.format(each.count) })}
        </p>
      ))}
      {seen && reading.length === 0 && deletions.length === 0 && <p class="soft">{text('noDeleted')}</p>}
      {deletions.length > 0 && (
        <Table label={text('deleted')} testid="deleted" heads={[text('kind'), text('id'), text('deletedAt'), text('shownUntil')]}>
          {deletions.map(each => (
            <tr key={each.kind + each.id}>
              <th scope="row">{text(each.kind)}</th>
              <td>{each.id}</td>
              <td class="whole">{timeOf(each.time)}</td>
              <td class="whole">
                {seconds === 0 ? '' : timeOf(new Date(Date.parse(each.time) + seconds * 1000).toISOString())}
              </td>
            </tr>
          ))}
        </Table>
      )}
    </>
  )
}
