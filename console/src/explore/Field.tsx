import type { TargetedEvent } from 'preact'
import type { Operation, Parameter } from '../description'
import { inLanguage } from '../categories'
import { language } from '../i18n'
import { parameterTitle } from '../names'
import { session } from '../session/session'
import { check, type Fault } from './check'
import { suggestionsFor } from './seen'
import { changeValue, formOf } from './store'
import { text } from './words'

/** The field of a parameter. */
export function Field(props: { operation: Operation; parameter: Parameter; fault?: string | undefined }) {
  const { operation, parameter } = props
  const { name } = parameter
  const value = formOf(operation).values[name] ?? ''
  const warning = check(parameter, value)
  const hint = hintOf(parameter)
  const describedBy = [hint && `hint-${name}`, (warning || props.fault) && `fault-${name}`].filter(Boolean).join(' ')
  const isWide = parameter.type === 'text' || parameter.type === 'password' || parameter.type === 'id' || (parameter.values?.length ?? 0) > 3
  return (
    <div class={isWide ? 'field wide' : 'field'}>
      <label for={`param-${name}`}>
        <span class="field-title">{parameterTitle(parameter)}</span>
        <code>{name}</code>
        {parameter.required && <span class="required">{text('required')}</span>}
      </label>
      <Input
        parameter={parameter}
        value={value}
        change={changed => changeValue(operation, name, changed)}
        describedBy={describedBy}
        isAtFault={warning !== null || props.fault !== undefined}
      />
      {hint && (
        <p id={`hint-${name}`} class="hint">
          {hint}
        </p>
      )}
      {(warning || props.fault) && (
        <p id={`fault-${name}`} class="fault" data-testid={`fault-${name}`}>
          {warning ? faultText(warning) : props.fault}
        </p>
      )}
    </div>
  )
}

interface InputProps {
  parameter: Parameter
  value: string
  change: (value: string) => void
  describedBy: string
  isAtFault: boolean
}

function Input({ parameter, value, change, describedBy, isAtFault }: InputProps) {
  const { name } = parameter
  const common = {
    id: `param-${name}`,
    name,
    value,
    'aria-describedby': describedBy || undefined,
    'aria-invalid': isAtFault || undefined,
    'aria-required': parameter.required || undefined,
    'data-testid': `param-${name}`,
  }
  if (parameter.values || parameter.type === 'boolean') return <Choice {...{ parameter, value, change, common }} />
  if (parameter.multiline) return <textarea {...common} rows={5} onInput={event => change(event.currentTarget.value)} />
  const onInput = (event: TargetedEvent<HTMLInputElement>) => change(event.currentTarget.value)
  if (parameter.type === 'password') return <input {...common} type="password" autocomplete="current-password" onInput={onInput} />
  const suggestions = suggestionsOf(parameter)
  const more = {
    inputMode: parameter.type === 'decimal' ? 'decimal' : parameter.type === 'text' ? undefined : 'numeric',
    autocomplete: name === 'email' ? 'username' : 'off',
    spellcheck: parameter.type === 'text' && name !== 'email',
    placeholder: parameter.default ? text('default', { value: parameter.default }) : undefined,
    onInput,
  } as const
  if (suggestions.length === 0) return <input {...common} {...more} type="text" />
  return (
    <>
      <input {...common} {...more} type="text" list={`list-${name}`} />
      <datalist id={`list-${name}`}>
        {suggestions.map(each => (
          <option key={each} value={each} />
        ))}
      </datalist>
    </>
  )
}

function Choice(props: { parameter: Parameter; value: string; change: (value: string) => void; common: object }) {
  const { parameter, value } = props
  const values: readonly { value: string; label?: string }[] = parameter.values ?? [{ value: 'true' }, { value: 'false' }]
  return (
    <select {...props.common} value={value} onChange={event => props.change(event.currentTarget.value)}>
      <option value="">{parameter.required ? text('choose') : emptyChoice(parameter)}</option>
      {value !== '' && !values.some(each => each.value === value) && <option value={value}>{value}</option>}
      {values.map(each => (
        <option key={each.value} value={each.value}>
          {optionText(each)}
        </option>
      ))}
    </select>
  )
}

/** The value that is sent, and what it means. */
function optionText({ value, label }: { value: string; label?: string }): string {
  const meaning = inLanguage(label || value)
  return meaning === value ? value : `${value}  ${meaning}`
}

function emptyChoice({ default: value }: Parameter): string {
  return value ? `${text('notSent')} ${text('default', { value })}` : text('notSent')
}

function suggestionsOf({ name }: Parameter): readonly string[] {
  const own = name === 'userID' && session.value.state === 'open' ? [session.value.user] : []
  return [...new Set([...own, ...suggestionsFor(name)])]
}

/** Returns the valid values. The service's own words are in English. */
function hintOf(parameter: Parameter): string {
  if (parameter.values || parameter.type === 'boolean') return ''
  if (language.value === 'en') return parameter.hint
  const { min, max, maxLength } = parameter
  if (min !== undefined && max !== undefined) return text(/\bor empty\b/.test(parameter.hint) ? 'rangeOrEmptyHint' : 'rangeHint', { min, max })
  if (maxLength && /characters/.test(parameter.hint)) return text('lengthHint', { max: maxLength })
  return parameter.hint
}

export function faultText(fault: Fault): string {
  switch (fault.kind) {
    case 'range':
      return text('range', { min: fault.min, max: fault.max })
    case 'long':
      return text('long', { length: fault.length, max: fault.max })
    default:
      return text(fault.kind)
  }
}
