// Symbols of the weather of entries. The words are those of the contract (rule 7.11), which the description
// has, too.

import './diary.css'

import type { JSX } from 'preact'

import { inLanguage } from '../categories'

const cloud = 'M7 18h10a4 4 0 0 0 .6-8A6 6 0 0 0 6.2 9.6 4.3 4.3 0 0 0 7 18Z'
const sun = 'M12 7.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9Z'
const rays = 'M12 2v2.5M12 19.5V22M2 12h2.5M19.5 12H22M5 5l1.7 1.7M17.3 17.3 19 19M19 5l-1.7 1.7M6.7 17.3 5 19'
const raised = 'M7 14h10a3.6 3.6 0 0 0 .6-7.2A5.6 5.6 0 0 0 6.6 6.6 3.7 3.7 0 0 0 7 14Z'

const weathers: Record<string, [path: string, tone: string][]> = {
  晴空萬里: [[sun, 'sun'], [rays, 'ray']],
  狂風暴雨: [[raised, 'cloud'], ['M13 13l-3 4.5h3L11 22', 'bolt'], ['M7 16.5l-1 3M17 16.5l-1 3', 'rain']],
  陰雨綿綿: [[raised, 'cloud'], ['M8 16.5l-1 4M12.5 16.5l-1 4M17 16.5l-1 4', 'rain']],
  雨過天晴: [['M15.5 4a3.8 3.8 0 0 1 3 6.2', 'ray'], ['M15.5 1v1.2M21.5 6.5h-1.2M19.8 2.2l-1 1', 'ray'], [cloud, 'cloud']],
  烏雲滿天: [[cloud, 'dark']],
  大雪數日: [[raised, 'cloud'], ['M8 17v4M6.3 18l3.4 2M9.7 18l-3.4 2M16 17v4M14.3 18l3.4 2M17.7 18l-3.4 2', 'rain']],
  有彩虹: [['M3 18a9 9 0 0 1 18 0', 'bolt'], ['M6 18a6 6 0 0 1 12 0', 'ray'], ['M9 18a3 3 0 0 1 6 0', 'rain']],
}

/** The symbol of a weather, with its name for those who point at it or do not see it. */
export function Weather({ name, withName }: { name: string; withName?: boolean }): JSX.Element {
  const known = weathers[name]
  const shown = inLanguage(name)
  if (!known) return <span class="tag">{shown}</span>
  return (
    <span class="read-weather" title={shown}>
      <svg viewBox="0 0 24 24" aria-hidden="true">
        {known.map(([path, tone]) => (
          <path key={path} d={path} class={`weather-${tone}`} />
        ))}
      </svg>
      <span class={withName ? undefined : 'hidden'}>{shown}</span>
    </span>
  )
}
