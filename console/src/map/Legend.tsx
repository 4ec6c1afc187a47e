import { categoryName } from '../read/labels'
import { albumNumber, blogNumber, numbersOfMap } from './kinds'
import { symbolPath } from './symbols'
import { text } from './words'

/** The name of a category in the language of the page. */
export function nameOfCategory(category: number): string {
  if (category === 0) return text('category0')
  if (category === albumNumber) return text('albums')
  if (category === blogNumber) return text('blogs')
  return categoryName('landmark', String(category))
}

/** The numbers to switch, those of landmarks last. */
export function numbersToSwitch(hasOthers: boolean): number[] {
  const all = Array.from({ length: numbersOfMap }, (_, i) => i + 1)
  const landmarks = all.filter(each => each !== albumNumber && each !== blogNumber)
  return hasOthers ? [albumNumber, blogNumber, ...landmarks] : landmarks
}

/** The symbol of a category. */
export function CategorySymbol({ category }: { category: number }) {
  return (
    <svg class={`map-symbol map-category-${category}`} viewBox="-10 -10 20 20" aria-hidden="true">
      <path d={symbolPath(category, 6.5)} />
    </svg>
  )
}

/** Check boxes that show and hide albums, entries and categories of landmarks, and the meaning of symbols. */
export function Legend(props: { hidden: number[]; numbers: number[]; change: (hidden: number[]) => void }) {
  const { hidden, numbers, change } = props
  return (
    <fieldset class="map-legend" data-testid="legend">
      <legend class="hidden">{text('categories')}</legend>
      {numbers.map(category => (
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
