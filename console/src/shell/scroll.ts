// Back and forward return to where a page was scrolled to. The browser cannot do it: a page of this
// console is as high as what it has loaded by then. Each entry of the history has its own place.

interface Kept {
  /** How far the page was scrolled, in pixels. */
  y?: number
  /** How many items a list had loaded. */
  count?: number
}

/** Pauses between two notes of the place, in milliseconds. A browser refuses many in a short time. */
const pause = 150

let wanted: number | undefined
let timer: ReturnType<typeof setTimeout> | undefined

function kept(): Kept {
  return (history.state ?? {}) as Kept
}

/** Returns how many items the list of this entry of the history had loaded; 0 for a new entry. */
export function keptCount(): number {
  return kept().count ?? 0
}

/** Notes how many items the list has loaded. */
export function keepCount(count: number): void {
  history.replaceState({ ...kept(), count }, '')
}

function note(): void {
  clearTimeout(timer)
  timer = undefined
  if (wanted === undefined && kept().y !== Math.round(scrollY)) history.replaceState({ ...kept(), y: Math.round(scrollY) }, '')
}

/** Goes to the place of this entry, now or as soon as the page is high enough. */
function restore(): void {
  if (wanted === undefined) return
  scrollTo(0, wanted)
  if (Math.abs(scrollY - wanted) <= 1) wanted = undefined
}

function arrive(): void {
  clearTimeout(timer)
  timer = undefined
  wanted = kept().y ?? 0
  restore()
}

/** Keeps the places of all pages. It is called once. */
export function keepScroll(): void {
  history.scrollRestoration = 'manual'
  addEventListener('popstate', arrive)
  addEventListener('scroll', () => (timer ??= setTimeout(note, pause)), { passive: true })
  addEventListener('click', note, { capture: true })
  // A reader who scrolls meanwhile wants to be elsewhere.
  for (const event of ['wheel', 'touchstart', 'keydown', 'pointerdown']) {
    addEventListener(event, () => (wanted = undefined), { passive: true, capture: true })
  }
  new ResizeObserver(restore).observe(document.body)
  arrive()
}
