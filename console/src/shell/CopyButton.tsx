import { useEffect, useState } from 'preact/hooks'
import { text } from './words'

/** A button that copies a text. It says so to screen readers, too. */
export function CopyButton(props: { label?: string; value: () => string; testid: string }) {
  const [isDone, setDone] = useState(false)
  useEffect(() => {
    if (!isDone) return
    const timer = setTimeout(() => setDone(false), 2000)
    return () => clearTimeout(timer)
  }, [isDone])
  return (
    <button type="button" onClick={() => void copy(props.value()).then(setDone)} data-testid={props.testid}>
      <span aria-live="polite">{isDone ? text('copied') : (props.label ?? text('copy'))}</span>
    </button>
  )
}

/** Copies a text. Pages that came by plain HTTP have no clipboard, only the old command. */
async function copy(value: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(value)
    return true
  } catch {
    return copyByCommand(value)
  }
}

function copyByCommand(value: string): boolean {
  const focused = document.activeElement
  const area = document.createElement('textarea')
  area.value = value
  area.className = 'hidden'
  document.body.append(area)
  area.select()
  const isDone = document.execCommand('copy')
  area.remove()
  if (focused instanceof HTMLElement) focused.focus()
  return isDone
}
