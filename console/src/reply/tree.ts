// A reply as a tree, whatever its format. Children of JSON are made when somebody opens their node.

export type Kind = 'group' | 'list' | 'text' | 'number' | 'boolean' | 'null'

export interface TreeNode {
  name: string
  kind: Kind
  /** The text of a leaf. */
  value: string
  children: readonly TreeNode[]
}

export interface ParsedReply {
  root: TreeNode | null
  /** Says where the text stops being XML or JSON; empty if it is well-formed. */
  fault: string
}

/** Returns the first child of a name. */
export function child(node: TreeNode | null | undefined, name: string): TreeNode | undefined {
  return node?.children.find(each => each.name === name)
}

/** Calls `visit` for at most `limit` nodes, parents first. */
export function walk(root: TreeNode, limit: number, visit: (node: TreeNode) => void): void {
  const waiting: TreeNode[] = [root]
  for (let left = limit; left > 0 && waiting.length > 0; left--) {
    const node = waiting.shift()!
    visit(node)
    waiting.push(...node.children.slice(0, left))
  }
}
