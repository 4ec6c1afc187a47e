import { useEffect, useMemo, useState } from 'preact/hooks'
import { formatBytes } from '../format'
import { text } from './words'

/** The part of a text that is drawn at first, and the size of the pieces of a whole one, in characters. */
const piece = 32_768

/** A text in a fixed-width font. A long one is cut; all of it is drawn in pieces, when they are scrolled to. */
export function Code(props: { label: string; testid: string; children: string }) {
  const whole = props.children
  const [all, setAll] = useState('')
  const isCut = whole.length > piece && all !== whole
  const parts = useMemo(() => (isCut ? [whole.slice(0, endOfPiece(whole, piece))] : pieces(whole)), [isCut, whole])
  const drawn = useGrowing(parts)
  return (
    <>
      <div class="code" role="region" aria-label={props.label} tabIndex={0} data-testid={props.testid}>
        {parts.slice(0, drawn).map((each, i) => (
          <div key={i}>{each}</div>
        ))}
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

/** Returns how many parts are drawn now: more with each frame, so that the page stays responsive. */
function useGrowing(parts: readonly string[]): number {
  const [now, setNow] = useState({ parts, drawn: 1 })
  const drawn = now.parts === parts ? now.drawn : 1
  useEffect(() => {
    if (drawn >= parts.length) return
    const frame = requestAnimationFrame(() => setNow({ parts, drawn: drawn + 2 }))
    return () => cancelAnimationFrame(frame)
  }, [parts, drawn])
  return drawn
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
  const before = whole.slice(near - 4096, near)
  const found = Math.max(before.lastIndexOf('\n'), before.lastIndexOf('>'))
  if (found >= 0) return near - before.length + found + 1
  return /[\ud800-\udbff]/.test(whole[near - 1]!) ? near - 1 : near
}
