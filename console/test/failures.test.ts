import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { CallFailure } from '../src/api'
import { failureDetails, failureSentence } from '../src/failures'
import { failureText } from '../src/explore/failures'
import { chooseLanguage } from '../src/i18n'

const table = readFileSync(new URL('../../docs/failures.md', import.meta.url), 'utf8')
const reasons = [...new Set([...table.matchAll(/^\| `[^`]*` \| `(\w+)` \|/gm)].map(found => found[1]!))]

test('the explorer has every failure in Chinese', () => {
  expect(reasons.length).toBeGreaterThan(30)
  chooseLanguage('zh-Hant')
  for (const reason of reasons) expect(failureText(reason, '').meaning, reason).toMatch(/\p{Script=Han}/u)
})

test('people read of every failure in their language, and programmers what the service said', () => {
  for (const reason of [...reasons, 'NO_REPLY', 'toString', '']) {
    const failure = new CallFailure(reason, 'INFO', 503, 'abc')
    chooseLanguage('en')
    expect(failureSentence(failure), reason).toMatch(/^[A-Z][^`]+\.$/)
    chooseLanguage('zh-Hant')
    expect(failureSentence(failure), reason).toMatch(/\p{Script=Han}.*。$/u)
    expect(failureDetails(failure)).toBe(['INFO', reason, 'HTTP 503', 'X-Request-Id: abc'].filter(Boolean).join(' · '))
  }
  expect(failureDetails(new CallFailure('NO_REPLY', 'Failed to fetch', 0))).toBe('Failed to fetch · NO_REPLY')
})
