import { expect, test } from 'vitest'
import { visibleOr } from '../src/format'

test.each(['', ' \n', '\u3000', '\u200b\ufeff\u202e', '\u3164', '\u2800\u2800', '\u115f\u1160\uffa0', '\u17b4\ufe0f\u034f', '\u{e0100}\u{1d159}'])(
  '%j shows nothing, so a placeholder stands for it', title => {
    expect(visibleOr(title, '–')).toBe('–')
  },
)

test.each(['晴', ' a ', '\u3164a', '⠁', '.'])('%j is shown', title => {
  expect(visibleOr(title, '–')).toBe(title.trim())
})
