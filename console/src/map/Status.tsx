import { numbers } from '../i18n'
import { Failure } from '../shell/Failure'
import type { LandmarkSource } from './source'
import { text } from './words'

/** What is known before the first reply. The line has its room from the start. */
const nothingYet = { progress: { loading: true, full: false, failure: '' }, inView: 0, kept: 0 }

/** How many landmarks are in view, and what is missing. */
export function Status({ source }: { source: LandmarkSource }) {
  const { progress, inView, kept } = source.shown.value ?? nothingYet
  const format = (count: number) => numbers.value.format(count)
  const key = inView === 0 ? 'countNone' : inView === 1 ? 'countOne' : 'countInView'
  return (
    <div class="map-status">
      <output data-testid="map-count">
        {progress.loading ? text('loading', { count: format(inView) }) : text(key, { count: format(inView) })}
      </output>
      <button class="plain" type="button" onClick={() => source.reload()} data-testid="map-reload">
        {text('reload')}
      </button>
      {progress.full && <p class="small soft">{text('full', { count: format(kept) })}</p>}
      {progress.failure && (
        <Failure error={progress.failure} sentence={text('failed')} retry={() => source.retry()} testid="map-failure" />
      )}
    </div>
  )
}
