import { useEffect, useRef, useState } from 'preact/hooks'

import { Failure } from '../shell/Failure'
import { failureSentence } from '../failures'
import { acceptedFormats } from '../files'
import type { Content } from './model'
import { uploads, type Upload } from './uploads'
import { text } from './words'

/** Pauses between two readings of an album to which photos are sent, in milliseconds. */
const pause = 3000

/** A place to drop photos or to choose them, and how far they are. `changed` is called after some were added. */
export default function AddPhotos({ content, changed }: { content: Content; changed: () => void }) {
  const input = useRef<HTMLInputElement>(null)
  const [isOver, setOver] = useState(false)
  const add = (files: FileList | null | undefined) => files && uploads.add(content.id, files)
  useEffect(() => {
    const over = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes('Files')) return
      event.preventDefault()
      setOver(event.type === 'dragover')
    }
    const drop = (event: DragEvent) => {
      over(event)
      setOver(false)
      add(event.dataTransfer?.files)
    }
    addEventListener('dragover', over)
    addEventListener('dragleave', over)
    addEventListener('drop', drop)
    return () => {
      removeEventListener('dragover', over)
      removeEventListener('dragleave', over)
      removeEventListener('drop', drop)
    }
  }, [content.id])
  const own = uploads.all.value.filter(each => each.album === content.id)
  useReading(own, changed)
  return (
    <div class={isOver ? 'uploads over' : 'uploads'} data-testid="uploads">
      <p>
        <button type="button" class="primary" onClick={() => input.current?.click()} data-testid="choose-photos">
          {text('addPhotos')}
        </button>{' '}
        <span class="soft small">{text('dropPhotos')}</span>
      </p>
      <input
        ref={input}
        class="hidden"
        type="file"
        tabIndex={-1}
        aria-label={text('addPhotos')}
        accept={acceptedFormats}
        multiple
        onChange={event => {
          add(event.currentTarget.files)
          event.currentTarget.value = ''
        }}
        data-testid="photo-files"
      />
      {own.length > 0 && <Progress own={own} />}
    </div>
  )
}

/** Calls `changed` when photos have been added: at the end, and every few seconds before. */
function useReading(own: readonly Upload[], changed: () => void): void {
  const done = own.filter(each => each.state === 'done').length
  const isIdle = own.every(each => each.state === 'done' || each.state === 'failed')
  const last = useRef({ done: 0, time: 0 })
  useEffect(() => {
    if (done < last.current.done) last.current.done = done
    if (done === last.current.done || (!isIdle && Date.now() - last.current.time < pause)) return
    last.current = { done, time: Date.now() }
    changed()
  }, [done, isIdle])
}

function Progress({ own }: { own: readonly Upload[] }) {
  const count = (state: Upload['state']) => own.filter(each => each.state === state).length
  const sending = own.find(each => each.state === 'sending')
  const failed = own.filter(each => each.state === 'failed')
  return (
    <>
      <output class="small" data-testid="upload-count">
        {text('sentPhotos', { done: count('done'), all: own.length })}
        {failed.length > 0 && ` ${text('failedPhotos', { count: failed.length })}`}
      </output>
      {sending && (
        <label class="small uploads-sending">
          {sending.file.name}
          <progress value={sending.sent} />
        </label>
      )}
      <ul class="uploads-failed">
        {failed.map(({ id, file, failure }) => (
          <li key={id} data-testid="upload-failed">
            <Failure
              error={failure}
              sentence={`${file.name}: ${failureSentence(failure)}`}
              retry={() => uploads.retry(id)}
              dismiss={() => uploads.drop(id)}
              testid="upload-failure"
            />
          </li>
        ))}
      </ul>
    </>
  )
}
