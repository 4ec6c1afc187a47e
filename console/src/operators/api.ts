// Requests to waybookctl, which calls the services. It explains its failures.

import { useCallback, useEffect, useState } from 'preact/hooks'

/** A failure with its explanation. */
export interface Failure {
  message: string
  details: readonly string[]
}

/** Sends a request and returns the reply, or throws a Failure. */
export async function ask<Reply>(path: string, method: 'GET' | 'POST' = 'GET', signal?: AbortSignal): Promise<Reply> {
  let response: Response
  try {
    response = await fetch(path, { method, ...(signal && { signal }) })
  } catch (error) {
    signal?.throwIfAborted()
    throw { message: `waybookctl console: ${String(error)}`, details: [] } satisfies Failure
  }
  const body = await response.text()
  if (response.ok) return JSON.parse(body) as Reply
  throw failureIn(body, response.status)
}

/** Returns the failure in a reply. */
function failureIn(body: string, status: number): Failure {
  try {
    const failure = JSON.parse(body) as Partial<Failure>
    return { message: failure.message ?? `HTTP ${status}`, details: failure.details ?? [] }
  } catch {
    return { message: body.trim() || `HTTP ${status}`, details: [] }
  }
}

/** Returns what the last server-sent event has, and whether the connection is lost. */
export function useEvents<Reply>(path: string): { seen?: Reply; isLost: boolean } {
  const [now, set] = useState<{ seen?: Reply; isLost: boolean }>({ isLost: false })
  useEffect(() => {
    const source = new EventSource(path)
    source.onmessage = event => set({ seen: JSON.parse(event.data as string) as Reply, isLost: false })
    source.onerror = () => set(last => ({ ...last, isLost: true }))
    return () => source.close()
  }, [path])
  return now
}

/** What was loaded; before, neither a value nor a failure. */
export interface Loaded<Reply> {
  value?: Reply
  failure?: Failure
}

/** Loads a path, again when it changes. change replaces what was loaded by the reply to another request. */
export function useLoaded<Reply>(path: string): Loaded<Reply> & { change: (path: string) => Promise<void> } {
  const [loaded, set] = useState<Loaded<Reply> & { path: string }>({ path })
  useEffect(() => {
    const controller = new AbortController()
    ask<Reply>(path, 'GET', controller.signal).then(
      value => !controller.signal.aborted && set({ path, value }),
      (failure: Failure) => !controller.signal.aborted && set({ path, failure }),
    )
    return () => controller.abort()
  }, [path])
  const change = useCallback(
    (action: string) =>
      ask<Reply>(action, 'POST').then(
        value => set({ path, value }),
        (failure: Failure) => set(now => ({ ...now, failure })),
      ),
    [path],
  )
  return loaded.path === path ? { ...loaded, change } : { change }
}
