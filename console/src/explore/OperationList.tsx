import { useState } from 'preact/hooks'
import { description, operationName, type Operation } from '../description'
import { groupTitle, operationTitle } from '../names'
import { go } from '../router'
import { hashOf, shown } from './store'
import { text } from './words'

/** Returns the operations by their group, both in the order of the description. */
function grouped(operations: readonly Operation[]): Map<string, Operation[]> {
  const groups = new Map<string, Operation[]>()
  for (const each of operations) groups.set(each.group, [...(groups.get(each.group) ?? []), each])
  return groups
}

function matches(operation: Operation, filter: string): boolean {
  const words = [operationName(operation), operationTitle(operation), groupTitle(operation.group), ...(operation.parameters ?? []).map(each => each.name)]
  const all = words.join(' ').toLowerCase()
  return filter.toLowerCase().split(/\s+/).every(each => all.includes(each))
}

/** The operations at the side, with a filter. */
export function OperationList() {
  const [filter, setFilter] = useState('')
  const found = description().operations.filter(each => matches(each, filter))
  return (
    <nav class="operations" aria-label={text('operations')}>
      <input
        type="search"
        value={filter}
        placeholder={text('filter')}
        aria-label={text('filter')}
        onInput={event => setFilter(event.currentTarget.value)}
        data-testid="filter"
      />
      <div class="operations-scroll">
        {found.length === 0 && <p class="soft small">{text('noMatch')}</p>}
        {[...grouped(found)].map(([group, operations]) => (
          <section key={group} aria-labelledby={`group-${group}`}>
            <h2 id={`group-${group}`}>{groupTitle(group)}</h2>
            <ul>
              {operations.map(each => (
                <li key={operationName(each)}>
                  <OperationLink operation={each} />
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </nav>
  )
}

function OperationLink({ operation }: { operation: Operation }) {
  const name = operationName(operation)
  return (
    <a href={hashOf(operation)} aria-current={shown.value === operation ? 'page' : undefined} data-testid={`operation-${name}`}>
      <span class={`dot ${operation.effect}`} title={text(operation.effect)} />
      <span class="operation-text">
        <span class="operation-title">{operationTitle(operation)}</span>
        <span class="operation-func">
          {operation.func}
          {operation.variant && ` · ${operation.variant}`}
        </span>
      </span>
      <span class="hidden">{text(operation.effect)}</span>
    </a>
  )
}

/** The operations as one field, for narrow windows. */
export function OperationChoice() {
  const now = shown.value
  return (
    <label class="operation-choice">
      <span class="field-title">{text('operation')}</span>
      <select
        value={typeof now === 'string' ? '' : operationName(now)}
        onChange={event => {
          const chosen = description().operations.find(each => operationName(each) === event.currentTarget.value)
          if (chosen) go(hashOf(chosen))
        }}
        data-testid="operation-choice"
      >
        {[...grouped(description().operations)].map(([group, operations]) => (
          <optgroup key={group} label={groupTitle(group)}>
            {operations.map(each => (
              <option key={operationName(each)} value={operationName(each)}>
                {operationTitle(each)} ({operationName(each)})
              </option>
            ))}
          </optgroup>
        ))}
      </select>
    </label>
  )
}
