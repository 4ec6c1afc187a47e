// Asks the server of -console-search for content by its words.

import type { ContentKind } from './model'

/** What a search finds. */
export interface Results {
  items: { kind: ContentKind; id: string; title: string }[]
  /** Says that nothing has the words, and that the items have similar ones. */
  similar: boolean
}

/** Results that are asked for. */
const most = 50

/** Bytes of a reply that are read. A title has at most a few hundred. */
const mostBytes = 1_000_000

/** How long a search may take, in milliseconds. */
const patience = 10_000

/** The kinds of the server, by their names there. */
const kinds: Record<string, ContentKind> = { album: 'album', entry: 'blog', landmark: 'landmark' }

/** Finds content by its words. It rejects with a reason that can be shown. */
export async function search(address: string, words: string, signal: AbortSignal): Promise<Results> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(patience)])
  const response = await fetch(`${address}?${new URLSearchParams({ q: words, limit: String(most) })}`, {
    signal: limited,
    credentials: 'omit',
    redirect: 'error',
  })
  const text = await readUpTo(response, mostBytes)
  if (!response.ok) throw new Error(`HTTP ${response.status}: ${text.slice(0, 200).trim()}`)
  return resultsOf(JSON.parse(text))
}

async function readUpTo(response: Response, most: number): Promise<string> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (let part = await reader?.read(); part && !part.done; part = await reader!.read()) {
    text += part.value
    if (text.length > most) {
      void reader!.cancel()
      throw new Error(`the reply is longer than ${most} characters`)
    }
  }
  return text
}

/** Reads a reply. What is not of its form is left out: the server is another program. */
export function resultsOf(reply: unknown): Results {
  const { found, similar } = (reply ?? {}) as { found?: unknown; similar?: unknown }
  if (!Array.isArray(found)) throw new Error('the reply has no results')
  const items = (found as Record<string, unknown>[]).slice(0, most).flatMap(each => {
    const kind = kinds[String(each?.kind)]
    return kind && /^\d{1,16}$/.test(String(each.id)) ? [{ kind, id: String(each.id), title: String(each.title ?? '') }] : []
  })
  return { items, similar: similar === true }
}
