import type { ComponentChildren } from 'preact'

/** A message in place of a view. */
export function Message(props: { title: string; detail?: string; busy?: boolean; children?: ComponentChildren }) {
  return (
    <div class="message" role={props.busy ? 'status' : undefined} data-testid="message">
      {props.busy ? <p class="message-title">{props.title}</p> : <h1 class="message-title">{props.title}</h1>}
      {props.detail && <p>{props.detail}</p>}
      {props.children}
    </div>
  )
}
