// Moving in from an old service: how far an import on this machine is, or the result of the last one, and what is left.

import { numbers } from '../i18n'
import { useEvents, useLoaded, type Failure } from './api'
import { Facts, FailureNote, LiveHead, Table, timeOf } from './parts'
import { text } from './words'

interface Moves {
  journal: string
  import?: Import
  is_silent: boolean
  failure?: Failure
}

interface Import {
  began: string
  updated: string
  has_ended: boolean
  failure?: string
  stage: string
  unit: string
  done: number
  total: number
  per_second: number
  note?: string
  kinds: readonly { kind: Root; total: number; done: number; outcomes: Partial<Record<Outcome, number>> }[]
  problems: number
  refusals: number
  quotes_missing: number
}

type Root = 'user' | 'album' | 'entry' | 'landmark'

type Outcome = (typeof outcomes)[number]

const outcomes = ['created', 'updated', 'unchanged', 'different', 'left_out', 'deleted', 'refused'] as const

const wordOfOutcome = {
  created: 'moveCreated',
  updated: 'moveUpdated',
  unchanged: 'moveUnchanged',
  different: 'moveDifferent',
  left_out: 'moveLeftOut',
  deleted: 'moveDeleted',
  refused: 'moveRefused',
} as const

/** The stages of an import, as waybookctl move import names them. */
const wordOfStage = {
  reading: 'stageReading',
  comparing: 'stageComparing',
  importing: 'stageImporting',
  'reading what Waybook has': 'stagePruning',
} as const

export function MovesPage() {
  const { seen, isLost } = useEvents<Moves>('moves/events')
  const { value: old, failure } = useLoaded<Record<string, number>>('moves/old-passwords')
  const forms = Object.entries(old ?? {})
  return (
    <>
      <LiveHead title={text('moves')} isThere={seen !== undefined} isLost={isLost} />
      <FailureNote failure={seen?.failure} />
      {seen && !seen.failure && !seen.import && <p class="soft">{text('noImport', { journal: seen.journal })}</p>}
      {seen?.import && <ImportState import={seen.import} isSilent={seen.is_silent} />}
      <section>
        <h2>{text('passwordsLeft')}</h2>
        <FailureNote failure={failure} />
        {old && forms.length === 0 && <p class="soft">{text('noOldPasswords')}</p>}
        {forms.length > 0 && (
          <>
            <p>{text('oldPasswords')}</p>
            <Facts facts={forms.map(([form, count]) => [form, counted(count)] as const)} />
          </>
        )}
      </section>
    </>
  )
}

const counted = (value: number) => numbers.value.format(value)

function ImportState({ import: now, isSilent }: { import: Import; isSilent: boolean }) {
  const isRunning = !now.has_ended && !isSilent
  const state = isRunning ? 'moveRunning' : isSilent ? 'moveSilent' : now.failure ? 'moveFailed' : 'moveDone'
  const stage = wordOfStage[now.stage as keyof typeof wordOfStage]
  const left = now.per_second > 0 && now.total > now.done ? Math.ceil((now.total - now.done) / now.per_second) : undefined
  return (
    <section data-testid="import">
      <div class="operators-head">
        <h2>{text('import')}</h2>
        <span class={`tag ${isRunning || state === 'moveDone' ? 'good' : 'bad'}`}>{text(state)}</span>
      </div>
      {now.failure && <p class="note bad">{now.failure}</p>}
      {isSilent && <p class="note warn">{text('moveSilentHint')}</p>}
      {isRunning && (
        <>
          <p id="stage">{stage ? text(stage) : now.stage}</p>
          {now.total > 0 && <progress class="operators-progress" aria-labelledby="stage" max={now.total} value={now.done} />}
          {now.note && <p class="note warn">{now.note}</p>}
        </>
      )}
      <Facts
        facts={[
          [text('moveBegan'), timeOf(now.began)],
          [text(now.has_ended ? 'moveEnded' : 'moveSeen'), timeOf(now.updated)],
          ...(isRunning
            ? ([
                [text('moveHandled'), amount(now)],
                [text('movePerSecond'), now.per_second > 0 ? rate(now) : undefined],
                [text('moveLeft'), left && text('seconds', { count: counted(left) })],
              ] as const)
            : []),
          [text('moveProblems'), counted(now.problems)],
          [text('moveRefusals'), counted(now.refusals)],
          [text('moveQuotes'), now.quotes_missing > 0 ? counted(now.quotes_missing) : undefined],
        ]}
      />
      {now.kinds.length > 0 && (
        <Table
          label={text('import')}
          testid="import-kinds"
          heads={[text('kind'), text('moveInFiles'), text('moveHandled'), ...outcomes.map(each => text(wordOfOutcome[each]))]}
        >
          {now.kinds.map(each => (
            <tr key={each.kind}>
              <th scope="row">{text(each.kind)}</th>
              <td>{counted(each.total)}</td>
              <td>{counted(each.done)}</td>
              {outcomes.map(outcome => (
                <td key={outcome}>{counted(each.outcomes[outcome] ?? 0)}</td>
              ))}
            </tr>
          ))}
        </Table>
      )}
      <p class="hint">{text('importHint')}</p>
    </section>
  )
}

/** Megabytes, or records. */
function amount(now: Import): string {
  const shown = (value: number) => (now.unit === 'bytes' ? `${counted(Math.round(value / 1e6))} MB` : counted(value))
  return now.total > 0 ? text('moveOf', { done: shown(now.done), total: shown(now.total) }) : shown(now.done)
}

function rate(now: Import): string {
  return now.unit === 'bytes' ? `${counted(Math.round(now.per_second / 1e5) / 10)} MB/s` : `${counted(now.per_second)}/s`
}
