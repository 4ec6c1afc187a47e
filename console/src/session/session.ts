// Who is logged in. The cookie is HttpOnly: the page sets and removes it through the service and never
// reads it.

import { signal } from '@preact/signals'
import { call, CallFailure } from '../api'
import { description, findOperation } from '../description'
import { encodeForm, formType } from '../form'

export type Session = { state: 'unknown' | 'none' } | { state: 'open'; user: string }

export const session = signal<Session>({ state: 'unknown' })

/** Who may register; empty while that is unknown. */
export const registration = signal<'' | 'closed' | 'open' | 'invite'>('')

/** Notes whose session is open; an empty user for none. */
export function noteUser(user: string): void {
  session.value = user ? { state: 'open', user } : { state: 'none' }
}

/** Asks the service whose session the cookie names. Without an answer the session stays unknown. */
export async function askSession(): Promise<void> {
  try {
    const response = await fetch(description().paths.session, { cache: 'no-store' })
    if (!response.ok) return
    const reply = (await response.json()) as { id?: string | number; registration?: typeof registration.value }
    registration.value = reply.registration ?? registration.value
    noteUser(String(reply.id ?? ''))
  } catch {
    return
  }
}

/** Logs in with the operation `login`, which sets the cookie. It rejects with a CallFailure. */
export async function logIn(email: string, password: string): Promise<void> {
  const { id } = await call<{ id: number }>('login', { email, password }, { method: 'POST' })
  noteUser(String(id))
}

/** Closes the session, or removes the cookie where the service has no `logout`. */
export async function logOut(): Promise<void> {
  if (findOperation('logout')) await call('logout', {}, { method: 'POST' })
  else await setCookie('', '')
  noteUser('')
  await askSession() // which says who may register
}

/** Uses the session of a pasted cookie. It rejects with a CallFailure if the session is not open. */
export async function takeCookie(cookie: CookieParts): Promise<void> {
  await setCookie(cookie.id, cookie.idrand)
  noteUser(cookie.id)
}

async function setCookie(id: string, idrand: string): Promise<void> {
  let response: Response
  let body: { info?: string } | null
  try {
    response = await fetch(description().paths.session, { method: 'POST', headers: { 'Content-Type': formType }, body: encodeForm([['id', id], ['idrand', idrand]]) })
    body = (await response.json().catch(() => null)) as typeof body
  } catch (error) {
    throw new CallFailure('NO_REPLY', error instanceof Error ? error.message : String(error), 0)
  }
  const reason = response.headers.get('X-Waybook-Reason') ?? ''
  if (!response.ok || reason) throw new CallFailure(reason || 'NO_REPLY', body?.info ?? `HTTP ${response.status}`, response.status)
}

export interface CookieParts {
  id: string
  idrand: string
}

/**
 * Reads a cookie as people copy it: `id=…; idrand=…`, with or without `Cookie:`, quotes and other parts,
 * in any order, or as the elements of a reply. The last part of a name counts. It returns null if one is
 * missing.
 */
export function parseCookie(text: string): CookieParts | null {
  const last = (pattern: RegExp) => [...text.matchAll(pattern)].at(-1)?.[1]
  const id = last(/(?<![\w-])id["']?(?:\s*[=:]\s*|>)["']?(\d{1,16})(?!\w)/g)
  const idrand = last(/(?<![\w-])idrand["']?(?:\s*[=:]\s*|>)["']?([0-9a-f]{32})(?!\w)/g)
  return id && idrand ? { id, idrand } : null
}
