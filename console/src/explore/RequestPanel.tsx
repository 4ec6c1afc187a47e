import { signal } from '@preact/signals'
import { description, type Operation } from '../description'
import { prepare, type SentRequest } from '../api'
import type { Pair } from '../form'
import { CopyButton } from '../shell/CopyButton'
import { Tabs } from '../shell/Tabs'
import { programs, type Program } from '../snippets/programs'
import { snippetParameters, variablesOf, type Snippet } from '../snippets/snippet'
import { Code } from './Code'
import { Message } from './HTTPMessage'
import { isSecret, parametersOf } from './state'
import { formOf } from './store'
import { text } from './words'

const chosen = signal<string>('HTTP')

/** The request that the form would send, and programs that send it. */
export function RequestPanel({ operation }: { operation: Operation }) {
  const parameters = parametersOf(operation, formOf(operation))
  const snippet = snippetOf(operation, parameters)
  const program = chosen.value === 'HTTP' ? null : programs[chosen.value as Program]
  const tabs = [
    { name: 'HTTP', title: text('HTTP'), content: () => <Preview operation={operation} parameters={parameters} /> },
    ...(Object.keys(programs) as Program[]).map(name => ({ name, title: name, content: () => <ProgramText snippet={snippet} program={name} /> })),
  ]
  return (
    <section class="card exchange-card" aria-labelledby="request-title" data-testid="request">
      <div class="card-head">
        <h2 id="request-title">{text('request')}</h2>
      </div>
      <Tabs
        id="request"
        label={text('request')}
        tabs={tabs}
        chosen={chosen.value}
        choose={name => (chosen.value = name)}
        end={program && <CopyButton value={() => program(snippet)} testid="copy-program" />}
      />
    </section>
  )
}

function snippetOf(operation: Operation, parameters: readonly Pair[]): Snippet {
  const form = formOf(operation)
  return {
    url: new URL(description().paths.api, location.href).href,
    method: form.method,
    parameters: snippetParameters(parameters, name => isSecret(name)),
    hasCookie: operation.login || operation.func === 'logout',
  }
}

function Preview({ operation, parameters }: { operation: Operation; parameters: readonly Pair[] }) {
  const form = formOf(operation)
  const shown = parameters.map(hideSecret)
  const request: SentRequest = prepare({ method: form.method, parameters: shown })
  return <Message request={request} length={request.body.length} parameters={shown} notes={[]} />
}

/** Returns the parameter, with dots in place of a secret. */
export function hideSecret([name, value]: Pair): Pair {
  return [name, isSecret(name) ? '•'.repeat(Math.min(value.length, 8)) : value]
}

function ProgramText({ snippet, program }: { snippet: Snippet; program: Program }) {
  const variables = variablesOf(snippet)
  return (
    <>
      {variables.length > 0 && (
        <p class="hint panel-note">
          {text('variables', { names: variables.join(', ') })} {variables.includes('COOKIE') && text('variableCookie')}
        </p>
      )}
      <Code label={program} testid="program">
        {programs[program](snippet)}
      </Code>
    </>
  )
}
