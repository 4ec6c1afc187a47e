// A reply as a tree, whatever its format. Nodes of JSON are made when they are drawn.

export type Kind = 'group' | 'list' | 'text' | 'number' | 'boolean' | 'null'

export interface TreeNode {
  name: string
  kind: Kind
  /** The text of a leaf. */
  value: string
  /** How many children the node has. */
  readonly size: number
  /** Returns the first children, `most` of them at most. */
  first(most: number): readonly TreeNode[]
}

export interface ParsedReply {
  root: TreeNode | null
  /** The character, from 1, where the text stops being XML; 0 for a text that is no JSON; null without a fault. */
  fault: number | null
}

/** How many children `child` looks at. Replies have fewer, lists aside. */
const mostFields = 100

/** Returns the first child of a name, among the first children. */
export function child(node: TreeNode | null | undefined, name: string): TreeNode | undefined {
  return node?.first(mostFields).find(each => each.name === name)
}

/** Calls `visit` for at most `limit` nodes, parents first. */
export function walk(root: TreeNode, limit: number, visit: (node: TreeNode) => void): void {
  const waiting: TreeNode[] = [root]
  for (let left = limit; left > 0 && waiting.length > 0; left--) {
    const node = waiting.shift()!
    visit(node)
    waiting.push(...node.first(left))
  }
}
