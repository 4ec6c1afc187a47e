// What several pages show.

import type { ComponentChildren } from 'preact'
import { times } from '../i18n'
import type { Failure } from './api'
import { text } from './words'

export function FailureNote({ failure }: { failure: Failure | undefined }) {
  if (!failure) return null
  return (
    <div class="note bad" role="alert" data-testid="failure">
      <p>{failure.message}</p>
      {failure.details.map(each => (
        <p key={each} class="small">
          {each}
        </p>
      ))}
    </div>
  )
}

/** A table that scrolls sideways, which must be reachable by keyboard. */
export function Table(props: { label: string; heads: readonly string[]; testid: string; children: ComponentChildren }) {
  return (
    <div class="operators-scroll card" tabIndex={0} role="region" aria-label={props.label}>
      <table data-testid={props.testid}>
        <thead>
          <tr>
            {props.heads.map(each => (
              <th key={each} scope="col">
                {each}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{props.children}</tbody>
      </table>
    </div>
  )
}

/** Facts with their names. Those without a value are left out. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value !== undefined && value !== '')
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}

/** Returns a time as people write it; empty without one. */
export function timeOf(time: string | undefined): string {
  return time ? times.value.format(new Date(time)) : ''
}

/** The title of a page that follows events, and whether it does. */
export function LiveHead(props: { title: string; isThere: boolean; isLost: boolean }) {
  return (
    <>
      <div class="operators-head">
        <h1>{props.title}</h1>
        {props.isThere && !props.isLost && <span class="tag good">{text('live')}</span>}
      </div>
      {props.isLost && (
        <p class="note bad" role="alert">
          {text('lost')}
        </p>
      )}
      {!props.isThere && !props.isLost && <Loading />}
    </>
  )
}

export function Loading() {
  return <output class="soft" aria-busy="true">{text('loading')}</output>
}
