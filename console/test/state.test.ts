import { expect, test } from 'vitest'
import type { Operation } from '../src/description'
import { emptyForm, fromQuery, parametersOf, toQuery, type FormState } from '../src/explore/state'

const login: Operation = {
  func: 'login', variant: '', title: ['', ''], group: 'session', effect: 'write', login: false,
  parameters: [{ name: 'email', hint: '', type: 'text' }, { name: 'passphrase', hint: '', type: 'password' }],
}
const change: Operation = {
  func: 'updateBlog', variant: 'delete', title: ['', ''], group: 'blog', effect: 'write', login: true, fixed: { delete: 'true' },
  parameters: [{ name: 'blogID', hint: '', type: 'id', required: true }, { name: 'blogContent', hint: '', type: 'text', multiline: true }],
}
const read: Operation = { func: 'getBlog', variant: '', title: ['', ''], group: 'blog', effect: 'read', login: false, parameters: [{ name: 'blogID', hint: '', type: 'id' }] }
const operations = [login, change, read]

const there = (operation: Operation, form: FormState) =>
  fromQuery(operation, new URLSearchParams(toQuery(operation, form, operations).toString()), operations)

test('a state of the form survives its address', () => {
  const form: FormState = {
    values: { blogID: '12', blogContent: '第一行\n& = # ? 😀 "\' \t' },
    extras: [['.format', 'x'], ['..a', 'y'], ['a b', ''], ['blogID', ''], ['blogContent', 'a=b'], ['note', '台北']],
    format: 'JSON', method: 'POST',
  }
  const back = there(change, form)
  expect(back.values).toEqual(form.values)
  expect(back.extras.toSorted()).toEqual([...form.extras].toSorted())
  expect({ ...back, values: 0, extras: 0 }).toEqual({ ...form, values: 0, extras: 0 })
})

test('a read by POST survives its address, and a write has no other method', () => {
  expect(there(read, { ...emptyForm(read), method: 'POST' }).method).toBe('POST')
  expect(fromQuery(change, new URLSearchParams('.method=GET'), operations).method).toBe('POST')
})

test('no address makes a form do what another operation does', () => {
  const links = ['func=updateBlog&delete=true&.method=POST', 'Func=updateBlog', '.set=func=updateBlog&.set=delete=true', '..func=x&delete=true']
  for (const link of links) {
    expect(parametersOf(read, fromQuery(read, new URLSearchParams('blogID=1&' + link), operations)).filter(([name]) => !name.startsWith('.')))
      .toEqual([['func', 'getBlog'], ['blogID', '1']])
  }
  const typed: FormState = { ...emptyForm(read), extras: [['func', 'updateBlog'], ['delete', 'true']] }
  expect(toQuery(read, typed, operations).toString()).toBe('')
})

test('an address holds no secret, and none is taken from one', () => {
  const form: FormState = {
    ...emptyForm(login), values: { email: 'amy@example.org', passphrase: 's3cret' },
    extras: [['passphrase', 's3cret'], ['password', 's3cret'], ['idrand', 's3cret'], ['sig', 's3cret'], ['Secret', 's3cret']],
  }
  expect(toQuery(login, form, operations).toString()).toBe('email=amy%40example.org')
  const back = fromQuery(login, new URLSearchParams('passphrase=x&password=x&.set=passphrase%3Dx'), operations)
  expect(back.values).toEqual({})
  expect(back.extras).toEqual([])
})

test('a form sends fixed parameters, leaves out empty values, and further parameters win', () => {
  const form: FormState = { ...emptyForm(change), values: { blogID: '1', blogContent: '' }, extras: [['blogID', '2'], ['', 'x'], ['empty', '']], format: 'JSON' }
  expect(parametersOf(change, form)).toEqual([['func', 'updateBlog'], ['delete', 'true'], ['blogID', '2'], ['responseFormat', 'JSON'], ['empty', '']])
})
