// Who is logged in, as far as the page knows. It cannot read the cookie.

/** Returns the identifier of the logged-in user, or nothing. */
export function userOfSession(): string {
  return ''
}

export function isLoggedIn(): boolean {
  return userOfSession() !== ''
}
