import { numbers } from '../i18n'
import { Chart } from './Chart'
import { formatBytes, formatRate, formatSeconds, topOf, topOfBytes, type Health, type Point } from './rates'
import { text } from './words'

/** Charts of the last minutes. A chart of what the service does not know is left out. */
export function Charts({ points, health }: { points: Point[]; health: Health }) {
  const last = points.at(-1)
  const success = points.map(each => each.outcomes.success ?? 0)
  const failed = points.map(each => each.outcomes.failed ?? 0)
  const { slowest } = last ?? {}
  return (
    <div class="health-charts">
      <Chart
        title={text('requests')}
        now={last ? formatRate((success.at(-1) ?? 0) + (failed.at(-1) ?? 0)) : text('none')}
        series={[
          { name: text('success'), tone: 'good', values: success },
          { name: text('failedOutcome'), tone: 'bad', values: failed },
        ]}
        format={formatRate}
        topOf={topOf}
        testid="chart-requests"
      />
      <Chart
        title={text('slowest')}
        now={slowest ? `${formatSeconds(slowest.p99)} ${slowest.func}` : text('none')}
        series={[{ name: 'p99', tone: 'plain', values: points.map(each => each.slowest?.p99) }]}
        format={formatSeconds}
        topOf={topOf}
        testid="chart-p99"
      />
      {health.memoryBytes !== undefined && (
        <Chart
          title={text('memory')}
          now={formatBytes(health.memoryBytes)}
          series={[{ name: text('memory'), tone: 'plain', values: points.map(each => each.memoryBytes) }]}
          format={formatBytes}
          topOf={topOfBytes}
          testid="chart-memory"
        />
      )}
      {health.store?.bytes !== undefined && (
        <Chart
          title={text('store')}
          now={formatBytes(health.store.bytes)}
          series={[{ name: text('store'), tone: 'plain', values: points.map(each => each.storeBytes) }]}
          format={formatBytes}
          topOf={topOfBytes}
          testid="chart-store"
        />
      )}
      {health.connections !== undefined && (
        <Chart
          title={text('connections')}
          now={numbers.value.format(health.connections)}
          series={[{ name: text('connections'), tone: 'plain', values: points.map(each => each.connections) }]}
          format={value => numbers.value.format(value)}
          topOf={topOf}
          testid="chart-connections"
        />
      )}
    </div>
  )
}
