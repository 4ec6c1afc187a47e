// What the programs report of themselves on their admin ports: readiness, stores, backups and followers.

import { formatBytes } from '../format'
import { numbers } from '../i18n'
import { useEvents, type Failure } from './api'
import { Facts, FailureNote, LiveHead, timeOf } from './parts'
import { text } from './words'

interface State {
  programs: Program[]
}

interface Program {
  address: string
  program?: string
  version?: string
  failure?: Failure
  metrics?: Partial<Record<Metric, number>>
}

type Metric =
  | 'waybook_ready'
  | 'process_start_time_seconds'
  | 'process_resident_memory_bytes'
  | 'waybook_store_file_bytes'
  | 'waybook_store_last_backup_timestamp_seconds'
  | 'waybook_store_last_rehearsal_timestamp_seconds'
  | 'waybook_rpc_streams_open'
  | 'waybook_sweep_last_success_timestamp_seconds'
  | 'waybook_tls_certificate_expiry_timestamp_seconds'
  | 'waybook_shadow_comparisons_total'
  | 'waybook_edge_failed_attempts_total'

/** The alerts of docs/operations.md call a backup missing after this time, and a rehearsal. */
const backupHours = 26
const rehearsalHours = 8 * 24

export function StatePage() {
  const { seen, isLost } = useEvents<State>('state/events')
  return (
    <>
      <LiveHead title={text('state')} isThere={seen !== undefined} isLost={isLost} />
      {seen?.programs.map(each => <ProgramState key={each.address} program={each} />)}
    </>
  )
}

function ProgramState({ program }: { program: Program }) {
  const m = program.metrics ?? {}
  const isReady = m.waybook_ready === 1
  const count = (value: number | undefined) => (value === undefined ? undefined : numbers.value.format(value))
  return (
    <section>
      <div class="operators-head">
        <h2>{program.program ?? program.address}</h2>
        {!program.failure && <span class={`tag ${isReady ? 'good' : 'bad'}`}>{text(isReady ? 'ready' : 'notReady')}</span>}
      </div>
      <FailureNote failure={program.failure} />
      <Facts
        facts={[
          [text('address'), program.address],
          [text('version'), program.version],
          [text('started'), timeIn(m.process_start_time_seconds)],
          [text('memory'), m.process_resident_memory_bytes && formatBytes(m.process_resident_memory_bytes)],
          [text('store'), m.waybook_store_file_bytes && formatBytes(m.waybook_store_file_bytes)],
          [text('backup'), moment(m.waybook_store_last_backup_timestamp_seconds, backupHours)],
          [text('rehearsal'), moment(m.waybook_store_last_rehearsal_timestamp_seconds, rehearsalHours)],
          [text('followers'), count(m.waybook_rpc_streams_open)],
          [text('sweep'), timeIn(m.waybook_sweep_last_success_timestamp_seconds)],
          [text('certificate'), timeIn(m.waybook_tls_certificate_expiry_timestamp_seconds)],
          [text('failedAttempts'), count(m.waybook_edge_failed_attempts_total)],
          [text('compared'), count(m.waybook_shadow_comparisons_total)],
        ]}
      />
    </section>
  )
}

function timeIn(seconds: number | undefined): string {
  return seconds ? timeOf(new Date(seconds * 1000).toISOString()) : ''
}

/** A time that should not be older than some hours; 0 stands for never. */
function moment(seconds: number | undefined, hours: number) {
  if (seconds === undefined) return undefined
  const isLate = Date.now() / 1000 - seconds > hours * 3600
  return (
    <>
      {seconds === 0 ? text('never') : timeIn(seconds)} {isLate && <span class="tag warn">{text('late')}</span>}
    </>
  )
}
