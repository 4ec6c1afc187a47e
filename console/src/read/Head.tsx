import { visibleOr } from '../format'
import { buildHash } from '../router'
import { numbers } from '../i18n'
import { categoryName } from './labels'
import { today } from '../dates'
import { mapNames } from './mapNames'
import { formatDistance, formatPlace, type Summary } from './model'
import { Icon } from './Photos'
import { Weather } from './Weather'
import { text } from './words'

/** Returns the address of content's page. */
export function contentHash(kind: Summary['kind'], id: string): string {
  return buildHash(['read', kind, id])
}

/** An entry has the day of its publication, which may be to come. The rest has that of the last change. */
function dateWords({ kind, date }: Summary): 'planned' | 'published' | 'updated' {
  if (kind !== 'blog') return 'updated'
  return date > today() ? 'planned' : 'published'
}

/** Who, when, where and how many recommendations: what all content has. */
export function Facts({ content, zoom = 14 }: { content: Summary; zoom?: number }) {
  const { owner, place, score } = content
  const query = new URLSearchParams({ at: `${place.lat},${place.lng},${zoom}` })
  query.set(mapNames[content.kind], content.id)
  const where = formatPlace(place)
  return (
    <ul class="read-facts">
      <li>
        <Icon name={owner.name} address={owner.icon} />
        {owner.id ? (
          <a href={buildHash(['read', 'user', owner.id])} data-testid="owner">
            {visibleOr(owner.name, text('unknownPerson'))}
          </a>
        ) : (
          visibleOr(owner.name, text('unknownPerson'))
        )}
      </li>
      {content.category && (
        <li>
          <span class="tag">{categoryName(content.kind, content.category)}</span>
          {content.weather && <Weather name={content.weather} />}
        </li>
      )}
      {score !== undefined && (
        <li data-testid="score">
          {score === 1 ? text('scoreOne') : text('score', { count: numbers.value.format(score) })}
        </li>
      )}
      {content.date && <li>{text(dateWords(content), { date: content.date })}</li>}
      <li>
        <a href={buildHash(['map'], query)} aria-label={text('onMap', { place: where })} data-testid="place">
          {where}
        </a>
      </li>
      {content.distance !== undefined && <li>{text('away', { distance: formatDistance(content.distance) })}</li>}
    </ul>
  )
}
