import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

import { act, can } from './actions'
import { Press, TextForm } from './Actions'
import { userOfSession } from './access'
import { originalOf, viewOf, type Content, type Photo } from './model'
import { photoSource } from './photoBase'
import { text } from './words'

/** How far a finger moves for the next photo, in pixels. */
const swipe = 50

interface Props {
  content: Content
  /** The number of the photo in the content, from 0. */
  at: number
  show: (at: number) => void
  close: () => void
  changed: () => void
}

/** A photo as large as the window. Arrow keys and swipes show the next ones, Escape closes it. */
export default function Lightbox({ content, at, show, close, changed }: Props) {
  const dialog = useRef<HTMLDialogElement>(null)
  const start = useRef<number | undefined>(undefined)
  const { photos } = content
  const photo = photos[at]
  useLayoutEffect(() => dialog.current?.showModal(), []) // before the first key can arrive
  useEffect(() => {
    if (!photo) close()
    // The next one is there before it is asked for.
    const next = photos[at + 1] && photoSource(viewOf(photos[at + 1]!.address))
    if (next) new Image().src = next
  }, [at, photo])
  if (!photo) return null
  const move = (by: number) => photos[at + by] && show(at + by)
  const name = photo.description || text('photo', { number: at + 1 })
  return (
    <dialog
      ref={dialog}
      class="lightbox"
      aria-label={name}
      onClose={close}
      onKeyDown={event => {
        if (event.key === 'ArrowRight') move(1)
        if (event.key === 'ArrowLeft') move(-1)
      }}
      onTouchStart={event => (start.current = event.touches.length === 1 ? event.touches[0]!.clientX : undefined)}
      onTouchEnd={event => {
        const by = start.current === undefined ? 0 : event.changedTouches[0]!.clientX - start.current
        start.current = undefined
        if (Math.abs(by) >= swipe) move(by < 0 ? 1 : -1)
      }}
      data-testid="lightbox"
    >
      <img key={photo.address} src={photoSource(viewOf(photo.address))} alt={name} />
      <div class="lightbox-bar">
        <button
          class="plain"
          type="button"
          disabled={at === 0}
          onClick={() => move(-1)}
          aria-label={text('photoBefore')}
          data-testid="photo-before"
        >
          ‹
        </button>
        <p>
          {photo.description} <span class="soft small">{text('photoOf', { number: at + 1, all: photos.length })}</span>
        </p>
        <button
          class="plain"
          type="button"
          disabled={at === photos.length - 1}
          onClick={() => move(1)}
          aria-label={text('photoAfter')}
          data-testid="photo-after"
        >
          ›
        </button>
        <OwnerActions key={photo.id} content={content} photo={photo} changed={changed} />
        <button type="button" onClick={() => dialog.current?.close()} data-testid="lightbox-close">
          {text('close')}
        </button>
      </div>
    </dialog>
  )
}

/** What the owner can do with a photo: get the original, describe it, and remove it. */
function OwnerActions({ content, photo, changed }: { content: Content; photo: Photo; changed: () => void }) {
  const [isDescribing, setDescribing] = useState(false)
  if (content.owner.id === '' || content.owner.id !== userOfSession() || photo.id === '') return null
  const original = photoSource(originalOf(photo.address))
  if (isDescribing) {
    return (
      <div
        class="lightbox-form"
        onKeyDown={event => {
          event.stopPropagation() // arrows move in the text
          if (event.key !== 'Escape') return
          event.preventDefault()
          setDescribing(false)
        }}
      >
        <TextForm
          label={text('description')}
          send={text('saveDescription')}
          initial={photo.description}
          run={description => act('updatePhoto', content, { photoID: photo.id, description })}
          done={() => {
            setDescribing(false)
            changed()
          }}
          testid="describe-form"
        />
      </div>
    )
  }
  return (
    <>
      {original && (
        <a class="button" href={original} download>
          {text('original')}
        </a>
      )}
      {can('updatePhoto', content) && (
        <button type="button" onClick={() => setDescribing(true)} data-testid="describe-photo">
          {text('describe')}
        </button>
      )}
      {can('removePhoto', content) && (
        <Press
          label={text('remove')}
          confirm={text('removeForGood')}
          run={() => act('removePhoto', content, { photoID: photo.id })}
          done={changed}
          testid="remove-photo"
        />
      )}
    </>
  )
}
