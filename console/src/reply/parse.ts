import { parseJSON } from './json'
import type { ParsedReply } from './tree'
import { XMLParser } from './xml'

/** How long the parser may keep the page from drawing, in milliseconds. */
const slice = 12

/** Parses the text of a reply. A long XML text is parsed in slices, between which the page can draw. */
export async function parseReply(text: string, isJSON: boolean): Promise<ParsedReply> {
  if (isJSON) return parseJSON(text)
  const parser = new XMLParser(text)
  for (;;) {
    const due = performance.now() + slice
    if (parser.run(() => performance.now() >= due)) return parser.result()
    await new Promise(resolve => setTimeout(resolve))
  }
}
