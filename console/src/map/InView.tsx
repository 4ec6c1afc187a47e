import { numbers } from '../i18n'
import { formatPlace } from '../read/model'
import type { Box } from './areas'
import type { Mark } from './clusters'
import { CategorySymbol, nameOfCategory } from './Legend'
import { shortCount } from './count'
import type { Landmark } from './parts'
import { text } from './words'

/** Marks that are listed at most. */
const mostListed = 60

interface Props {
  marks: Mark[]
  view: Box | undefined
  /** Landmarks at one place, listed instead of the marks. */
  group: Landmark[] | undefined
  closeGroup: () => void
  open: (mark: Mark) => void
}

/** The marks in view as a list: the map for those who do not see it or do not use a mouse. */
export function InView({ marks, view, group, closeGroup, open }: Props) {
  const listed = group
    ? group.map((each): Mark => ({ kind: 'landmark', ...each }))
    : view
      ? inMiddleFirst(marks, view)
      : []
  const rest = listed.length - mostListed
  return (
    <section class="map-list" aria-label={text(group ? 'groupTitle' : 'inView')}>
      <h2 tabIndex={-1} data-focus>
        {text(group ? 'groupTitle' : 'inView')}
      </h2>
      {group && (
        <button class="plain" type="button" onClick={closeGroup} data-testid="close-group">
          {text('back')}
        </button>
      )}
      <ul data-testid="in-view">
        {listed.slice(0, mostListed).map(mark => (
          <li key={`${mark.kind}${mark.id}`}>
            <button
              class="plain"
              type="button"
              onClick={() => open(mark)}
              data-id={mark.id}
              data-testid={`mark-${mark.kind}`}
            >
              {mark.kind === 'landmark' ? <LandmarkLine landmark={mark} /> : <ClusterLine mark={mark} />}
            </button>
          </li>
        ))}
      </ul>
      {rest > 0 && <p class="small soft">{text('more', { count: numbers.value.format(rest) })}</p>}
    </section>
  )
}

function LandmarkLine({ landmark }: { landmark: Landmark }) {
  return (
    <>
      <CategorySymbol category={landmark.category} />
      <span class="map-name">{landmark.name}</span>
      <span class="hidden">{nameOfCategory(landmark.category)}</span>
    </>
  )
}

function ClusterLine({ mark }: { mark: Extract<Mark, { kind: 'cluster' }> }) {
  const count = numbers.value.format(mark.count)
  const place = formatPlace(mark, 3)
  return (
    <>
      <span class="map-badge" aria-hidden="true">
        {shortCount(mark.count)}
      </span>
      <span class="map-name" aria-hidden="true">
        {place}
      </span>
      <span class="hidden">{text('groupAt', { count, place })}</span>
    </>
  )
}

/** Returns the marks in a box, those nearest to its middle first. */
export function inMiddleFirst(marks: readonly Mark[], box: Box): Mark[] {
  const lat = (box.south + box.north) / 2
  const lng = (box.west + box.east) / 2
  const squeeze = Math.cos((lat * Math.PI) / 180)
  const away = (mark: Mark) => (mark.lat - lat) ** 2 + ((mark.lng - lng) * squeeze) ** 2
  return marks
    .filter(mark => mark.lat >= box.south && mark.lat <= box.north && mark.lng >= box.west && mark.lng <= box.east)
    .toSorted((a, b) => away(a) - away(b))
}
