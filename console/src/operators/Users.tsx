// Users: find them, disable and enable them, close one or all of their sessions, export what Waybook holds of them.

import { useState } from 'preact/hooks'
import { buildHash, go, route } from '../router'
import { useLoaded } from './api'
import { Facts, FailureNote, Loading, Table, timeOf } from './parts'
import { text } from './words'

interface User {
  user_id: number
  name: string
  email?: string
  create_time?: string
  has_password?: boolean
  disabled?: boolean
}

interface Session {
  session_id: string
  create_time?: string
  last_used_time?: string
  expire_time?: string
}

export function UsersPage() {
  const wanted = route.value.query.get('find') ?? ''
  const { value, failure } = useLoaded<{ users: User[]; has_more: boolean }>(`users?find=${encodeURIComponent(wanted)}`)
  const find = (event: SubmitEvent) => {
    event.preventDefault()
    const typed = new FormData(event.currentTarget as HTMLFormElement).get('find')
    go(buildHash(['users'], new URLSearchParams(typed ? { find: String(typed) } : {})))
  }
  return (
    <>
      <h1>{text('users')}</h1>
      <form class="operators-find" role="search" onSubmit={find}>
        <label>
          {text('findLabel')}
          <input key={wanted} name="find" defaultValue={wanted} maxLength={254} autocomplete="off" spellcheck={false} />
        </label>
        <button class="primary" type="submit">
          {text('find')}
        </button>
      </form>
      <FailureNote failure={failure} />
      {!value && !failure && <Loading />}
      {value?.users.length === 0 && <p class="soft">{text('noUsers')}</p>}
      {value && value.users.length > 0 && (
        <Table label={text('users')} testid="users" heads={[text('name'), text('email'), text('id'), text('created'), text('state')]}>
          {value.users.map(each => (
            <tr key={each.user_id}>
              <th scope="row">
                <a href={`#/users/${each.user_id}`}>{each.name || text('noName')}</a>
              </th>
              <td>{each.email}</td>
              <td>{each.user_id}</td>
              <td class="whole">{timeOf(each.create_time)}</td>
              <td>
                <State user={each} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      {value?.has_more && <p class="soft small">{text('moreUsers', { count: value.users.length })}</p>}
    </>
  )
}

function State({ user }: { user: User }) {
  return <span class={`tag ${user.disabled ? 'bad' : 'good'}`}>{text(user.disabled ? 'disabled' : 'enabled')}</span>
}

export function UserPage({ id }: { id: string }) {
  const { value, failure, change } = useLoaded<{ user: User; sessions: Session[]; has_more: boolean }>(`users/${encodeURIComponent(id)}`)
  const [isBusy, setBusy] = useState(false)
  const act = async (action: string) => {
    setBusy(true)
    await change(`users/${encodeURIComponent(id)}/${action}`)
    setBusy(false)
  }
  return (
    <>
      <p>
        <a href="#/users">{text('allUsers')}</a>
      </p>
      <div class="operators-head">
        <h1>{value ? value.user.name || text('noName') : text('userOf', { id })}</h1>
        {value && <State user={value.user} />}
      </div>
      <FailureNote failure={failure} />
      {!value && !failure && <Loading />}
      {value && (
        <>
          <Facts
            facts={[
              [text('id'), value.user.user_id],
              [text('email'), value.user.email],
              [text('created'), timeOf(value.user.create_time)],
              [text('password'), text(value.user.has_password ? 'hasPassword' : 'noPassword')],
            ]}
          />
          <div class="operators-actions">
            {value.user.disabled ? (
              <button type="button" disabled={isBusy} onClick={() => void act('enable')}>
                {text('enable')}
              </button>
            ) : (
              <Confirmed label={text('disable')} question={text('disableQuestion')} yes={text('disableYes')} isBusy={isBusy} act={() => act('disable')} />
            )}
            <a class="button" href={`users/${value.user.user_id}/export`} download>
              {text('export')}
            </a>
          </div>
          <p class="hint">{text('exportHint')}</p>
          <section>
            <div class="operators-head">
              <h2>{text('sessions')}</h2>
              {value.sessions.length > 0 && (
                <Confirmed
                  label={text('closeSessions')}
                  question={text('closeQuestion')}
                  yes={text('closeYes')}
                  isBusy={isBusy}
                  act={() => act('close-sessions')}
                />
              )}
            </div>
            {value.sessions.length === 0 ? (
              <p class="soft">{text('noSessions')}</p>
            ) : (
              <Table label={text('sessions')} testid="sessions" heads={[text('session'), text('opened'), text('lastUsed'), text('expires'), text('close')]}>
                {value.sessions.map(each => (
                  <tr key={each.session_id}>
                    <th scope="row">
                      <code>{each.session_id}</code>
                    </th>
                    <td class="whole">{timeOf(each.create_time)}</td>
                    <td class="whole">{timeOf(each.last_used_time) || text('notKept')}</td>
                    <td class="whole">{timeOf(each.expire_time)}</td>
                    <td>
                      <Confirmed
                        label={text('closeSession')}
                        question={text('closeOneQuestion')}
                        yes={text('closeYes')}
                        isBusy={isBusy}
                        act={() => act(`sessions/${each.session_id}/close`)}
                      />
                    </td>
                  </tr>
                ))}
              </Table>
            )}
            {value.has_more && <p class="soft small">{text('moreSessions', { count: value.sessions.length })}</p>}
          </section>
        </>
      )}
    </>
  )
}

/** A button that asks before it acts. */
function Confirmed(props: { label: string; question: string; yes: string; isBusy: boolean; act: () => Promise<void> }) {
  const [isAsking, ask] = useState(false)
  if (!isAsking) {
    return (
      <button type="button" disabled={props.isBusy} onClick={() => ask(true)}>
        {props.label}
      </button>
    )
  }
  const act = async () => {
    await props.act()
    ask(false)
  }
  return (
    <div class="note warn operators-actions" role="group" aria-label={props.label}>
      {props.question}
      <button type="button" disabled={props.isBusy} onClick={() => void act()}>
        {props.yes}
      </button>
      <button type="button" disabled={props.isBusy} onClick={() => ask(false)}>
        {text('cancel')}
      </button>
    </div>
  )
}
