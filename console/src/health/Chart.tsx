import { linePath } from './rates'

export interface Series {
  name: string
  /** A class that sets the colour of the line. */
  tone: 'good' | 'bad' | 'plain'
  values: (number | undefined)[]
}

interface Props {
  title: string
  /** What the newest values say; shown beside the title. */
  now: string
  series: Series[]
  format: (value: number) => string
  /** Returns the top of the chart for its values. */
  topOf: (values: number[]) => number
  testid: string
}

const width = 300
const height = 72

/** A small chart. Its data is in the table below the charts, so that it is hidden from screen readers. */
export function Chart({ title, now, series, format, topOf, testid }: Props) {
  const top = topOf(series.flatMap(each => each.values.filter(value => value !== undefined)))
  return (
    <figure class="health-chart card" data-testid={testid}>
      <figcaption>
        <span class="soft">{title}</span> <strong>{now}</strong>
      </figcaption>
      <div class="health-plot" aria-hidden="true">
        <p class="health-scale">
          <span>{format(top)}</span>
          {series.length > 1 &&
            series.map(each => (
              <span key={each.name} class={`health-${each.tone}`}>
                {each.name}
              </span>
            ))}
        </p>
        <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none">
          <path class="health-grid" d={`M0 .5H${width}M0 ${height / 2}H${width}M0 ${height - 0.5}H${width}`} />
          {series.map(each => (
            <path
              key={each.name}
              class={`health-line health-${each.tone}`}
              d={linePath(each.values, top, width, height)}
            />
          ))}
        </svg>
      </div>
    </figure>
  )
}
