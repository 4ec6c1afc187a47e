import { percentEncode } from '../form'
import { isPlain, shellQuoted } from './quote'
import type { Snippet, Value } from './snippet'

/** The longest form, in bytes, that may be an argument. Linux allows 131,072 for one. */
const maxArgument = 60_000

/** Returns a script for a POSIX shell with curl. */
export function curl(snippet: Snippet): string {
  const isShort = snippet.parameters.every(([name, { text = '' }]) => isPlain(name + text) && percentEncode(text).length < maxArgument)
  return isShort ? plain(snippet) : encoded(snippet)
}

function plain(snippet: Snippet): string {
  const first = [command(snippet), ...(snippet.method === 'GET' ? ['-G'] : []), shellQuoted(snippet.url)].join(' ')
  const lines = snippet.parameters.map(([name, value]) => `--data-urlencode ${argument(name, value)}`)
  return [first, ...lines].join(' \\\n  ') + '\n'
}

function argument(name: string, { text, variable }: Value): string {
  return variable === undefined ? shellQuoted(percentEncode(name) + '=' + text) : `"${percentEncode(name)}=$${variable}"`
}

// A long form, or one with invisible characters, is written as it travels.
function encoded(snippet: Snippet): string {
  const escape = snippet.parameters.some(([, value]) => value.variable !== undefined)
  const form = joined(snippet.parameters)
  const lines = escape ? [escapeFunction] : []
  lines.push(`${command(snippet)}${snippet.method === 'GET' ? ' -G' : ''} --data @- ${shellQuoted(snippet.url)} <<WAYBOOK`, form, 'WAYBOOK')
  return lines.join('\n') + '\n'
}

/** Returns the form percent-encoded, for double quotes of the shell. */
function joined(parameters: Snippet['parameters']): string {
  return parameters.map(([name, value]) => `${percentEncode(name)}=${encodedValue(value)}`).join('&')
}

function encodedValue({ text = '', variable }: Value): string {
  return variable === undefined ? percentEncode(text) : `$(escape "$${variable}")`
}

function command(snippet: Snippet): string {
  return snippet.hasCookie ? 'curl -sS -b "$COOKIE"' : 'curl -sS'
}

const escapeFunction = `escape() { printf %s "$1" | od -An -v -tu1 |
  awk '{for (i = 1; i <= NF; i++) {c = sprintf("%c", $i); if ($i < 128 && c ~ /[A-Za-z0-9._~-]/) printf "%s", c; else printf "%%%02X", $i}}'; }`
