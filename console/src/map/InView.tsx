import { visibleOr } from '../format'
import { formatDistance } from '../read/model'
import { CategorySymbol, nameOfCategory } from './Legend'
import { kindOf } from './kinds'
import type { Landmark } from './parts'
import type { Near, Shown } from './protocol'
import { text } from './words'

export type Order = 'nearest' | 'newest'

interface Props {
  shown: Shown | undefined
  order: Order
  chooseOrder: (order: Order) => void
  /** What is at one place, listed instead. */
  group: Landmark[] | undefined
  closeGroup: () => void
  open: (landmark: Landmark) => void
}

/** What is in view as a list that follows the map: for those who do not see it or do not use a mouse, too. */
export function InView({ shown, order, chooseOrder, group, closeGroup, open }: Props) {
  const listed: (Landmark & Partial<Near>)[] = group ?? shown?.[order] ?? []
  const title = text(group ? 'groupTitle' : 'inView')
  return (
    <section class="map-list" aria-label={title}>
      <div class="map-list-head">
        <h2 tabIndex={-1} data-focus>
          {title}
        </h2>
        {group ? (
          <button class="plain" type="button" onClick={closeGroup} data-testid="close-group">
            {text('back')}
          </button>
        ) : (
          <div class="map-orders" role="group" aria-label={text('order')}>
            {(['nearest', 'newest'] as const).map(each => (
              <button
                key={each}
                class="plain"
                type="button"
                aria-pressed={each === order}
                onClick={() => chooseOrder(each)}
                data-testid={`order-${each}`}
              >
                {text(each)}
              </button>
            ))}
          </div>
        )}
      </div>
      <ul data-testid="in-view">
        {listed.map(each => (
          <li key={`${kindOf(each.category)}${each.id}`}>
            <button
              class="plain"
              type="button"
              onClick={() => open(each)}
              data-id={`${kindOf(each.category)}/${each.id}`}
              data-testid={`mark-${kindOf(each.category)}`}
            >
              <CategorySymbol category={each.category} />
              <span class="map-name">{visibleOr(each.name, '–')}</span>
              <span class="hidden">{nameOfCategory(each.category)}</span>
              {each.distance !== undefined && <span class="map-distance">{formatDistance(each.distance)}</span>}
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
