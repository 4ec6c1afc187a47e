import './account.css'

import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'

import { call } from '../api'
import { findOperation } from '../description'
import { acceptedFormats, callWithFile, mostFileBytes } from '../files'
import { Press } from '../read/Actions'
import { personOfUser, useLoaded } from '../read/load'
import type { Person } from '../read/model'
import { Icon } from '../read/Photos'
import { buildHash } from '../router'
import { logIn, registration, session } from '../session/session'
import { openSession } from '../session/SessionMenu'
import { Failure } from '../shell/Failure'
import { text } from './words'

/** The account of the user of the session, or a form to create one. */
export default function AccountView() {
  const now = session.value
  return (
    <div class="account" data-testid="account">
      <h1>{text(now.state === 'open' ? 'title' : 'register')}</h1>
      {now.state === 'open' ? <Settings key={now.user} user={now.user} /> : <Register />}
    </div>
  )
}

function Register() {
  return (
    <>
      <p>
        {text('haveOne')}{' '}
        <button type="button" onClick={openSession} data-testid="account-login">
          {text('logIn')}
        </button>
      </p>
      {findOperation('register') && registration.value !== 'closed' ? (
        <Form
          name="register"
          send={text('register')}
          run={async ({ email = '', nickname, password = '', invitation }) => {
            await call(
              'register',
              { email, nickname, password, invitation: invitation || undefined },
              { method: 'POST' },
            )
            await logIn(email, password)
          }}
        >
          <Field
            name="email"
            label={text('email')}
            hint={text('emailHint')}
            type="email"
            autocomplete="username"
            required
          />
          <Field
            name="nickname"
            label={text('nickname')}
            hint={text('nicknameHint')}
            autocomplete="nickname"
            maxLength={100}
            required
          />
          <Field
            name="password"
            label={text('password')}
            hint={text('passwordHint')}
            type="password"
            autocomplete="new-password"
            minLength={8}
            required
          />
          {registration.value !== 'open' && (
            <Field
              name="invitation"
              label={text('invitation')}
              hint={text('invitationHint')}
              autocomplete="off"
              required={registration.value === 'invite'}
            />
          )}
        </Form>
      ) : (
        <p class="soft">{text('registerOff')}</p>
      )}
    </>
  )
}

function Settings({ user }: { user: string }) {
  const { loaded } = useLoaded(user, signal => personOfUser(user, signal))
  return (
    <>
      <p>
        <a href={buildHash(['read', 'user', user])}>{text('mine')}</a>
      </p>
      {findOperation('updateProfile') && loaded.state !== 'loading' && (
        <Profile person={loaded.state === 'ready' ? loaded.value : undefined} />
      )}
      {findOperation('changePassword') && (
        <section aria-labelledby="account-password">
          <h2 id="account-password">{text('passwordTitle')}</h2>
          <Form
            name="password"
            send={text('changePassword')}
            done={text('passwordChanged')}
            run={({ oldPassword, newPassword }) =>
              call('changePassword', { oldPassword, newPassword }, { method: 'POST' })
            }
          >
            <Field
              name="oldPassword"
              label={text('oldPassword')}
              type="password"
              autocomplete="current-password"
              required
            />
            <Field
              name="newPassword"
              label={text('newPassword')}
              hint={text('passwordHint')}
              type="password"
              autocomplete="new-password"
              minLength={8}
              required
            />
          </Form>
        </section>
      )}
      {findOperation('getSessionList') && <Sessions />}
    </>
  )
}

interface SessionReply {
  sessionID: string
  opened?: string
  used?: string
  current?: number
}

/** The open sessions of the user, and a button that ends all but this one. */
function Sessions() {
  const { loaded, reload } = useLoaded('sessions', signal =>
    call<{ sessionList?: SessionReply[] }>('getSessionList', {}, { signal }),
  )
  const list = loaded.state === 'ready' ? (loaded.value.sessionList ?? []) : []
  return (
    <section aria-labelledby="account-sessions">
      <h2 id="account-sessions">{text('sessions')}</h2>
      {loaded.state === 'failed' && <Failure error={loaded.error} retry={reload} />}
      <ul data-testid="sessions">
        {list.map(each => (
          <li key={each.sessionID}>
            {each.current ? text('thisSession') : text('otherSession')}{' '}
            <span class="soft small">
              {each.opened && text('since', { time: each.opened })}
              {each.used && ` · ${text('lastUsed', { time: each.used })}`}
            </span>
          </li>
        ))}
      </ul>
      {list.length > 1 && findOperation('closeOtherSessions') && (
        <Press
          label={text('closeOthers')}
          run={async () => void (await call('closeOtherSessions', {}, { method: 'POST' }))}
          done={reload}
          testid="close-others"
        />
      )}
    </section>
  )
}

/**
 * The nickname and the icon. The service tells them only with something that the user made. What is not changed is
 * not sent.
 */
function Profile({ person }: { person: Person | undefined }) {
  const known = useRef({ nickname: person?.name ?? '', icon: person?.icon ?? '' })
  const [picture, setPicture] = useState(known.current.icon)
  const takesFiles = mostFileBytes() > 0
  return (
    <section aria-labelledby="account-profile">
      <h2 id="account-profile">{text('profile')}</h2>
      <Form
        name="profile"
        send={text('save')}
        done={text('saved')}
        run={async ({ nickname = '', icon = known.current.icon }, file) => {
          const { current } = known
          const changed = { nickname: nickname === current.nickname ? undefined : nickname || undefined }
          if (file) {
            await callWithFile('updateProfile', changed, 'icon', file)
            setPicture(await dataURL(file))
          } else {
            const address = icon === current.icon ? undefined : icon
            await call('updateProfile', { ...changed, icon: address }, { method: 'POST' })
          }
          known.current = { nickname, icon }
        }}
      >
        <Field
          name="nickname"
          label={text('nickname')}
          hint={text('nicknameHint')}
          autocomplete="nickname"
          maxLength={100}
          value={person?.name}
        />
        {takesFiles ? (
          <label>
            {text('icon')}
            <span class="account-icon">
              <Icon name={known.current.nickname} address={picture} />
              <input type="file" name="file" accept={acceptedFormats} aria-describedby="hint-icon" data-testid="account-icon" />
            </span>
            <span id="hint-icon" class="hint">
              {text('iconHint')}
            </span>
          </label>
        ) : (
          <Field
            name="icon"
            label={text('iconAddress')}
            hint={text('iconAddressHint')}
            autocomplete="off"
            maxLength={2000}
            value={person?.icon}
          />
        )}
      </Form>
      {takesFiles && picture !== '' && (
        <Press
          plain
          label={text('removeIcon')}
          confirm={text('removeForGood')}
          run={async () => void (await call('updateProfile', { icon: '' }, { method: 'POST' }))}
          done={() => setPicture('')}
          testid="remove-icon"
        />
      )}
    </section>
  )
}

/** Returns a file as an address that the page may show. */
function dataURL(file: File): Promise<string> {
  const reader = new FileReader()
  return new Promise((resolve, reject) => {
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(file)
  })
}

interface FieldProps {
  name: string
  label: string
  hint?: string
  type?: 'text' | 'email' | 'password'
  autocomplete: 'username' | 'nickname' | 'current-password' | 'new-password' | 'off'
  required?: boolean
  minLength?: number
  maxLength?: number
  value?: string | undefined
}

function Field({ name, label, hint, type = 'text', value, ...more }: FieldProps) {
  return (
    <label>
      {label}
      <input
        name={name}
        type={type as 'text'}
        defaultValue={value}
        aria-describedby={hint && `hint-${name}`}
        {...more}
        data-testid={`account-${name}`}
      />
      {hint && (
        <span id={`hint-${name}`} class="hint">
          {hint}
        </span>
      )}
    </label>
  )
}

/** A form whose fields `run` gets by their names, and its file. It says `done` afterwards, or why it failed. */
function Form(props: {
  name: string
  send: string
  done?: string
  run: (values: Record<string, string | undefined>, file: File | undefined) => Promise<unknown>
  children: ComponentChildren
}) {
  const [state, setState] = useState<'ready' | 'busy' | 'done' | { error: unknown }>('ready')
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const values = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]))
    const file = form.querySelector<HTMLInputElement>('[type="file"]')?.files?.[0]
    setState('busy')
    props.run(values, file).then(
      () => {
        for (const each of form.querySelectorAll<HTMLInputElement>('[type="password"], [type="file"]')) each.value = ''
        setState('done')
      },
      (error: unknown) => setState({ error }),
    )
  }
  return (
    <form class="account-form" onSubmit={submit} data-testid={`${props.name}-form`}>
      {props.children}
      <button class="primary" type="submit" disabled={state === 'busy'} data-testid={`${props.name}-send`}>
        {props.send}
      </button>
      {state === 'done' && props.done && <output data-testid={`${props.name}-done`}>{props.done}</output>}
      {typeof state === 'object' && <Failure error={state.error} testid={`${props.name}-failure`} />}
    </form>
  )
}
