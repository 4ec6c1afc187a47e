import { text } from './words'
import { formatBytes } from '../format'
import { useState } from 'preact/hooks'

/** The part of a text that is drawn at first, and the size of the pieces of a whole one, in characters. */
const piece = 32_768

/** A text in a fixed-width font. A long one is cut; all of it is drawn in pieces, when they are scrolled to. */
export function Code(props: { label: string; testid: string; children: string }) {
  const whole = props.children
  const [all, setAll] = useState('')
  const isCut = whole.length > piece && all !== whole
  return (
    <>
      <div class="code" role="region" aria-label={props.label} tabIndex={0} data-testid={props.testid}>
        {isCut ? whole.slice(0, endOfPiece(whole, piece)) : pieces(whole).map((each, i) => <div key={i}>{each}</div>)}
      </div>
      {isCut && (
        <p class="panel-foot">
          <span class="soft small">{text('shownPart', { shown: formatBytes(piece), size: formatBytes(whole.length) })}</span>
          <button type="button" onClick={() => setAll(whole)} data-testid={`${props.testid}-all`}>
            {text('showAll', { size: formatBytes(whole.length) })}
          </button>
        </p>
      )}
    </>
  )
}

function pieces(whole: string): string[] {
  const found: string[] = []
  for (let at = 0; at < whole.length; ) {
    const end = endOfPiece(whole, at + piece)
    found.push(whole.slice(at, end))
    at = end
  }
  return found
}

/** Returns an end near a length: behind a line or an element if one is close, and within no character. */
function endOfPiece(whole: string, near: number): number {
  if (near >= whole.length) return whole.length
  for (const mark of ['\n', '>']) {
    const found = whole.lastIndexOf(mark, near - 1)
    if (found > near - 4096) return found + 1
  }
  return /[\ud800-\udbff]/.test(whole[near - 1]!) ? near - 1 : near
}
