import { expect, test } from 'vitest'
import { chooseLanguage } from '../src/i18n'
import { groupTitle, operationTitle, parameterTitle } from '../src/names'

test('names are those of the description in the language of the page', () => {
  chooseLanguage('en')
  expect(operationTitle({ title: ['Read an album', '讀取相簿'] })).toBe('Read an album')
  expect(parameterTitle({ name: 'albumID', title: ['Album', '相簿'] })).toBe('Album')
  expect(parameterTitle({ name: 'responseFormat' })).toBe('responseFormat')
  expect(groupTitle('poi')).toBe('Landmarks')
  expect(groupTitle('unheardOf')).toBe('unheardOf')
  chooseLanguage('zh-Hant')
  expect(operationTitle({ title: ['Read an album', '讀取相簿'] })).toBe('讀取相簿')
  expect(groupTitle('blog')).toBe('日記')
})
