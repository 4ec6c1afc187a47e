import type { Kind, ParsedReply, TreeNode } from './tree'

/** Parses JSON. A text that is no JSON has no tree. */
export function parseJSON(text: string): ParsedReply {
  try {
    return { root: new JSONNode('response', JSON.parse(text)), fault: '' }
  } catch (error) {
    return { root: null, fault: error instanceof Error ? error.message : String(error) }
  }
}

class JSONNode implements TreeNode {
  readonly kind: Kind
  #children: readonly TreeNode[] | undefined

  constructor(
    readonly name: string,
    private readonly of: unknown,
  ) {
    this.kind = kindOf(of)
  }

  get value(): string {
    return this.kind === 'group' || this.kind === 'list' ? '' : String(this.of)
  }

  get children(): readonly TreeNode[] {
    this.#children ??= this.#makeChildren()
    return this.#children
  }

  #makeChildren(): readonly TreeNode[] {
    if (this.kind === 'list') return (this.of as unknown[]).map((each, i) => new JSONNode(String(i + 1), each))
    if (this.kind === 'group') return Object.entries(this.of as object).map(([name, each]) => new JSONNode(name, each))
    return []
  }
}

function kindOf(value: unknown): Kind {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'list'
  switch (typeof value) {
    case 'object':
      return 'group'
    case 'number':
      return 'number'
    case 'boolean':
      return 'boolean'
    default:
      return 'text'
  }
}
