// What the page says of a value before it is sent. It warns and never stops: a developer may want to see the
// failure.

import type { Parameter } from '../description'

export type Fault =
  | { kind: 'number' | 'integer' | 'choice' | 'boolean' }
  | { kind: 'range'; min: number; max: number }
  | { kind: 'long'; max: number; length: number }

/** Returns the fault of a value, or null. An empty value is not sent, and has none. */
export function check(parameter: Parameter, value: string): Fault | null {
  if (value === '') return null
  switch (parameter.type) {
    case 'integer':
    case 'id':
      return /^\d+$/.test(value) ? outOfRange(parameter, value) : { kind: 'integer' }
    case 'decimal':
      return /^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(value) ? outOfRange(parameter, value) : { kind: 'number' }
    case 'boolean':
      return /^(true|false|0|1)$/i.test(value) ? null : { kind: 'boolean' }
    case 'enum':
      return parameter.values?.some(each => each.value === value) === false ? { kind: 'choice' } : null
    default: {
      const length = [...value].length
      return parameter.maxLength && length > parameter.maxLength ? { kind: 'long', max: parameter.maxLength, length } : null
    }
  }
}

function outOfRange({ min = -Infinity, max = Infinity }: Parameter, value: string): Fault | null {
  const number = Number(value)
  return number < min || number > max ? { kind: 'range', min, max } : null
}

/** Returns the parameters that the info of a failure names, each with what it says of them. */
export function faultsOf(info: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const part of info.split('; ')) {
    const match = /^(?:MISSING PARAMETER|INVALID PARAMETER|INVALID ENCODING): (\w+)/.exec(part)
    if (match && !found.has(match[1]!)) found.set(match[1]!, part)
  }
  return found
}
