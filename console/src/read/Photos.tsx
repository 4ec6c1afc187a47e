import { useEffect, useState } from 'preact/hooks'

import { mostFileBytes } from '../files'
import { lazy } from './lazy'
import { userOfSession } from './access'
import { can } from './actions'
import { linkToImage, type Content, type Photo } from './model'
import { photoBase, photoSource } from './photoBase'
import { text } from './words'

/** Photos that are shown at first, and with each press of the button. */
const step = 24

const AddPhotos = lazy(() => import('./AddPhotos'))
const Lightbox = lazy(() => import('./Lightbox'))

/** Reports whether the user of the session may send photos to content. */
function canUpload(content: Content): boolean {
  const isOwn = content.kind === 'album' && content.owner.id !== '' && content.owner.id === userOfSession()
  return isOwn && mostFileBytes() > 0 && can('addPhoto', content)
}

/** The photos of content, each of which opens in a larger view, and for the owner a way to add some. */
export function Photos({ content, changed }: { content: Content; changed: () => void }) {
  const { photos } = content
  const [shown, show] = useState(step)
  const [open, setOpen] = useState<number>()
  const rest = photos.length - shown
  useEffect(() => {
    const showAll = () => show(photos.length)
    addEventListener('beforeprint', showAll)
    return () => removeEventListener('beforeprint', showAll)
  }, [photos.length])
  return (
    <section aria-label={text('photos')}>
      <h2>
        {text('photos')} <span class="soft">{photos.length}</span>
      </h2>
      {photos.length === 0 && <p class="soft small">{text('noPhotos')}</p>}
      <ul class="read-photos" data-testid="photos">
        {photos.slice(0, shown).map((photo, i) => (
          <PhotoItem key={photo.id || i} photo={photo} number={i + 1} open={() => setOpen(i)} />
        ))}
      </ul>
      {rest > 0 && (
        <button type="button" onClick={() => show(shown + step)} data-testid="more-photos">
          {text('showPhotos', { count: Math.min(rest, step) })}
        </button>
      )}
      {canUpload(content) && <AddPhotos content={content} changed={changed} />}
      {open !== undefined && (
        <Lightbox content={content} at={open} show={setOpen} close={() => setOpen(undefined)} changed={changed} />
      )}
    </section>
  )
}

/** A photo. One that the page may not load has a link to where it is. */
function PhotoItem({ photo, number, open }: { photo: Photo; number: number; open: () => void }) {
  const name = photo.description || text('photo', { number })
  const link = linkToImage(photo.address, photoBase(photo.address))
  return (
    <li class="read-photo card" data-testid="photo">
      <Image address={photo.address} alt={name} open={open} />
      <p class="read-photo-text">
        {link && !photoSource(photo.address) ? (
          <a href={link} target="_blank" rel="noreferrer">
            {name}
          </a>
        ) : (
          name
        )}
      </p>
    </li>
  )
}

/** An image of this service, which opens, or a placeholder when it is elsewhere or cannot be loaded. */
function Image({ address, alt, open }: { address: string; alt: string; open: () => void }) {
  const [broken, setBroken] = useState('')
  const source = photoSource(address)
  if (!source || broken === source) {
    return (
      <div class="read-noimage" data-testid="no-image">
        <svg viewBox="0 0 24 24" aria-hidden="true">
          <path d="M3 5h18v14H3zM3 16l5-5 4 4 3-3 6 6M16 9h.01" />
        </svg>
        <span>{source ? text('noImage') : text('otherSite')}</span>
      </div>
    )
  }
  return (
    <button type="button" class="read-photo-open" onClick={open} data-testid="open-photo">
      <img src={source} alt={text('enlarge', { name: alt })} loading="lazy" decoding="async" onError={() => setBroken(source)} />
    </button>
  )
}

/** A person's icon, or the first character of the name. */
export function Icon({ name, address }: { name: string; address: string }) {
  const [broken, setBroken] = useState('')
  const source = photoSource(address)
  return (
    <span class="read-icon" aria-hidden="true">
      {source && broken !== source ? (
        <img src={source} alt="" loading="lazy" onError={() => setBroken(source)} />
      ) : (
        ([...name][0] ?? '–')
      )}
    </span>
  )
}
