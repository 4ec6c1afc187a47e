// What the explorer holds in memory: the form of each operation, and the last reply.

import { effect, signal, untracked } from '@preact/signals'
import { send, type Reply } from '../api'
import { description, findOperation, operationName, type Operation } from '../description'
import { buildHash, parseHash, replaceHash, route, type Route } from '../router'
import { child, type ParsedReply } from '../reply/tree'
import { parseReply } from '../reply/parse'
import { readSetting, writeSetting } from '../settings'
import { noteUser } from '../session/session'
import { noteIdentifiers } from './seen'
import { emptyForm, fromQuery, isSecret, parametersOf, pathOf, toQuery, type FormState } from './state'

export type Result =
  | { state: 'sending'; stop: () => void }
  | { state: 'done'; reply: Reply; parsed: ParsedReply | null; secrets: readonly string[] }
  | { state: 'failed'; cause: string }

const forms = signal<ReadonlyMap<string, FormState>>(new Map())

/** The outcome of the last request of the operation that is shown. */
export const result = signal<{ name: string; of: Result }>()

/** The operation that is shown, or the name of one that the service does not have. */
export const shown = signal<Operation | string>('')

/** Returns the form of an operation. */
export function formOf(operation: Operation): FormState {
  return forms.value.get(operationName(operation)) ?? emptyForm(operation)
}

/** Changes the form, and soon its address. */
export function changeForm(operation: Operation, change: Partial<FormState>): void {
  putForm(operation, { ...formOf(operation), ...change })
  saveSoon(operation)
}

/** Changes the value of a parameter. */
export function changeValue(operation: Operation, name: string, value: string): void {
  changeForm(operation, { values: { ...formOf(operation).values, [name]: value } })
}

/** Empties the form. */
export function clearForm(operation: Operation): void {
  putForm(operation, emptyForm(operation))
  result.value = undefined
  saveSoon(operation)
}

function putForm(operation: Operation, form: FormState): void {
  forms.value = new Map(forms.value).set(operationName(operation), form)
}

/** Returns the hash of the form's state, without secrets. */
export function hashOf(operation: Operation): string {
  return buildHash(pathOf(operation), toQuery(operation, formOf(operation)))
}

let saving: ReturnType<typeof setTimeout> | undefined

// Browsers limit how often an address may change.
function saveSoon(operation: Operation): void {
  clearTimeout(saving)
  saving = setTimeout(() => save(operation), 400)
}

function save(operation: Operation): void {
  if (shown.value !== operation || (route.value.path[0] ?? 'explore') !== 'explore') return
  const hash = hashOf(operation)
  replaceHash(hash)
  writeSetting('form', hash)
}

/** Shows the operation of an address, or the last form if it names none. */
function open(to: Route): void {
  let place = to
  if (place.path.length < 2) {
    place = parseHash(readSetting('form') ?? '')
    const isKnown = place.path[0] === 'explore' && findOperation(place.path[1] ?? '')
    if (!isKnown) place = { path: pathOf(description().operations[0]!), query: new URLSearchParams() }
  }
  const operation = findOperation(place.path[1]!)
  shown.value = operation ?? place.path[1]!
  if (!operation) return
  if (place.query.size > 0) putForm(operation, { ...fromQuery(operation, place.query) })
  if (result.value && result.value.name !== operationName(operation)) result.value = undefined
  save(operation)
}

effect(() => {
  const to = route.value
  if (to.path[0] === 'explore') untracked(() => open(to))
})

/** Sends the form. It never rejects. */
export async function sendForm(operation: Operation): Promise<void> {
  if (result.value?.of.state === 'sending') result.value.of.stop()
  const name = operationName(operation)
  const form = formOf(operation)
  const control = new AbortController()
  const put = (of: Result) => {
    if (shown.value === operation && !control.signal.aborted) result.value = { name, of }
  }
  put({ state: 'sending', stop: () => { control.abort(); result.value = undefined } })
  try {
    const parameters = parametersOf(operation, form)
    const secrets = parameters.flatMap(([each]) => (isSecret(each) ? each : []))
    const reply = await send({ method: form.method, parameters }, control.signal)
    put({ state: 'done', reply, parsed: null, secrets })
    const parsed = await parseReply(reply.text, reply.isJSON)
    noteReply(operation, parsed)
    put({ state: 'done', reply, parsed, secrets })
  } catch (error) {
    put({ state: 'failed', cause: error instanceof Error ? error.message : String(error) })
  }
}

/** Keeps what a reply says of the session, and its identifiers for other forms. */
function noteReply(operation: Operation, { root }: ParsedReply): void {
  if (!root) return
  const isSuccess = child(root, 'status')?.value === 'SUCCESS'
  if (operation.func === 'login' && isSuccess) noteUser(child(root, 'id')?.value ?? '')
  if (operation.func === 'logout' && isSuccess) noteUser('')
  if (operation.login && child(root, 'info')?.value === 'LOGIN REQUIRED') noteUser('')
  noteIdentifiers(root)
}
