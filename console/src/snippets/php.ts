import { phpQuoted as quoted } from './quote'
import type { Snippet, Value } from './snippet'

/** Returns a PHP script without extensions. */
export function php(snippet: Snippet): string {
  const isPost = snippet.method === 'POST'
  const lines = ['<?php', '$form = [', ...snippet.parameters.map(([name, value]) => `    ${quoted(name)} => ${expression(value)},`), '];']
  const headers = isPost ? [quoted('Content-Type: application/x-www-form-urlencoded')] : []
  if (snippet.hasCookie) headers.push(`'Cookie: ' . getenv('COOKIE')`)
  lines.push('$query = http_build_query($form, \'\', \'&\');', '$context = stream_context_create([\'http\' => [', `    'method' => '${snippet.method}',`)
  if (headers.length > 0) lines.push(`    'header' => [${headers.join(', ')}],`)
  if (isPost) lines.push(`    'content' => $query,`)
  lines.push(`    'ignore_errors' => true, // a refusal has a reply, too`, ']]);')
  lines.push(`echo file_get_contents(${quoted(snippet.url)}${isPost ? '' : ` . '?' . $query`}, false, $context);`)
  return lines.join('\n') + '\n'
}

function expression({ text = '', variable }: Value): string {
  return variable === undefined ? quoted(text) : `getenv('${variable}')`
}
