import { session } from '../session/session'

/** Returns the identifier of the logged-in user, or '' as far as the page knows of none. */
export function userOfSession(): string {
  return session.value.state === 'open' ? session.value.user : ''
}
