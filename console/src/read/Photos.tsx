import { useEffect, useState } from 'preact/hooks'

import { linkToImage, loadableImage, type Photo } from './model'
import { photoBase } from './photoBase'
import { text } from './words'

/** Photos that are shown at first, and with each press of the button. */
const step = 24

export function Photos({ photos }: { photos: Photo[] }) {
  const [shown, show] = useState(step)
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
      <ul class="read-photos" data-testid="photos">
        {photos.slice(0, shown).map((photo, i) => (
          <PhotoItem key={photo.id || i} photo={photo} number={i + 1} />
        ))}
      </ul>
      {rest > 0 && (
        <button type="button" onClick={() => show(shown + step)} data-testid="more-photos">
          {text('showPhotos', { count: Math.min(rest, step) })}
        </button>
      )}
    </section>
  )
}

function PhotoItem({ photo, number }: { photo: Photo; number: number }) {
  const name = photo.description || text('photo', { number })
  const link = linkToImage(photo.address, photoBase())
  return (
    <li class="read-photo card" data-testid="photo">
      <Image address={photo.address} alt={name} />
      <div class="read-photo-text">
        <p>{name}</p>
        {link ? (
          <a href={link} target="_blank" rel="noreferrer">
            {photo.address}
          </a>
        ) : (
          <span class="soft">{photo.address}</span>
        )}
      </div>
    </li>
  )
}

/** An image of this service, or a placeholder when it is elsewhere or cannot be loaded. */
export function Image({ address, alt }: { address: string; alt: string }) {
  const [broken, setBroken] = useState('')
  const source = loadableImage(address, photoBase(), document.baseURI)
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
  return <img src={source} alt={alt} loading="lazy" decoding="async" onError={() => setBroken(source)} />
}

/** A person's icon, or the first character of the name. */
export function Icon({ name, address }: { name: string; address: string }) {
  const [broken, setBroken] = useState('')
  const source = loadableImage(address, photoBase(), document.baseURI)
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
