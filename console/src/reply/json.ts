import type { Kind, ParsedReply, TreeNode } from './tree'

/** Parses JSON. A text that is no JSON has no tree. */
export function parseJSON(text: string): ParsedReply {
  try {
    return { root: new JSONNode('response', JSON.parse(text)), fault: null }
  } catch {
    return { root: null, fault: 0 }
  }
}

class JSONNode implements TreeNode {
  readonly kind: Kind
  readonly size: number
  readonly #children: TreeNode[] = []
  readonly #entries: readonly unknown[]

  constructor(
    readonly name: string,
    private readonly of: unknown,
  ) {
    this.kind = kindOf(of)
    this.#entries = this.kind === 'list' ? (of as unknown[]) : this.kind === 'group' ? Object.entries(of as object) : []
    this.size = this.#entries.length
  }

  get value(): string {
    return this.kind === 'group' || this.kind === 'list' ? '' : String(this.of)
  }

  first(most: number): readonly TreeNode[] {
    for (let i = this.#children.length; i < Math.min(most, this.size); i++) this.#children.push(this.#child(i))
    return this.#children.slice(0, most)
  }

  #child(at: number): TreeNode {
    const entry = this.#entries[at]
    if (this.kind === 'list') return new JSONNode(String(at + 1), entry)
    const [name, value] = entry as [string, unknown]
    return new JSONNode(name, value)
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
