import { expect, test } from 'vitest'

import { apart, mostNames, type Label } from '../../src/map/naming'

const at = (left: number, top: number): Label => ({ left, top, width: 40, height: 16 })

test('a name that overlaps one before it is left out', () => {
  const [first, over, beside, below] = [at(0, 0), at(30, 10), at(50, 0), at(0, 30)]
  expect(apart([first, over, beside, below])).toEqual([first, beside, below])
  expect(apart([over, first, beside])).toEqual([over])
})

test('names that touch are too close', () => {
  expect(apart([at(0, 0), at(41, 0)])).toHaveLength(1)
})

test('a map shows a number of names at most', () => {
  expect(apart(Array.from({ length: 500 }, (_, i) => at(i * 100, 0)))).toHaveLength(mostNames)
})
