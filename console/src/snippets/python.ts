import { doubleQuoted as quoted } from './quote'
import type { Snippet, Value } from './snippet'

/** Returns a script for Python 3.7 or newer without packages. */
export function python(snippet: Snippet): string {
  const isPost = snippet.method === 'POST'
  const isSigned = snippet.key !== undefined
  const needsOS = isSigned || snippet.hasCookie || snippet.parameters.some(([, value]) => value.variable)
  const imports = isSigned ? ['hashlib', 'hmac', 'os', ...(snippet.hasNonce ? ['secrets'] : []), 'sys', 'time'] : [...(needsOS ? ['os'] : []), 'sys']
  const lines = [
    ...imports.map(each => `import ${each}`),
    'from urllib.error import HTTPError',
    `from urllib.parse import ${isSigned ? 'quote, urlencode' : 'urlencode'}`,
    'from urllib.request import Request, urlopen',
    '',
    'form = {',
    ...snippet.parameters.map(([name, value]) => `    ${quoted(name)}: ${expression(value)},`),
    '}',
  ]
  if (snippet.key !== undefined) lines.push(...signing(snippet, snippet.key))
  lines.push(
    isPost ? `request = Request(${quoted(snippet.url)}, data=urlencode(form).encode())` : `request = Request(${quoted(snippet.url + '?')} + urlencode(form))`,
  )
  if (snippet.hasCookie) lines.push('request.add_header("Cookie", os.environ["COOKIE"])')
  lines.push('try:', '    reply = urlopen(request)', 'except HTTPError as refusal:', '    reply = refusal  # it has a reply, too', 'sys.stdout.buffer.write(reply.read())')
  return lines.join('\n') + '\n'
}

function signing(snippet: Snippet, key: string): string[] {
  return [
    `form["key"] = ${quoted(key)}`,
    'form["ts"] = str(int(time.time()))',
    ...(snippet.hasNonce ? ['form["nonce"] = secrets.token_hex(8)'] : []),
    'pairs = sorted((name.encode(), value.encode()) for name, value in form.items())',
    `canonical = "${snippet.method}\\n/API.php\\n" + urlencode(pairs, quote_via=quote, safe="")`,
    'digest = hashlib.sha256(canonical.encode()).hexdigest()',
    'form["sig"] = hmac.new(os.environ["SECRET"].encode(), digest.encode(), "sha256").hexdigest()',
  ]
}

function expression({ text = '', variable }: Value): string {
  return variable === undefined ? quoted(text) : `os.environ["${variable}"]`
}
