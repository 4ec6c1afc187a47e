// Identifiers of earlier replies, which forms suggest. They are in memory only.

import { signal } from '@preact/signals'
import { walk, type TreeNode } from '../reply/tree'

const mostOfAName = 30

const seen = signal<ReadonlyMap<string, readonly string[]>>(new Map())

/** Keeps the identifiers among the first nodes of a reply. */
export function noteIdentifiers(root: TreeNode): void {
  const found = new Map<string, Set<string>>()
  walk(root, 300, ({ name, value }) => {
    const key = name === 'next' ? 'after' : name
    if (key === 'after' ? /^\S{1,500}$/.test(value) : /ID$/.test(key) && /^\d{1,16}$/.test(value)) found.set(key, (found.get(key) ?? new Set()).add(value))
  })
  if (found.size === 0) return
  const all = new Map(seen.value)
  for (const [name, values] of found) all.set(name, [...new Set([...values, ...(all.get(name) ?? [])])].slice(0, mostOfAName))
  seen.value = all
}

/** Returns the identifiers to suggest for a parameter, the newest first. */
export function suggestionsFor(parameter: string): readonly string[] {
  const name = parameter === 'replyBlogID' ? 'blogID' : parameter
  return seen.value.get(name) ?? []
}
