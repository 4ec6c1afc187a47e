import { expect, test, vi } from 'vitest'

import { CallFailure } from '../../src/api'
import { newUUID, Uploads } from '../../src/read/uploads'

const file = (name: string) => ({ name }) as File

test('photos are sent one after another in their order, and one that fails stops none of the others', async () => {
  const sent: string[] = []
  let running = 0
  const uploads = new Uploads(async ({ file, id }) => {
    expect(++running).toBe(1)
    await Promise.resolve()
    running--
    sent.push(`${file.name} ${id}`)
    if (file.name === 'd' || (file.name === 'b' && sent.length < 5)) throw new CallFailure('PHOTO_DAMAGED', 'PHOTO DAMAGED', 200)
  })
  const states = () => uploads.all.value.map(({ file, state }) => `${file.name} ${state}`)
  uploads.add('1', [file('a'), file('b'), file('c')])
  uploads.add('1', [file('d')])
  await vi.waitFor(() => expect(states()).toEqual(['a done', 'b failed', 'c done', 'd failed']))
  expect(sent.map(each => each[0])).toEqual(['a', 'b', 'c', 'd'])
  expect((uploads.all.value[3]!.failure as CallFailure).reason).toBe('PHOTO_DAMAGED')

  // A repetition has the same identifier.
  uploads.retry(uploads.all.value[1]!.id)
  await vi.waitFor(() => expect(states()).toEqual(['a done', 'c done', 'd failed', 'b done']))
  expect(sent[4]).toBe(sent[1])
  uploads.drop(uploads.all.value[2]!.id)
  expect(states()).toEqual(['a done', 'c done', 'b done'])
})

test('an identifier of a request is a UUID', () => {
  expect(newUUID()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(newUUID()).not.toBe(newUUID())
})
