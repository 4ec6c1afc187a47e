import type { Operation, Parameter } from '../description'
import { dateOf } from '../dates'
import { Field } from './Field'
import { changeForm, formOf } from './store'
import { text } from './words'

/** Says whether a parameter is a part of a date. */
export function isDatePart({ name }: Parameter): boolean {
  return name === 'year' || name === 'month' || name === 'day'
}

/** Says whether the date is that from which an entry is listed, not one to search by. */
function isPlanned({ func }: Operation): boolean {
  return func === 'postBlog' || func === 'updateBlog'
}

/** Year, month and day side by side, with the browser's calendar, which fills all three. */
export function DateFields(props: { operation: Operation; parameters: readonly Parameter[]; faults: Map<string, string> }) {
  const { operation } = props
  const { year = '', month = '', day = '' } = formOf(operation).values
  const whole = dateOf(year, month, day)
  const pick = (picked: string) => {
    const [y, m, d] = picked.split('-').map(each => String(Number(each)))
    if (y && m && d) changeForm(operation, { values: { ...formOf(operation).values, year: y, month: m, day: d } })
  }
  return (
    <fieldset class="wide date-fields">
      <legend>{text('date')}</legend>
      <div class="date-parts">
        {props.parameters.map(each => (
          <Field key={each.name} operation={operation} parameter={each} fault={props.faults.get(each.name)} />
        ))}
        <div class="field">
          <label for="pick-date">
            <span class="field-title">{text('pickDate')}</span>
          </label>
          <input id="pick-date" type="date" value={whole} onInput={event => pick(event.currentTarget.value)} data-testid="pick-date" />
        </div>
      </div>
      {isPlanned(operation) && <p class="hint">{text('unlisted')}</p>}
    </fieldset>
  )
}
