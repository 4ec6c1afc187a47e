import { useRef } from 'preact/hooks'
import type { Operation, Parameter } from '../description'
import { operationTitle } from '../names'
import { CopyButton } from '../shell/CopyButton'
import { child } from '../reply/tree'
import { openSession } from '../session/SessionMenu'
import { session } from '../session/session'
import { faultsOf } from './check'
import { DateFields, isDatePart } from './DateFields'
import { Field } from './Field'
import { FurtherParameters } from './FurtherParameters'
import { changeForm, clearForm, formOf, hashOf, result, sendForm } from './store'
import { TransportOptions } from './TransportOptions'
import { text } from './words'

export function OperationForm({ operation }: { operation: Operation }) {
  const form = useRef<HTMLFormElement>(null)
  const now = result.value?.of
  const isSending = now?.state === 'sending'
  const state = formOf(operation)
  const submit = (event: Event) => {
    event.preventDefault()
    void sendForm(operation)
  }
  const isDeletion = operation.variant === 'delete'
  return (
    <form
      ref={form}
      class="operation-form card"
      aria-labelledby="operation-title"
      autocomplete="off"
      noValidate
      onSubmit={submit}
      onKeyDown={event => event.key === 'Enter' && (event.ctrlKey || event.metaKey) && submit(event)}
      data-testid="form"
    >
      <FormHead operation={operation} />
      <div class="form-body">
        <ParameterFields operation={operation} faults={faults()} />
        <FurtherParameters extras={state.extras} change={extras => changeForm(operation, { extras })} />
        <TransportOptions operation={operation} />
        {operation.login && session.value.state !== 'open' && <LoginNote />}
      </div>
      <div class="form-foot">
        <div class="form-buttons">
          {isSending ? (
            <button type="button" class="primary" onClick={now.stop} data-testid="cancel">
              {text('cancel')}
            </button>
          ) : (
            <button type="submit" class={isDeletion ? 'primary danger' : 'primary'} title={text('sendHint')} data-testid="send">
              {text(isDeletion ? 'sendDelete' : 'send')}
            </button>
          )}
          <CopyButton label={text('copyLink')} value={() => location.href.replace(/#.*/, '') + hashOf(operation)} testid="copy-link" />
          <button type="button" class="plain" onClick={() => clearForm(operation)} data-testid="clear">
            {text('clear')}
          </button>
        </div>
      </div>
    </form>
  )
}

function FormHead({ operation }: { operation: Operation }) {
  return (
    <div class="form-head">
      <h1 id="operation-title">{operationTitle(operation)}</h1>
      <p class="form-tags">
        <code>{operation.func}</code>
        <span class={`tag ${operation.effect}`}>{text(operation.effect)}</span>
        {operation.login && (
          <span class="tag" title={text('needsLoginHint')}>
            {text('needsLogin')}
          </span>
        )}
        {operation.addition && (
          <span class="tag" title={text('additionHint')}>
            {text('addition')}
          </span>
        )}
      </p>
    </div>
  )
}

/** Returns what the shown reply says of each parameter. */
function faults(): Map<string, string> {
  const now = result.value?.of
  if (now?.state !== 'done' || !now.parsed?.root) return new Map()
  return faultsOf(child(now.parsed.root, 'info')?.value ?? '')
}

function ParameterFields({ operation, faults }: { operation: Operation; faults: Map<string, string> }) {
  const all = operation.parameters ?? []
  const required = all.filter(each => each.required)
  const optional = all.filter(each => !each.required)
  const fixed = Object.entries(operation.fixed ?? {})
  return (
    <>
      {fixed.length > 0 && (
        <p class="small soft">
          {text('fixed')}: <code>{fixed.map(pair => pair.join('=')).join('&')}</code>
        </p>
      )}
      {all.length === 0 && <p class="soft">{text('noParameters')}</p>}
      {required.length > 0 && <FieldGrid operation={operation} parameters={required} faults={faults} />}
      {optional.length > 0 && (
        <fieldset>
          <legend>{text('optional')}</legend>
          <FieldGrid operation={operation} parameters={optional} faults={faults} />
        </fieldset>
      )}
    </>
  )
}

function FieldGrid(props: { operation: Operation; parameters: readonly Parameter[]; faults: Map<string, string> }) {
  const { operation, parameters, faults } = props
  const date = parameters.filter(isDatePart)
  const isDate = date.length === 3
  return (
    <div class="fields">
      {parameters.map(each => {
        if (isDate && isDatePart(each)) return each.name === 'year' ? <DateFields key="date" operation={operation} parameters={date} faults={faults} /> : null
        return <Field key={each.name} operation={operation} parameter={each} fault={faults.get(each.name)} />
      })}
    </div>
  )
}

function LoginNote() {
  return (
    <p class="note warn">
      {text('notLoggedIn')}{' '}
      <button type="button" class="link" onClick={openSession} data-testid="log-in">
        {text('logIn')}
      </button>
    </p>
  )
}
