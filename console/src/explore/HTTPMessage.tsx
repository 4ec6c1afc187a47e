import type { SentRequest } from '../api'
import type { Pair } from '../form'
import { Code } from './Code'
import { text } from './words'

/** A request, whose body has a length in bytes: its line, the headers that the page knows, its body, and the parameters decoded. */
export function Message(props: { request: SentRequest; length: number; parameters: readonly Pair[]; notes: readonly string[] }) {
  const { request } = props
  const headers: Pair[] = [['Host', location.host], ...request.headers]
  if (request.method === 'POST') headers.push(['Content-Length', String(props.length)])
  const lines = [`${request.method} ${request.target} HTTP/1.1`, ...headers.map(pair => pair.join(': ')), '', request.body]
  return (
    <>
      <Code label={text('HTTP')} testid="http">
        {lines.join('\n').trimEnd()}
      </Code>
      <details class="decoded">
        <summary>{text('decoded')}</summary>
        <dl>
          {props.parameters.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value.length > 2000 ? value.slice(0, 2000) + '…' : value}</dd>
            </div>
          ))}
        </dl>
      </details>
      {[...props.notes, text('sentNote')].map(each => (
        <p class="hint panel-note" key={each}>
          {each}
        </p>
      ))}
    </>
  )
}
