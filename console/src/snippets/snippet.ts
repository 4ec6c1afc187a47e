// The request of a form, as the programs of a snippet send it. They read secrets from the environment:
// COOKIE (what `login` returns, as `id=…; idrand=…`) and the passwords of a form.

import type { Method } from '../api'
import type { Pair } from '../form'

export interface Value {
  /** The text, or the name of the environment variable that holds it. */
  text?: string
  variable?: string
}

export interface Snippet {
  url: string
  method: Method
  /** One parameter of each name, in their order. */
  parameters: readonly (readonly [name: string, value: Value])[]
  hasCookie: boolean
}

/** Returns the parameters of a snippet. Values of secret parameters come from the environment. */
export function snippetParameters(pairs: readonly Pair[], isSecret: (name: string) => boolean): Snippet['parameters'] {
  return pairs.map(([name, value]) => [name, isSecret(name) ? { variable: variableOf(name) } : { text: value }] as const)
}

function variableOf(name: string): string {
  return name.toUpperCase().replace(/[^A-Z0-9]/g, '_').replace(/^(\d|$)/, '_$1')
}

/** Returns the environment variables that a snippet reads. */
export function variablesOf(snippet: Snippet): string[] {
  const names = snippet.parameters.flatMap(([, value]) => value.variable ?? [])
  if (snippet.hasCookie) names.push('COOKIE')
  return [...new Set(names)]
}
