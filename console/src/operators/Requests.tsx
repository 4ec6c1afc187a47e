// The last failed and slow requests, and why they failed or took long. They come as server-sent events.

import { inChinese } from '../failures'
import { formatMilliseconds } from '../format'
import { language } from '../i18n'
import { useEvents } from './api'
import { LiveHead, Table, timeOf } from './parts'
import { text } from './words'

interface Call {
  service: string
  method: string
  target: string
  code: string
  reason?: string
  message: string
  tried: string
  tries: number
}

interface FailedRequest {
  request_id: string
  program: string
  func: string
  ended: string
  ms: number
  status: number
  reason: string
  info?: string
  call?: Call
  meaning?: string
  action?: string
}

interface SlowRequest {
  request_id: string
  began: string
  ms: number
  parts: { program: string; name: string; ms: number; outcome?: string }[]
}

interface Seen {
  failed: FailedRequest[]
  slow: SlowRequest[]
  problems: string[]
  keeps_slow: boolean
}

export function RequestsPage() {
  const { seen, isLost } = useEvents<Seen>('requests/events')
  return (
    <>
      <LiveHead title={text('requests')} isThere={seen !== undefined} isLost={isLost} />
      {seen?.problems.map(each => (
        <p key={each} class="note bad" role="alert">
          {each}
        </p>
      ))}
      {seen && (
        <>
          <section>
            <h2>{text('failed')}</h2>
            {seen.failed.length === 0 ? <p class="soft">{text('noFailed')}</p> : <Failed requests={seen.failed} />}
            <p class="hint">{text('failedHint')}</p>
          </section>
          <section>
            <h2>{text('slow')}</h2>
            {seen.slow.length > 0 ? <Slow requests={seen.slow} /> : <p class="soft">{text(seen.keeps_slow ? 'noSlow' : 'slowOff')}</p>}
          </section>
        </>
      )}
    </>
  )
}

function Failed({ requests }: { requests: FailedRequest[] }) {
  return (
    <Table label={text('failed')} testid="failed" heads={[text('time'), text('operation'), text('why'), text('took'), text('requestID')]}>
      {requests.map(each => (
        <tr key={each.program + each.request_id}>
          <td class="whole">{timeOf(each.ended)}</td>
          <th scope="row">{each.func || text('unknown')}</th>
          <td class="cause">
            <Cause request={each} />
          </td>
          <td class="number">{formatMilliseconds(each.ms)}</td>
          <td>
            <code>{each.request_id}</code>
          </td>
        </tr>
      ))}
    </Table>
  )
}

function Cause({ request }: { request: FailedRequest }) {
  const chinese = language.value === 'en' ? undefined : inChinese[request.reason]
  const meaning = request.reason === 'CLIENT_GONE' ? text('clientGone') : (chinese?.[0] ?? request.meaning)
  const { call } = request
  return (
    <>
      <span class={`tag ${call || request.reason === 'INTERNAL_ERROR' ? 'bad' : 'warn'}`}>{request.reason}</span>
      {request.info && request.info !== request.reason.replaceAll('_', ' ') && <p>{request.info}</p>}
      {meaning && <p>{sentence(meaning)}</p>}
      {call && (
        <>
          <p>
            {text('called', { service: call.service.split('.').at(-1) ?? '', method: call.method, code: call.code })} {call.reason}
          </p>
          <p>{call.message}</p>
          <p class="soft">
            {text('tried', { target: call.target })} {call.tried}
          </p>
        </>
      )}
      {request.reason === 'INTERNAL_ERROR' && <p class="soft">{text('seeLog')}</p>}
    </>
  )
}

/** Begins a text with a capital and ends it with a full stop. */
function sentence(phrase: string): string {
  const first = phrase.charAt(0).toUpperCase() + phrase.slice(1)
  return /[.!?。]$/.test(first) ? first : first + '.'
}

function Slow({ requests }: { requests: SlowRequest[] }) {
  return (
    <Table label={text('slow')} testid="slow" heads={[text('time'), text('took'), text('parts'), text('requestID')]}>
      {requests.map(each => (
        <tr key={each.request_id}>
          <td class="whole">{timeOf(each.began)}</td>
          <td class="number">{formatMilliseconds(each.ms)}</td>
          <td class="cause">
            <ul>
              {each.parts.map((part, at) => (
                <li key={at}>
                  {part.program}: {part.name} <span class="soft">{formatMilliseconds(part.ms)}</span>{' '}
                  {part.outcome && <span class="tag warn">{part.outcome}</span>}
                </li>
              ))}
            </ul>
          </td>
          <td>
            <code>{each.request_id}</code>
          </td>
        </tr>
      ))}
    </Table>
  )
}
