import { phpQuoted as quoted } from './quote'
import type { Snippet, Value } from './snippet'

/** Returns a PHP script without extensions. */
export function php(snippet: Snippet): string {
  const isPost = snippet.method === 'POST'
  const lines = ['<?php', '$form = [', ...snippet.parameters.map(([name, value]) => `    ${quoted(name)} => ${expression(value)},`), '];']
  if (snippet.key !== undefined) lines.push(...signing(snippet, snippet.key))
  const headers = isPost ? [quoted('Content-Type: application/x-www-form-urlencoded')] : []
  if (snippet.hasCookie) headers.push(`'Cookie: ' . getenv('COOKIE')`)
  lines.push('$query = http_build_query($form, \'\', \'&\');', '$context = stream_context_create([\'http\' => [', `    'method' => '${snippet.method}',`)
  if (headers.length > 0) lines.push(`    'header' => [${headers.join(', ')}],`)
  if (isPost) lines.push(`    'content' => $query,`)
  lines.push(`    'ignore_errors' => true, // a refusal has a reply, too`, ']]);')
  lines.push(`echo file_get_contents(${quoted(snippet.url)}${isPost ? '' : ` . '?' . $query`}, false, $context);`)
  return lines.join('\n') + '\n'
}

function signing(snippet: Snippet, key: string): string[] {
  return [
    `$form['key'] = ${quoted(key)};`,
    `$form['ts'] = (string) time();`,
    ...(snippet.hasNonce ? [`$form['nonce'] = bin2hex(random_bytes(8));`] : []),
    'ksort($form, SORT_STRING);',
    `$canonical = "${snippet.method}\\n/API.php\\n" . http_build_query($form, '', '&', PHP_QUERY_RFC3986);`,
    `$form['sig'] = hash_hmac('sha256', hash('sha256', $canonical), getenv('SECRET'));`,
  ]
}

function expression({ text = '', variable }: Value): string {
  return variable === undefined ? quoted(text) : `getenv('${variable}')`
}
