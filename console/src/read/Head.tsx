import { buildHash } from '../router'
import { numbers } from '../i18n'
import { categoryName } from './labels'
import { formatPlace, type Content } from './model'
import { Icon } from './Photos'
import { text } from './words'

/** Returns the address of content's page. */
export function contentHash(kind: Content['kind'], id: string): string {
  return buildHash(['read', kind, id])
}

/** Who, when, where and how many recommendations: what all content has. */
export function Facts({ content, compact }: { content: Content; compact?: boolean }) {
  const { owner, place, score } = content
  const zoom = content.entry?.zoom ?? 14
  const query = new URLSearchParams({ at: `${place.lat},${place.lng},${zoom}` })
  if (content.kind === 'landmark') query.set('poi', content.id)
  const where = formatPlace(place)
  return (
    <ul class="read-facts">
      <li>
        <Icon name={owner.name} address={owner.icon} />
        {owner.id ? (
          <a href={buildHash(['read', 'user', owner.id])} data-testid="owner">
            {owner.name || text('unknownPerson')}
          </a>
        ) : (
          owner.name || text('unknownPerson')
        )}
      </li>
      {content.category && (
        <li>
          <span class="tag">{categoryName(content.kind, content.category)}</span>
          {content.entry && !compact && (
            <span class="tag" title={text('weather')}>
              {content.entry.weather}
            </span>
          )}
        </li>
      )}
      <li data-testid="score">
        {score === 1 ? text('scoreOne') : text('score', { count: numbers.value.format(score) })}
      </li>
      {content.date && <li>{text(content.kind === 'blog' ? 'planned' : 'updated', { date: content.date })}</li>}
      <li>
        <a href={buildHash(['map'], query)} aria-label={text('onMap', { place: where })} data-testid="place">
          {where}
        </a>
      </li>
    </ul>
  )
}
