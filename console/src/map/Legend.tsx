import { categoryName } from '../read/labels'
import { language } from '../i18n'
import { categories } from './clusters'
import { symbolPath } from './symbols'
import { text } from './words'

/** The name of a category in the language of the page. */
export function nameOfCategory(category: number): string {
  const english = [
    text('category0'),
    text('category1'),
    text('category2'),
    text('category3'),
    text('category4'),
    text('category5'),
  ]
  if (language.value === 'en' || category === 0) return english[category] ?? english[0]!
  return categoryName('landmark', String(category))
}

/** The symbol of a category. */
export function CategorySymbol({ category }: { category: number }) {
  return (
    <svg class={`map-symbol map-category-${category}`} viewBox="-10 -10 20 20" aria-hidden="true">
      <path d={symbolPath(category, 6.5)} />
    </svg>
  )
}

/** Check boxes that show and hide categories, and the meaning of symbols. */
export function Legend({ hidden, change }: { hidden: number[]; change: (hidden: number[]) => void }) {
  return (
    <fieldset class="map-legend" data-testid="legend">
      <legend class="hidden">{text('categories')}</legend>
      {Array.from({ length: categories }, (_, i) => i + 1).map(category => (
        <label key={category}>
          <input
            type="checkbox"
            checked={!hidden.includes(category)}
            onChange={event =>
              change(
                event.currentTarget.checked
                  ? hidden.filter(each => each !== category)
                  : [...hidden, category].toSorted(),
              )
            }
            data-testid={`category-${category}`}
          />
          <CategorySymbol category={category} />
          {nameOfCategory(category)}
        </label>
      ))}
    </fieldset>
  )
}
