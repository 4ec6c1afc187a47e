// The rows of a tree that are drawn: open nodes, each with the part of its children that was asked for.

import type { TreeNode } from '../reply/tree'

/** How many children a part has. */
export const partSize = 100

/** The open nodes, each with how many of its children are drawn. */
export type Opened = ReadonlyMap<TreeNode, number>

interface Place {
  key: string
  /** The depth, from 1. */
  level: number
  /** The position among the siblings, from 1, and how many there are. */
  position: number
  of: number
}

export type Row = (Place & { kind: 'node'; node: TreeNode }) | (Place & { kind: 'more'; parent: TreeNode; left: number })

export function expand(opened: Opened, node: TreeNode): Opened {
  return new Map(opened).set(node, opened.get(node) ?? partSize)
}

export function collapse(opened: Opened, node: TreeNode): Opened {
  const all = new Map(opened)
  all.delete(node)
  return all
}

/** Draws a further part of the node's children. */
export function more(opened: Opened, node: TreeNode): Opened {
  return new Map(opened).set(node, (opened.get(node) ?? 0) + partSize)
}

/** Opens nodes, the outer ones first, until about `limit` rows are drawn. */
export function firstOpen(root: TreeNode, limit: number): Opened {
  const opened = new Map<TreeNode, number>([[root, partSize]])
  const waiting = [root]
  let rows = 1
  for (let node = waiting.shift(); node; node = waiting.shift()) {
    const drawn = Math.min(partSize, node.size)
    if (node !== root && rows + drawn > limit) continue
    rows += drawn
    if (drawn > 0) opened.set(node, partSize)
    waiting.push(...node.first(drawn))
  }
  return opened
}

/** Returns the rows in their order. */
export function rowsOf(root: TreeNode, opened: Opened): Row[] {
  const rows: Row[] = []
  const add = (node: TreeNode, key: string, level: number, position: number, of: number) => {
    rows.push({ kind: 'node', node, key, level, position, of })
    const drawn = opened.get(node)
    if (drawn === undefined) return
    const { size } = node
    for (const [i, each] of node.first(drawn).entries()) add(each, `${key}/${i}`, level + 1, i + 1, size)
    if (size > drawn) rows.push({ kind: 'more', parent: node, left: size - drawn, key: `${key}/more`, level: level + 1, position: drawn + 1, of: size })
  }
  add(root, '', 1, 1, 1)
  return rows
}
