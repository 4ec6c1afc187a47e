// Requests to /API.php, as any client sends them. The browser adds the session's cookie, which the page
// cannot read.

import { description } from './description'
import { encodeForm, formType, type Pair } from './form'

export type Method = 'GET' | 'POST'

export interface ApiRequest {
  method: Method
  /** All parameters, `func` included. */
  parameters: readonly Pair[]
}

/** A request as the page gives it to the browser, which adds further headers. */
export interface SentRequest {
  method: Method
  /** The path and the query. */
  target: string
  headers: Pair[]
  body: string
}

export interface Reply {
  request: SentRequest
  status: number
  statusText: string
  /** The headers that the browser shows to the page, sorted by name. */
  headers: Pair[]
  /** The stable reason of a failure; empty for a success. */
  reason: string
  /** The time from the request until the end of the reply. */
  milliseconds: number
  /** The size of the body, uncompressed. */
  bytes: number
  text: string
  /** broken: the connection ended early. cut: the page stopped reading at maxReplyBytes. */
  end: 'whole' | 'broken' | 'cut'
  isJSON: boolean
}

/** The largest part of a reply that the page reads. */
export const maxReplyBytes = 64 * 1024 * 1024

/** Returns what `send` sends. */
export function prepare(request: ApiRequest): SentRequest {
  const path = description().paths.api
  const form = encodeForm(request.parameters)
  if (request.method === 'GET') return { method: 'GET', target: path + '?' + form, headers: [], body: '' }
  return { method: 'POST', target: path, headers: [['Content-Type', formType + '; charset=UTF-8']], body: form }
}

/** Sends a request and reads the reply, whatever its status. It rejects if no reply came. */
export async function send(request: ApiRequest, signal?: AbortSignal): Promise<Reply> {
  const sent = prepare(request)
  const start = performance.now()
  const response = await fetch(sent.target, {
    method: sent.method,
    headers: sent.headers.map(([name, value]): [string, string] => [name, value]),
    body: sent.method === 'POST' ? sent.body : null,
    cache: 'no-store',
    credentials: 'same-origin',
    signal: signal ?? null,
  })
  const body = await readBody(response, signal)
  return {
    request: sent,
    status: response.status,
    statusText: response.statusText,
    headers: [...response.headers].toSorted(([a], [b]) => (a < b ? -1 : 1)),
    reason: response.headers.get('X-Waybook-Reason') ?? '',
    milliseconds: performance.now() - start,
    ...body,
    isJSON: /\bjson\b/i.test(response.headers.get('Content-Type') ?? ''),
  }
}

async function readBody(response: Response, signal?: AbortSignal): Promise<Pick<Reply, 'text' | 'bytes' | 'end'>> {
  if (!response.body) return { text: '', bytes: 0, end: 'whole' }
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  const parts: string[] = []
  let bytes = 0
  let end: Reply['end'] = 'whole'
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      bytes += value.byteLength
      parts.push(decoder.decode(value, { stream: true }))
      if (bytes > maxReplyBytes) {
        end = 'cut'
        await reader.cancel()
        break
      }
    }
  } catch (error) {
    if (signal?.aborted) throw error
    end = 'broken'
  }
  parts.push(decoder.decode())
  return { text: parts.join(''), bytes, end }
}

/** CallFailure is a reply that is no success, or none at all: then `reason` is NO_REPLY. */
export class CallFailure extends Error {
  constructor(
    readonly reason: string,
    readonly info: string,
    /** The HTTP status; 0 without a reply. */
    readonly status: number,
    readonly requestID = '',
  ) {
    super(info)
  }
}

/**
 * Calls an operation and returns its reply in JSON. It rejects with a CallFailure for every failure, and
 * with the signal's reason if that ends the call. Writes need the method POST.
 */
export async function call<T>(
  func: string,
  parameters: Readonly<Record<string, string | number | undefined>>,
  options: { method?: Method; signal?: AbortSignal } = {},
): Promise<T> {
  const pairs: Pair[] = [['func', func]]
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) pairs.push([name, String(value)])
  }
  pairs.push(['responseFormat', 'JSON'])
  let reply: Reply
  try {
    reply = await send({ method: options.method ?? 'GET', parameters: pairs }, options.signal)
  } catch (error) {
    if (options.signal?.aborted) throw error
    throw new CallFailure('NO_REPLY', error instanceof Error ? error.message : String(error), 0)
  }
  return valueOf<T>(reply.text, reply.status, name => new Map(reply.headers).get(name) ?? null)
}

/** Returns the value of a reply in JSON. It throws a CallFailure if that is no success. `header` gets names in lower case. */
export function valueOf<T>(text: string, status: number, header: (name: string) => string | null): T {
  let value: { status?: unknown; info?: unknown } = {}
  try {
    value = JSON.parse(text) as typeof value
  } catch {
    // A proxy may answer in HTML.
  }
  if (value.status === 'SUCCESS') return value as T
  throw new CallFailure(header('x-waybook-reason') ?? 'NO_REPLY', String(value.info ?? ''), status, header('x-request-id') ?? '')
}
