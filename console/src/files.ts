// Requests with a file.

import { CallFailure, valueOf } from './api'
import { description } from './description'
import { encodeForm } from './form'

/** The formats that the service takes. With them named, a phone converts photos of other formats itself. */
export const acceptedFormats = 'image/jpeg,image/png,image/webp,image/gif'

/** Returns the largest file that the service takes; 0 if it takes none. */
export const mostFileBytes = (): number => description().maxPhotoBytes ?? 0

/**
 * Calls an operation with a file, and tells how much of it is sent, from 0 to 1. It rejects with a CallFailure. Only
 * XMLHttpRequest tells that. The fields go before the file.
 */
export function callWithFile(
  func: string,
  fields: Readonly<Record<string, string | undefined>>,
  name: string,
  file: File,
  progress: (sent: number) => void = () => {},
): Promise<void> {
  const body = new FormData()
  for (const [field, value] of Object.entries(fields)) if (value !== undefined) body.append(field, value)
  body.append(name, file)
  const request = new XMLHttpRequest()
  const query = encodeForm([
    ['func', func],
    ['responseFormat', 'JSON'],
  ])
  request.open('POST', `${description().paths.api}?${query}`)
  request.upload.addEventListener('progress', event => progress(event.total > 0 ? event.loaded / event.total : 0))
  return new Promise((resolve, reject) => {
    if (file.size > mostFileBytes()) throw new CallFailure('PHOTO_TOO_LARGE', '', 0)
    request.addEventListener('load', () => {
      try {
        valueOf(request.responseText, request.status, name => request.getResponseHeader(name))
        resolve()
      } catch (failure) {
        reject(failure)
      }
    })
    request.addEventListener('error', () => reject(new CallFailure('NO_REPLY', file.name, 0)))
    request.send(body)
  })
}
