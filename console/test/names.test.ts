import { expect, test } from 'vitest'
import { chooseLanguage } from '../src/i18n'
import { operationTitle, parameterTitle } from '../src/names'

test('a variant without a name of its own is named after its func', () => {
  chooseLanguage('en')
  expect(operationTitle({ func: 'updateAlbum', variant: 'delete' })).toBe('Delete an album')
  expect(operationTitle({ func: 'addPhoto', variant: 'poi' })).toBe('Add a photo: landmark')
  expect(operationTitle({ func: 'unheardOf', variant: '' })).toBe('unheardOf')
  chooseLanguage('zh-Hant')
  expect(operationTitle({ func: 'getAlbum', variant: 'withIDs' })).toBe('讀取相簿（含識別碼）')
})

test('numbered parameters share a name', () => {
  chooseLanguage('en')
  expect(parameterTitle('choice12')).toBe('Choice 12')
})
