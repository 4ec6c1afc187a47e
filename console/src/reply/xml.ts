// A parser of the XML of replies: elements, attributes, text, CDATA and references. It reads a long text
// in slices, so that the page stays responsive, and keeps the part before a fault.

import type { ParsedReply, TreeNode } from './tree'

class Element implements TreeNode {
  kind: 'group' | 'text' = 'text'
  value = ''
  readonly children: Element[] = []

  constructor(readonly name: string) {}

  get size(): number {
    return this.children.length
  }

  first(most: number): readonly TreeNode[] {
    return this.children.slice(0, most)
  }
}

/** The deepest nesting that the parser reads. */
const maxDepth = 200

export class XMLParser {
  #at = 0
  #root: Element | null = null
  readonly #open: Element[] = []
  #fault: number | null = null

  constructor(private readonly text: string) {}

  /** Reads on for at least one token, until the end or until `isDue`. It returns whether it is done. */
  run(isDue: () => boolean): boolean {
    do {
      for (let tokens = 0; tokens < 500; tokens++) {
        if (this.#fault !== null || !this.#next()) return true
      }
    } while (!isDue())
    return false
  }

  /** Returns what was read. */
  result(): ParsedReply {
    return { root: this.#root, fault: this.#fault }
  }

  /** Reads a token. It returns false at the end. */
  #next(): boolean {
    const { text } = this
    if (this.#at >= text.length) {
      return this.#open.length > 0 || !this.#root ? this.#fail() : false
    }
    if (text[this.#at] !== '<') return this.#readText()
    if (text.startsWith('<?', this.#at)) return this.#skip('?>')
    if (text.startsWith('<!--', this.#at)) return this.#skip('-->')
    if (text.startsWith('<![CDATA[', this.#at)) return this.#readCDATA()
    if (text.startsWith('</', this.#at)) return this.#readEnd()
    return this.#readStart()
  }

  #fail(): false {
    this.#fault ??= this.#at + 1
    return false
  }

  #skip(end: string): boolean {
    const found = this.text.indexOf(end, this.#at)
    if (found < 0) return this.#fail()
    this.#at = found + end.length
    return true
  }

  #readText(): boolean {
    const found = this.text.indexOf('<', this.#at)
    const end = found < 0 ? this.text.length : found
    const part = this.text.slice(this.#at, end)
    const parent = this.#open.at(-1)
    if (!parent && part.trim() !== '') return this.#fail()
    if (parent) parent.value += decodeReferences(part)
    this.#at = end
    return true
  }

  #readCDATA(): boolean {
    const end = this.text.indexOf(']]>', this.#at)
    if (end < 0) return this.#fail()
    const parent = this.#open.at(-1)
    if (!parent) return this.#fail()
    parent.value += this.text.slice(this.#at + 9, end)
    this.#at = end + 3
    return true
  }

  #readEnd(): boolean {
    const end = this.text.indexOf('>', this.#at)
    if (end < 0) return this.#fail()
    const name = this.text.slice(this.#at + 2, end).trim()
    const element = this.#open.at(-1)
    if (element?.name !== name) return this.#fail()
    if (element.children.length > 0 && element.value.trim() === '') element.value = ''
    this.#open.pop()
    this.#at = end + 1
    return true
  }

  #readStart(): boolean {
    startTag.lastIndex = this.#at
    const found = startTag.exec(this.text)
    if (!found) return this.#fail()
    const element = new Element(found[1]!)
    const parent = this.#open.at(-1)
    if (parent) {
      parent.children.push(element)
      parent.kind = 'group'
    } else if (this.#root) return this.#fail()
    else this.#root = element
    for (const [, name, , double, single] of (found[2] ?? '').matchAll(attribute)) {
      element.kind = 'group'
      const child = new Element('@' + name)
      child.value = decodeReferences(double ?? single ?? '')
      element.children.push(child)
    }
    if (found[3] !== '/') {
      if (this.#open.length >= maxDepth) return this.#fail()
      this.#open.push(element)
    }
    this.#at = startTag.lastIndex
    return true
  }
}

const startTag = /<([^\s<>/="'!?]+)((?:\s+[^\s<>/="']+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/y
const attribute = /([^\s<>/="']+)\s*=\s*("([^"]*)"|'([^']*)')/g

const named: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

function decodeReferences(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(/&(?:#x([0-9a-fA-F]{1,6})|#(\d{1,7})|(\w+));/g, (whole, hex, decimal, name) => {
    if (name !== undefined) return named[name] ?? whole
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
}
