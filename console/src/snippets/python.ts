import { doubleQuoted as quoted } from './quote'
import type { Snippet, Value } from './snippet'

/** Returns a script for Python 3.7 or newer without packages. */
export function python(snippet: Snippet): string {
  const isPost = snippet.method === 'POST'
  const needsOS = snippet.hasCookie || snippet.parameters.some(([, value]) => value.variable)
  const imports = [...(needsOS ? ['os'] : []), 'sys']
  const lines = [
    ...imports.map(each => `import ${each}`),
    'from urllib.error import HTTPError',
    'from urllib.parse import urlencode',
    'from urllib.request import Request, urlopen',
    '',
    'form = {',
    ...snippet.parameters.map(([name, value]) => `    ${quoted(name)}: ${expression(value)},`),
    '}',
  ]
  lines.push(
    isPost ? `request = Request(${quoted(snippet.url)}, data=urlencode(form).encode())` : `request = Request(${quoted(snippet.url + '?')} + urlencode(form))`,
  )
  if (snippet.hasCookie) lines.push('request.add_header("Cookie", os.environ["COOKIE"])')
  lines.push('try:', '    reply = urlopen(request)', 'except HTTPError as refusal:', '    reply = refusal  # it has a reply, too', 'sys.stdout.buffer.write(reply.read())')
  return lines.join('\n') + '\n'
}

function expression({ text = '', variable }: Value): string {
  return variable === undefined ? quoted(text) : `os.environ["${variable}"]`
}
