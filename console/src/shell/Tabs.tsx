import type { ComponentChildren, TargetedKeyboardEvent } from 'preact'

export interface Tab {
  name: string
  title: string
  content: () => ComponentChildren
}

/** Tabs as WAI-ARIA describes them: the arrow keys, Home and End choose. */
export function Tabs(props: { id: string; label: string; tabs: readonly Tab[]; chosen: string; choose: (name: string) => void; end?: ComponentChildren }) {
  const { id, tabs } = props
  const current = tabs.find(each => each.name === props.chosen) ?? tabs[0]!
  const move = (event: TargetedKeyboardEvent<HTMLElement>) => {
    const at = tabs.indexOf(current)
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1 + tabs.length, Home: 0, End: tabs.length - 1 }[event.key]
    if (to === undefined) return
    event.preventDefault()
    const next = tabs[to % tabs.length]!
    props.choose(next.name)
    document.getElementById(`${id}-tab-${next.name}`)?.focus()
  }
  return (
    <>
      <div class="tabs">
        <div role="tablist" aria-label={props.label} onKeyDown={move}>
          {tabs.map(each => (
            <button
              key={each.name}
              type="button"
              role="tab"
              id={`${id}-tab-${each.name}`}
              aria-selected={each === current}
              aria-controls={`${id}-panel`}
              tabIndex={each === current ? 0 : -1}
              onClick={() => props.choose(each.name)}
              data-testid={`${id}-tab-${each.name}`}
            >
              {each.title}
            </button>
          ))}
        </div>
        {props.end}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-tab-${current.name}`} class="panel" data-testid={`${id}-panel`}>
        {current.content()}
      </div>
    </>
  )
}
