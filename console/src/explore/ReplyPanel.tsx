import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { maxReplyBytes, type Reply } from '../api'
import type { Operation } from '../description'
import { failureText } from './failures'
import type { Pair } from '../form'
import { formatBytes, formatMilliseconds } from '../format'
import { child, type ParsedReply } from '../reply/tree'
import { CopyButton } from '../shell/CopyButton'
import { Tabs } from '../shell/Tabs'
import { Code } from './Code'
import { Message } from './HTTPMessage'
import { ReplyTree } from './ReplyTree'
import { hideSecret } from './RequestPanel'
import { result, type Result } from './store'
import { text } from './words'

const chosen = signal('tree')

/** What came back from the last request. */
export function ReplyPanel({ operation }: { operation: Operation }) {
  const card = useRef<HTMLElement>(null)
  const now = result.value?.of
  useEffect(() => {
    if (now?.state === 'done' || now?.state === 'failed') showCard(card.current)
  }, [now?.state, operation])
  return (
    <section class="card exchange-card reply-card" aria-labelledby="reply-title" ref={card} data-testid="reply" data-state={now?.state ?? 'none'}>
      <div class="card-head" role="status">
        <h2 id="reply-title">{text('reply')}</h2>
        {now?.state === 'sending' && <span class="soft small">{text('sending')}</span>}
        {now?.state === 'failed' && <Outcome of="bad" title={text('noReply')} />}
        {now?.state === 'done' && <Summary reply={now.reply} parsed={now.parsed} />}
      </div>
      {!now && <p class="soft panel-note">{text('waiting')}</p>}
      {now?.state === 'failed' && <Explanation info={now.cause} reason="" meaning={text('noReplyMeaning')} action={text('noReplyAction')} />}
      {now?.state === 'done' && <Done now={now} />}
    </section>
  )
}

/** Scrolls to the reply where it is below the form. */
function showCard(card: HTMLElement | null): void {
  if (!card || card.getBoundingClientRect().top < innerHeight * 0.7) return
  const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches
  card.scrollIntoView({ behavior: isCalm ? 'auto' : 'smooth', block: 'start' })
}

function Outcome({ of, title }: { of: 'good' | 'bad' | 'warn'; title: string }) {
  return (
    <span class={`tag ${of}`} data-testid="outcome">
      {title}
    </span>
  )
}

function Summary({ reply, parsed }: { reply: Reply; parsed: ParsedReply | null }) {
  const status = child(parsed?.root, 'status')?.value
  const facts = [
    ['status', `HTTP ${reply.status}${reply.statusText ? ' ' + reply.statusText : ''}`],
    ['time', formatMilliseconds(reply.milliseconds)],
    ['size', formatBytes(reply.bytes)],
  ]
  return (
    <>
      {reply.end !== 'whole' && <Outcome of="warn" title={text('incomplete')} />}
      {reply.end === 'whole' && status === 'SUCCESS' && <Outcome of="good" title={text('success')} />}
      {status === 'FAILED' && <Outcome of="bad" title={text('failed')} />}
      {reply.end === 'whole' && parsed && status === undefined && <Outcome of="warn" title={text('noStatus')} />}
      <span class="facts">
        {facts.map(([name, value]) => (
          <span key={name} data-testid={`reply-${name}`}>
            {value}
          </span>
        ))}
      </span>
    </>
  )
}

function Done({ now }: { now: Result & { state: 'done' } }) {
  const { reply, parsed } = now
  const info = child(parsed?.root, 'info')?.value ?? ''
  const isFailure = reply.reason !== '' || child(parsed?.root, 'status')?.value === 'FAILED'
  const tabs = [
    { name: 'tree', title: text('tree'), content: () => <TreePanel reply={reply} parsed={parsed} /> },
    { name: 'raw', title: text('raw'), content: () => (reply.text ? <Code label={text('raw')} testid="raw">{reply.text}</Code> : <p class="soft panel-note">{text('empty')}</p>) },
    { name: 'headers', title: text('headers'), content: () => <Headers headers={reply.headers} /> },
    { name: 'sent', title: text('sent'), content: () => <Sent now={now} /> },
  ]
  return (
    <>
      {isFailure && <Explanation info={info} reason={reply.reason} {...failureText(reply.reason, info)} />}
      {reply.end !== 'whole' && (
        <p class="note warn" role="alert" data-testid="incomplete">
          {reply.end === 'broken' ? text('broken') : text('cut', { size: formatBytes(maxReplyBytes) })}
        </p>
      )}
      <Tabs
        id="reply"
        label={text('reply')}
        tabs={tabs}
        chosen={chosen.value}
        choose={name => (chosen.value = name)}
        end={<CopyButton value={() => reply.text} testid="copy-reply" />}
      />
    </>
  )
}

function Explanation(props: { info: string; reason: string; meaning: string; action: string }) {
  return (
    <div class="note bad explanation" role="alert" data-testid="failure">
      <p class="explanation-info" data-testid="failure-info">
        {props.info}
      </p>
      <dl>
        {props.reason && (
          <div>
            <dt>{text('reason')}</dt>
            <dd>
              <code data-testid="failure-reason">{props.reason}</code>
            </dd>
          </div>
        )}
        <div>
          <dt>{text('meaning')}</dt>
          <dd data-testid="failure-meaning">{props.meaning || text('reasonUnknown')}</dd>
        </div>
        {props.action && (
          <div>
            <dt>{text('action')}</dt>
            <dd data-testid="failure-action">{props.action}</dd>
          </div>
        )}
      </dl>
    </div>
  )
}

function TreePanel({ reply, parsed }: { reply: Reply; parsed: ParsedReply | null }) {
  if (!parsed) return <p class="soft panel-note">{text('parsing')}</p>
  return (
    <>
      {parsed.fault !== null && reply.text !== '' && (
        <p class="note warn">{reply.isJSON ? text('notJSON') : text('notXML', { fault: parsed.fault })}</p>
      )}
      {reply.text === '' && <p class="soft panel-note">{text('empty')}</p>}
      {parsed.root && <ReplyTree root={parsed.root} />}
    </>
  )
}

function Headers({ headers }: { headers: readonly Pair[] }) {
  return (
    <>
      <table class="headers" data-testid="headers">
        <tbody>
          {headers.map(([name, value]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="hint panel-note">{text('hiddenHeaders')}</p>
    </>
  )
}

function Sent({ now }: { now: Result & { state: 'done' } }) {
  const { request } = now.reply
  const form = request.method === 'GET' ? request.target.slice(request.target.indexOf('?') + 1) : request.body
  const parameters: Pair[] = [...new URLSearchParams(form)]
  if (now.secrets.length === 0) return <Message request={request} length={request.body.length} parameters={parameters} notes={[]} />
  const hidden = form.replace(/(^|&)([^=&]*)=([^&]*)/g, (whole, before: string, name: string) =>
    now.secrets.includes(decodeURIComponent(name)) ? `${before}${name}=••••••••` : whole,
  )
  const shown = request.method === 'GET' ? { ...request, target: request.target.replace(form, () => hidden) } : { ...request, body: hidden }
  return <Message request={shown} length={request.body.length} parameters={parameters.map(hideSecret)} notes={[text('secretNote')]} />
}
