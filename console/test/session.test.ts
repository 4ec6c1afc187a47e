import { expect, test } from 'vitest'
import { parseCookie } from '../src/session/session'

const token = '0123456789abcdef0123456789abcdef'

test.each([
  [`id=12; idrand=${token}`],
  [`Cookie: waybook_device=x; idrand="${token}";id="12"`],
  [`id=1; idrand=${'f'.repeat(32)}; id=12; idrand=${token}`],
  [`<response><status>SUCCESS</status><id>12</id><idrand>${token}</idrand></response>`],
  [`{"status":"SUCCESS","id":12,"idrand":"${token}"}`],
  [`\n id = 12 \n idrand = ${token}\n`],
])('a cookie is read from %j', text => {
  expect(parseCookie(text)).toEqual({ id: '12', idrand: token })
})

test.each([[''], ['id=12'], [`idrand=${token}`], [`userid=12; idrand=${token}`], [`id=12; idrand=${token}0`], [`id=x; idrand=${token}`]])(
  'no cookie is read from %j',
  text => {
    expect(parseCookie(text)).toBeNull()
  },
)
