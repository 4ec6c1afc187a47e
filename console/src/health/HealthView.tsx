import './health.css'

import { numbers, times } from '../i18n'
import { Failure } from '../shell/Failure'
import { Charts } from './Charts'
import { useHealth } from './poll'
import {
  formatBytes,
  formatRate,
  formatSeconds,
  pointsOf,
  type Health,
  type OperationHealth,
  type Point,
} from './rates'
import { text } from './words'

/** Readiness, version, requests and sizes, read again every few seconds. */
export default function HealthView() {
  const { readings, failure } = useHealth()
  const last = readings.at(-1)
  const points = pointsOf(readings)
  return (
    <div class="health" data-testid="health">
      <header class="health-head">
        <h1>{text('title')}</h1>
        {last && (
          <span class={`tag ${last.health.ready ? 'good' : 'bad'}`} data-testid="ready">
            {text(last.health.ready ? 'ready' : 'notReady')}
          </span>
        )}
      </header>
      {failure && (
        <Failure error={failure} sentence={text('failed')} testid="health-failure" />
      )}
      {!last && !failure && <output>{text('loading')}</output>}
      {last && (
        <>
          <About health={last.health} />
          <Charts points={points} health={last.health} />
          <Operations health={last.health} point={points.at(-1)} />
        </>
      )}
    </div>
  )
}

function About({ health }: { health: Health }) {
  const { store, memoryBytes, connections, startTime } = health
  const facts: [name: string, value: string | undefined, testid: string][] = [
    [text('version'), health.version, 'version'],
    [text('revision'), health.revision?.slice(0, 12), 'revision'],
    [text('started'), startTime && times.value.format(new Date(startTime)), 'started'],
    [
      text('store'),
      store && [store.engine, store.bytes !== undefined && formatBytes(store.bytes)].filter(Boolean).join(' · '),
      'store',
    ],
    [text('memory'), memoryBytes === undefined ? undefined : formatBytes(memoryBytes), 'memory'],
    [text('connections'), connections === undefined ? undefined : numbers.value.format(connections), 'connections'],
  ]
  return (
    <div class="health-about">
      <dl class="facts">
        {facts
          .filter(([, value]) => value)
          .map(([name, value, testid]) => (
            <div key={testid}>
              <dt>{name}</dt>
              <dd data-testid={testid}>{value}</dd>
            </div>
          ))}
      </dl>
      <section aria-label={text('checks')}>
        <h2 class="hidden">{text('checks')}</h2>
        <ul class="health-checks">
          {(health.checks ?? []).map(check => (
            <li key={check.name} data-testid={`check-${check.name}`}>
              <span class={`tag ${check.ok ? 'good' : 'bad'}`}>{text(check.ok ? 'ok' : 'bad')}</span> {check.name}
              {check.info && <span class="soft">: {check.info}</span>}
            </li>
          ))}
        </ul>
      </section>
    </div>
  )
}

function Operations({ health, point }: { health: Health; point: Point | undefined }) {
  const operations = (health.operations ?? []).filter(each => each.count > 0).toSorted((a, b) => b.count - a.count)
  return (
    <div>
      <h2 id="health-operations">{text('operations')}</h2>
      {operations.length === 0 ? (
        <p class="soft">{text('noOperations')}</p>
      ) : (
        // A table that scrolls sideways must be reachable by keyboard.
        <div class="health-scroll card" tabIndex={0} role="region" aria-labelledby="health-operations">
          <table data-testid="health-table">
            <thead>
              <tr>
                <th scope="col">{text('operation')}</th>
                <th scope="col">{text('perSecond')}</th>
                <th scope="col">{text('total')}</th>
                <th scope="col">{text('success')}</th>
                <th scope="col">{text('failedOutcome')}</th>
                <th scope="col">p50</th>
                <th scope="col">p99</th>
                <th scope="col">{text('reasons')}</th>
              </tr>
            </thead>
            <tbody>
              {operations.map(each => (
                <Row
                  key={each.func}
                  operation={each}
                  rate={point?.operations.find(rate => rate.func === each.func)?.total}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      <p class="soft small">{text('since', { minutes: 10 })}</p>
    </div>
  )
}

function Row({ operation, rate }: { operation: OperationHealth; rate: number | undefined }) {
  const format = (count: number) => numbers.value.format(count)
  const failed = operation.outcomes.failed ?? 0
  const reasons = Object.entries(operation.reasons ?? {})
    .filter(([, count]) => count > 0)
    .toSorted(([, a], [, b]) => b - a)
  return (
    <tr data-testid={`health-${operation.func || 'unknown'}`}>
      <th scope="row">{operation.func || text('unknown')}</th>
      <td>{rate === undefined ? text('none') : formatRate(rate)}</td>
      <td>{format(operation.count)}</td>
      <td>{format(operation.outcomes.success ?? 0)}</td>
      <td class={failed > 0 ? 'health-bad-number' : undefined}>{format(failed)}</td>
      <td>{operation.p50 === undefined ? text('none') : formatSeconds(operation.p50)}</td>
      <td>{operation.p99 === undefined ? text('none') : formatSeconds(operation.p99)}</td>
      <td class="health-reasons">
        {reasons.map(([reason, count]) => `${reason} ${format(count)}`).join(', ') || text('none')}
      </td>
    </tr>
  )
}
