import type { Method } from '../api'
import type { Operation } from '../description'
import { Segments } from '../shell/Segments'
import { canSign } from './sign'
import type { Format } from './state'
import { changeForm, formOf, signingSecret } from './store'
import { text } from './words'

/** How the request is sent: method, format of the reply, signature. */
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
      <label class="check">
        <input
          type="checkbox"
          checked={form.signed}
          disabled={!canSign()}
          onChange={event => changeForm(operation, { signed: event.currentTarget.checked })}
          aria-describedby="sign-hint"
          data-testid="sign"
        />
        {text('sign')}
      </label>
      <p id="sign-hint" class="hint">
        {text(canSign() ? 'signHint' : 'cannotSign')}
      </p>
      {form.signed && <Signer operation={operation} keyName={form.key} />}
    </fieldset>
  )
}

function Signer({ operation, keyName }: { operation: Operation; keyName: string }) {
  return (
    <div class="fields">
      <div class="field wide">
        <label for="sign-key">
          <span class="field-title">{text('key')}</span>
          <code>key</code>
        </label>
        <input
          id="sign-key"
          type="text"
          value={keyName}
          spellcheck={false}
          onInput={event => changeForm(operation, { key: event.currentTarget.value })}
          data-testid="sign-key"
        />
      </div>
      <div class="field wide">
        <label for="sign-secret">
          <span class="field-title">{text('secret')}</span>
        </label>
        <input
          id="sign-secret"
          type="password"
          autocomplete="off"
          value={signingSecret.value}
          onInput={event => (signingSecret.value = event.currentTarget.value)}
          aria-describedby="secret-hint"
          data-testid="sign-secret"
        />
        <p id="secret-hint" class="hint">
          {text('secretHint')}
        </p>
      </div>
    </div>
  )
}
