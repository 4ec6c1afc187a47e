// Runs the programs that the page offers, against a server that keeps what they send.

import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Method } from '../src/api'
import type { Pair } from '../src/form'
import { programs, type Program } from '../src/snippets/programs'
import { snippetParameters, variablesOf, type Snippet } from '../src/snippets/snippet'

const run = promisify(execFile)

/** How to run a file of each language, and how to ask whether it can be run. */
const runners: Record<Program, { file: string; command: string[]; probe: string[] }> = {
  curl: { file: 'request.sh', command: ['sh'], probe: ['curl', '--version'] },
  PHP: { file: 'request.php', command: ['php'], probe: ['php', '--version'] },
  Python: { file: 'request.py', command: ['python3'], probe: ['python3', '--version'] },
  Java: { file: 'Request.java', command: ['java', '-Dfile.encoding=UTF-8'], probe: ['java', '--version'] },
  Go: { file: 'request.go', command: ['go', 'run'], probe: ['go', 'version'] },
}

interface Received {
  method: string
  form: Pair[]
  cookie: string | undefined
}

let server: Server
let folder: string
let received: Received[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waybook-snippets-'))
  server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const query = new URL(request.url!, 'http://host').searchParams
      const body = new URLSearchParams(Buffer.concat(parts).toString())
      received.push({ method: request.method!, form: [...query, ...body], cookie: request.headers.cookie })
      response.writeHead(query.has('refuse') ? 403 : 200, { 'Content-Type': 'text/xml; charset=utf-8' })
      response.end('<response>收到</response>')
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
})

afterAll(async () => {
  server.close()
  await rm(folder, { recursive: true })
})

const secrets = { COOKIE: 'id=12; idrand=0123456789abcdef0123456789abcdef', PASSWORD: `p a+b&c=d%"'$x\\台` }

const awkward = `台北 "101" & 'it''s' $HOME \`id\` \\ \\u0041 \\n %41 {$x} #{y} %s ! @file\n第二行\t<b>;😀`

interface Case {
  name: string
  method: Method
  pairs: Pair[]
  hasCookie?: boolean
  /** Programs that are compiled first send only what differs for them. */
  isForScripts?: boolean
}

const cases: Case[] = [
  { name: 'a read', method: 'GET', pairs: [['func', 'getAlbum'], ['albumID', '1'], ['note', awkward], ['empty', '']] },
  { name: 'a write with a session', method: 'POST', pairs: [['func', 'postBlog'], ['blogContent', awkward], ['a b&c', '='], ['7', '@x']], hasCookie: true },
  { name: 'characters that nobody sees', method: 'POST', pairs: [['func', 'postBlog'], ['t', 'a\r\nb\u202ec\u200b\ufeff\x7f\u0085\x01']] },
  { name: 'a long text', method: 'POST', pairs: [['func', 'postBlog'], ['blogContent', '山城的雨😀\n'.repeat(17_000)]] },
  { name: 'a login', method: 'POST', pairs: [['func', 'login'], ['email', 'amy@example.org'], ['password', 'not in the program']], isForScripts: true },
  { name: 'a request that is refused', method: 'GET', pairs: [['func', 'getAlbum'], ['refuse', '1']], isForScripts: true },
]

function snippetOf(each: Case): Snippet {
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/API.php`,
    method: each.method,
    parameters: snippetParameters(each.pairs, name => name === 'password'),
    hasCookie: each.hasCookie ?? false,
  }
}

for (const program of Object.keys(programs) as Program[]) {
  const { file, command, probe } = runners[program]
  const isThere = await run(probe[0]!, probe.slice(1)).then(() => true, () => false)
  if (!isThere) console.warn(`SKIPPED: the programs for ${program} are not run, because ${probe[0]} is not installed`)

  describe.skipIf(!isThere)(program, () => {
    for (const each of cases.filter(({ isForScripts }) => !isForScripts || (program !== 'Go' && program !== 'Java'))) {
      test(`sends ${each.name}`, { timeout: 120_000 }, async () => {
        received = []
        const path = join(folder, file)
        await writeFile(path, programs[program](snippetOf(each)))
        const env = { ...process.env, ...secrets, LC_ALL: 'C.UTF-8' }
        const { stdout, stderr } = await run(command[0]!, [...command.slice(1), path], { env, maxBuffer: 1 << 24 })
        expect(stderr).toBe('')
        expect(stdout).toBe('<response>收到</response>')
        expect(received).toHaveLength(1)
        const { method, form, cookie } = received[0]!
        expect(method).toBe(each.method)
        expect(cookie).toBe(each.hasCookie ? secrets.COOKIE : undefined)
        expectForm(each, form)
      })
    }
  })
}

function expectForm(each: Case, form: readonly Pair[]): void {
  const sent = new Map(form)
  expect(sent.size).toBe(form.length)
  const wanted = new Map(each.pairs)
  if (wanted.has('password')) wanted.set('password', secrets.PASSWORD)
  expect([...sent].toSorted()).toEqual([...wanted].toSorted())
}

test('no program contains a secret', () => {
  for (const program of Object.values(programs)) {
    for (const each of cases) expect(program(snippetOf(each))).not.toMatch(/not in the program/)
  }
})

test('a snippet names the variables that it reads', () => {
  expect(variablesOf(snippetOf({ ...cases[4]!, hasCookie: true }))).toEqual(['PASSWORD', 'COOKIE'])
})
