// String literals of the languages.

/**
 * Returns a literal in double quotes that Python, Java and Go read as the text. Characters that are
 * invisible, or that change the direction of the line, are escaped.
 */
export function doubleQuoted(text: string): string {
  return JSON.stringify(text.toWellFormed()).replace(unseen, each => '\\u' + hex(each, 4))
}

/** Returns a PHP literal in double quotes. */
export function phpQuoted(text: string): string {
  const escaped = text
    .toWellFormed()
    .replace(/[\\"$]/g, '\\$&')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\t', '\\t')
    .replace(/[\0-\x1f]/g, each => '\\x' + hex(each, 2))
    .replace(unseen, each => '\\u{' + hex(each, 1) + '}')
  return '"' + escaped + '"'
}

/** Returns a word of the POSIX shell in single quotes. */
export function shellQuoted(text: string): string {
  return "'" + text.replaceAll("'", "'\\''") + "'"
}

/** Says whether a terminal and a clipboard carry the text as it is. */
export function isPlain(text: string): boolean {
  return text.isWellFormed() && !/[\0-\x08\x0b-\x1f]/.test(text) && text.search(unseen) < 0
}

const unseen = /[\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g

function hex(character: string, digits: number): string {
  return character.charCodeAt(0).toString(16).padStart(digits, '0')
}
