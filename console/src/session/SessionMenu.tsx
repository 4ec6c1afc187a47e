// The button that shows who is logged in, and its dialog.

import { signal } from '@preact/signals'
import { createRef } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { findOperation } from '../description'
import { buildHash } from '../router'
import { Failure } from '../shell/Failure'
import { askSession, logIn, logOut, parseCookie, registration, session, takeCookie } from './session'
import { text } from './words'

const isOpen = signal(false)
const dialog = createRef<HTMLDialogElement>()

/** Opens the dialog of the session, also if it has closed and its close event is still to come. */
export function openSession(): void {
  if (isOpen.value && !dialog.current?.open) dialog.current?.showModal()
  isOpen.value = true
}

export function SessionMenu() {
  const now = session.value
  useEffect(() => void askSession(), [])
  return (
    <>
      <button class="session-button" type="button" aria-haspopup="dialog" onClick={openSession} data-testid="session" data-state={now.state}>
        <span class={`dot ${now.state}`} aria-hidden="true" />
        {now.state === 'open' ? (
          <>
            <span class="session-user">{text('open', { user: now.user })}</span>
            <span class="session-short" aria-hidden="true">
              {text('short')}
            </span>
          </>
        ) : (
          text(now.state)
        )}
      </button>
      <SessionDialog />
    </>
  )
}

function SessionDialog() {
  useEffect(() => {
    if (isOpen.value && !dialog.current?.open) dialog.current?.showModal()
    if (!isOpen.value && dialog.current?.open) dialog.current.close()
  }, [isOpen.value])
  return (
    <dialog
      ref={dialog}
      class="session-dialog"
      aria-labelledby="session-title"
      onClose={event => (isOpen.value = event.currentTarget.open)}
      onClick={event => event.target === event.currentTarget && event.currentTarget.close()}
      data-testid="session-dialog"
    >
      {isOpen.value && <SessionContent close={() => (isOpen.value = false)} />}
    </dialog>
  )
}

function SessionContent({ close }: { close: () => void }) {
  const [failure, setFailure] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const now = session.value
  const attempt = async (action: () => Promise<void>, isDone: boolean) => {
    setBusy(true)
    setFailure(undefined)
    try {
      await action()
      if (isDone) close()
    } catch (error) {
      setFailure(error)
    }
    setBusy(false)
  }
  return (
    <div class="session-content">
      <div class="dialog-head">
        <h2 id="session-title">{text('session')}</h2>
        <button class="plain" type="button" onClick={close} data-testid="session-close">
          {text('close')}
        </button>
      </div>
      <p role="status" data-testid="session-state">
        {now.state === 'open' ? text('openLong', { user: now.user }) : text(now.state === 'none' ? 'noneLong' : 'unknownLong')}
      </p>
      {now.state === 'open' && (
        <p class="session-links">
          <a href={buildHash(['read', 'user', now.user])} onClick={close} data-testid="session-mine">
            {text('mine')}
          </a>{' '}
          {(findOperation('updateProfile') || findOperation('changePassword')) && (
            <a href="#/account" onClick={close} data-testid="session-account">
              {text('account')}
            </a>
          )}
        </p>
      )}
      {now.state === 'open' && (
        <button type="button" disabled={isBusy} onClick={() => void attempt(logOut, false)} data-testid="logout">
          {text('logOut')}
        </button>
      )}
      {failure !== undefined && <Failure error={failure} testid="session-failure" />}
      {now.state !== 'open' && findOperation('login') && <LoginForm isBusy={isBusy} attempt={action => void attempt(action, true)} />}
      {now.state !== 'open' && findOperation('register') && registration.value !== 'closed' && (
        <p>
          {text('noAccount')}{' '}
          <a href="#/account" onClick={close} data-testid="session-register">
            {text('register')}
          </a>
        </p>
      )}
      <CookieForm isBusy={isBusy} attempt={action => void attempt(action, true)} />
    </div>
  )
}

function LoginForm({ isBusy, attempt }: { isBusy: boolean; attempt: (action: () => Promise<void>) => void }) {
  const email = useRef<HTMLInputElement>(null)
  const password = useRef<HTMLInputElement>(null)
  const submit = (event: Event) => {
    event.preventDefault()
    attempt(() => logIn(email.current!.value, password.current!.value))
  }
  return (
    <form class="session-form" onSubmit={submit} data-testid="login-form">
      <label>
        {text('email')}
        <input ref={email} type="text" inputMode="email" autocomplete="username" required data-testid="login-email" />
      </label>
      <label>
        {text('password')}
        <input ref={password} type="password" autocomplete="current-password" required data-testid="login-password" />
      </label>
      <button class="primary" type="submit" disabled={isBusy} data-testid="login-send">
        {text('logIn')}
      </button>
    </form>
  )
}

function CookieForm(props: { isBusy: boolean; attempt: (action: () => Promise<void>) => void }) {
  const cookie = useRef<HTMLInputElement>(null)
  const [isInvalid, setInvalid] = useState(false)
  const submit = (event: Event) => {
    event.preventDefault()
    const parts = parseCookie(cookie.current!.value)
    setInvalid(!parts)
    if (parts) props.attempt(() => takeCookie(parts))
  }
  return (
    <details class="session-cookie">
      <summary data-testid="cookie-fold">{text('cookieTitle')}</summary>
      <form class="session-form" onSubmit={submit} data-testid="cookie-form">
        <label>
          {text('cookie')}
          <input ref={cookie} type="password" autocomplete="off" spellcheck={false} required aria-invalid={isInvalid} aria-describedby="cookie-hint" data-testid="cookie" />
        </label>
        <p id="cookie-hint" class="hint" role={isInvalid ? 'alert' : undefined}>
          {text(isInvalid ? 'noCookie' : 'cookieHint')}
        </p>
        <button type="submit" disabled={props.isBusy} data-testid="cookie-send">
          {text('useCookie')}
        </button>
      </form>
    </details>
  )
}
