// Programs that send the request of a form. They read secrets from the environment: COOKIE (what `login`
// returns, as `id=…; idrand=…`), SECRET (of the application that signs) and the passwords of a form.

import type { Method } from '../api'
import type { Pair } from '../form'
import { curl } from './curl'
import { go } from './go'
import { java } from './java'
import { php } from './php'
import { python } from './python'

export interface Value {
  /** The text, or the name of the environment variable that holds it. */
  text?: string
  variable?: string
}

export interface Snippet {
  url: string
  method: Method
  /** One parameter of each name, in their order, without key, ts, nonce and sig of a signature. */
  parameters: readonly (readonly [name: string, value: Value])[]
  hasCookie: boolean
  /** The key of the application that signs; undefined without a signature. */
  key: string | undefined
  /** Says whether a signature needs a nonce, which tells two equal writes apart. */
  hasNonce: boolean
}

export const programs = { curl, PHP: php, Python: python, Java: java, Go: go } as const

export type Program = keyof typeof programs

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
  if (snippet.key !== undefined) names.push('SECRET')
  return [...new Set(names)]
}
