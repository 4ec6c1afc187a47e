// The description of the operations, which the edge makes from the table that it runs on.

import { signal } from '@preact/signals'

export type ParameterType = 'decimal' | 'integer' | 'text' | 'boolean' | 'enum' | 'id' | 'password'

/** A name in English and in Chinese. */
export type Title = readonly [en: string, zh: string]

export interface Parameter {
  name: string
  /** Absent if the page has a name of its own. */
  title?: Title
  /** The valid values, in English. */
  hint: string
  required?: boolean
  type: ParameterType
  min?: number
  max?: number
  minLength?: number
  /** The most characters of a text; absent: no limit. */
  maxLength?: number
  multiline?: boolean
  default?: string
  values?: { value: string; label?: string }[]
}

export interface Operation {
  func: string
  /** Tells apart the operations that share a func. */
  variant: string
  title: Title
  group: string
  effect: 'read' | 'write'
  login: boolean
  /** Says that the legacy contract does not have the operation. */
  addition?: boolean
  parameters?: Parameter[]
  /** Parameters that the operation always has, by name. */
  fixed?: Record<string, string>
}

export interface Description {
  version: string
  /** The address of raster tiles for the map, with {z}, {x} and {y}; empty without tiles. */
  tiles: string
  /** The address against which addresses of photos are resolved; empty for that of the page. */
  photos?: string
  additions: boolean
  /** The largest photo that can be uploaded, in bytes; 0 or absent if none can. */
  maxPhotoBytes?: number
  paths: { api: string; session: string; health: string }
  operations: Operation[]
  /** Parameters that every operation takes. */
  shared?: Parameter[]
}

export type Loading = { state: 'loading' } | { state: 'failed'; cause: string } | { state: 'ready'; description: Description }

/** The description, as far as it is loaded. Views are shown once it is ready. */
export const loading = signal<Loading>({ state: 'loading' })

/** Loads the description; again after a failure. It never rejects. */
export async function loadDescription(): Promise<void> {
  loading.value = { state: 'loading' }
  try {
    const response = await fetch('console/operations.json', { cache: 'no-cache' })
    if (!response.ok) throw new Error(`HTTP ${response.status}`)
    loading.value = { state: 'ready', description: placed((await response.json()) as Description) }
  } catch (error) {
    loading.value = { state: 'failed', cause: error instanceof Error ? error.message : String(error) }
  }
}

/** Returns the description with its paths below that of the page, before which a proxy may put a prefix. */
function placed(description: Description): Description {
  const below = (path: string) => new URL('.' + path, location.href).pathname
  const { api, session, health } = description.paths
  return { ...description, paths: { api: below(api), session: below(session), health: below(health) } }
}

/** Returns the loaded description. Only views that are shown once it is ready call it. */
export function description(): Description {
  if (loading.value.state !== 'ready') throw new Error('the description is not loaded')
  return loading.value.description
}

/** Names an operation: its func, and its variant behind a dot. */
export function operationName(operation: Pick<Operation, 'func' | 'variant'>): string {
  return operation.variant ? `${operation.func}.${operation.variant}` : operation.func
}

/** Returns the operation of a name, if the service has it. */
export function findOperation(name: string): Operation | undefined {
  return description().operations.find(each => operationName(each) === name)
}
