import type { Method } from '../api'
import type { Operation } from '../description'
import { Segments } from '../shell/Segments'
import type { Format } from './state'
import { changeForm, formOf } from './store'
import { text } from './words'

/** How the request is sent: method and format of the reply. */
export function TransportOptions({ operation }: { operation: Operation }) {
  const form = formOf(operation)
  const isWrite = operation.effect === 'write'
  return (
    <fieldset class="transport">
      <legend>{text('transport')}</legend>
      <div class="transport-row">
        <Segments<Method>
          name="method"
          label={text('method')}
          options={['GET', 'POST']}
          disabled={isWrite ? ['GET'] : []}
          hint={isWrite ? text('onlyPost') : undefined}
          value={form.method}
          choose={method => changeForm(operation, { method })}
        />
        <Segments<Format> name="format" label={text('format')} options={['XML', 'JSON']} value={form.format} choose={format => changeForm(operation, { format })} />
      </div>
    </fieldset>
  )
}
