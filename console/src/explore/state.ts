// The state of the form of an operation, and its address.

import { description, operationName, type Operation, type Parameter } from '../description'
import { lastValues, type Pair } from '../form'
import type { Method } from '../api'

export type Format = 'XML' | 'JSON'

export interface FormState {
  /** The values by parameter. An empty one is not sent. */
  values: Readonly<Record<string, string>>
  /** Further parameters, as they are sent. They win over the values. */
  extras: readonly Pair[]
  format: Format
  method: Method
}

/** Returns the form of an operation without values. */
export function emptyForm(operation: Operation): FormState {
  return { values: {}, extras: [], format: 'XML', method: operation.effect === 'write' ? 'POST' : 'GET' }
}

/** Returns the parameters that the form sends. */
export function parametersOf(operation: Operation, form: FormState): Pair[] {
  const pairs: Pair[] = [['func', operation.func], ...Object.entries(operation.fixed ?? {})]
  for (const { name } of operation.parameters ?? []) {
    const value = form.values[name]
    if (value) pairs.push([name, value])
  }
  if (form.format === 'JSON') pairs.push(['responseFormat', 'JSON'])
  return lastValues([...pairs, ...form.extras.filter(([name]) => name !== '')])
}

const alwaysSecret = ['password', 'idrand', 'sig', 'secret', 'cookie']

/** Says whether the value of a parameter stays out of addresses, of storage and of code to copy. */
export function isSecret(name: string, operations: readonly Operation[] = description().operations): boolean {
  const isPassword = (each: Parameter) => each.type === 'password' && each.name === name
  return alwaysSecret.includes(name.toLowerCase()) || operations.some(each => each.parameters?.some(isPassword))
}

/**
 * Says whether a parameter decides which operation a request is. A link sets none: a form does what
 * its title says.
 */
function isDecisive(name: string, operations: readonly Operation[] = description().operations): boolean {
  const lower = name.toLowerCase()
  return lower === 'func' || operations.some(each => Object.keys(each.fixed ?? {}).some(fixed => fixed.toLowerCase() === lower))
}

/**
 * Returns the state as the parameters of an address, without secrets. Options begin with one dot. A
 * parameter that begins with a dot gets another one.
 */
export function toQuery(operation: Operation, form: FormState, operations?: readonly Operation[]): URLSearchParams {
  const query = new URLSearchParams()
  const add = (name: string, value: string) => {
    if (!isSecret(name, operations)) query.append(name.startsWith('.') ? '.' + name : name, value)
  }
  for (const { name } of operation.parameters ?? []) {
    if (form.values[name]) add(name, form.values[name])
  }
  for (const [name, value] of form.extras) {
    const isOwn = operation.parameters?.some(each => each.name === name)
    if (name === '' || isSecret(name, operations) || !isOwn && isDecisive(name, operations)) continue
    if (isOwn) query.append('.set', name + '=' + value)
    else add(name, value)
  }
  if (form.format !== 'XML') query.append('.format', form.format)
  if (form.method !== emptyForm(operation).method) query.append('.method', form.method)
  return query
}

/**
 * Returns the state that the parameters of an address describe. It accepts any parameters, but none
 * that makes the request another operation.
 */
export function fromQuery(operation: Operation, query: URLSearchParams, operations?: readonly Operation[]): FormState {
  const form = emptyForm(operation)
  const values: Record<string, string> = {}
  const extras: Pair[] = []
  const own = new Set(operation.parameters?.map(each => each.name))
  const isKept = (name: string) => !isSecret(name, operations) && (own.has(name) || !isDecisive(name, operations))
  for (const [written, value] of query) {
    const name = written.startsWith('..') ? written.slice(1) : written
    if (written.startsWith('.') && name === written) {
      if (written === '.set') {
        const at = value.indexOf('=')
        if (at > 0 && isKept(value.slice(0, at))) extras.push([value.slice(0, at), value.slice(at + 1)])
      }
      continue
    }
    if (!isKept(name)) continue
    if (own.has(name)) values[name] = value
    else extras.push([name, value])
  }
  return {
    values,
    extras,
    format: query.get('.format')?.toUpperCase() === 'JSON' ? 'JSON' : 'XML',
    method: operation.effect === 'read' && query.get('.method') === 'POST' ? 'POST' : form.method,
  }
}

/** Returns the path of an operation's form. */
export function pathOf(operation: Operation): string[] {
  return ['explore', operationName(operation)]
}
