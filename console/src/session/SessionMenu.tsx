// The button that shows who is logged in, and its dialog.

import { signal } from '@preact/signals'
import { createRef } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { CallFailure } from '../api'
import { findOperation } from '../description'
import { failureText } from '../failures'
import { askSession, logIn, logOut, parseCookie, session, takeCookie } from './session'
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
        {now.state === 'open' ? text('open', { user: now.user }) : text(now.state)}
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
  const [failure, setFailure] = useState<CallFailure | string>()
  const [isBusy, setBusy] = useState(false)
  const now = session.value
  const attempt = async (action: () => Promise<void>, isDone: boolean) => {
    setBusy(true)
    setFailure(undefined)
    try {
      await action()
      if (isDone) close()
    } catch (error) {
      setFailure(error instanceof CallFailure ? error : String(error))
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
      {now.state === 'open' && <UserLinks user={now.user} close={close} />}
      {now.state !== 'none' && (
        <button type="button" disabled={isBusy} onClick={() => void attempt(logOut, false)} data-testid="logout">
          {text('logOut')}
        </button>
      )}
      {failure && <FailureNote failure={failure} />}
      {findOperation('login') && <LoginForm isBusy={isBusy} attempt={action => void attempt(action, true)} />}
      <CookieForm isBusy={isBusy} attempt={action => void attempt(action, true)} fail={setFailure} />
    </div>
  )
}

function UserLinks({ user, close }: { user: string; close: () => void }) {
  const lists = [['getUserAlbumList', text('albums')], ['getUserBlogList', text('entries')]] as const
  return (
    <p class="session-links">
      {lists.map(([func, title]) =>
        findOperation(func) ? (
          <a key={func} href={`#/explore/${func}?userID=${user}`} onClick={close}>
            {title}
          </a>
        ) : null,
      )}
    </p>
  )
}

function FailureNote({ failure }: { failure: CallFailure | string }) {
  if (typeof failure === 'string') {
    return (
      <p class="note bad" role="alert">
        {failure}
      </p>
    )
  }
  const { meaning, action } = failureText(failure.reason, failure.info)
  return (
    <p class="note bad" role="alert" data-testid="session-failure">
      <strong>{failure.info}</strong> {meaning} {action}
    </p>
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
      <h3>{text('logInTitle')}</h3>
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

function CookieForm(props: { isBusy: boolean; attempt: (action: () => Promise<void>) => void; fail: (cause: string) => void }) {
  const cookie = useRef<HTMLInputElement>(null)
  const submit = (event: Event) => {
    event.preventDefault()
    const parts = parseCookie(cookie.current!.value)
    if (!parts) props.fail(text('noCookie'))
    else props.attempt(() => takeCookie(parts))
  }
  return (
    <form class="session-form" onSubmit={submit} data-testid="cookie-form">
      <h3>{text('cookieTitle')}</h3>
      <label>
        {text('cookie')}
        <input ref={cookie} type="password" autocomplete="off" spellcheck={false} required aria-describedby="cookie-hint" data-testid="cookie" />
      </label>
      <p id="cookie-hint" class="hint">
        {text('cookieHint')}
      </p>
      <button type="submit" disabled={props.isBusy} data-testid="cookie-send">
        {text('useCookie')}
      </button>
    </form>
  )
}
