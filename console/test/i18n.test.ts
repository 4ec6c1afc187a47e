import { expect, test } from 'vitest'
import { chooseLanguage, firstLanguage, words } from '../src/i18n'

test('the stored choice comes first, then the languages of the browser, then English', () => {
  expect(firstLanguage('en', ['zh-TW'])).toBe('en')
  expect(firstLanguage(null, ['fr', 'zh-TW', 'en'])).toBe('zh-Hant')
  expect(firstLanguage('klingon', ['en-GB'])).toBe('en')
  expect(firstLanguage(null, ['fr'])).toBe('en')
})

test('a text follows the language and takes values', () => {
  const text = words({ some: '{n} items of {other}' }, { some: '{n} 個項目' })
  chooseLanguage('en')
  expect(text('some', { n: 3 })).toBe('3 items of {other}')
  chooseLanguage('zh-Hant')
  expect(text('some', { n: 3 })).toBe('3 個項目')
})
