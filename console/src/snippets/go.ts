import { doubleQuoted as quoted } from './quote'
import type { Snippet, Value } from './snippet'

/** Returns a Go program of the standard library, to run with `go run request.go`. */
export function go(snippet: Snippet): string {
  const isPost = snippet.method === 'POST'
  const imports = ['io', 'log', 'net/http', 'net/url', 'os']
  if (isPost) imports.push('strings')
  const target = isPost ? quoted(snippet.url) : `${quoted(snippet.url + '?')}+form.Encode()`
  return [
    'package main',
    '',
    'import (',
    ...imports.toSorted().map(each => `\t"${each}"`),
    ')',
    '',
    'func main() {',
    '\tform := url.Values{',
    ...aligned(snippet.parameters),
    '\t}',
    `\trequest, err := http.NewRequest("${snippet.method}", ${target}, ${isPost ? 'strings.NewReader(form.Encode())' : 'nil'})`,
    '\tif err != nil {',
    '\t\tlog.Fatal(err)',
    '\t}',
    ...(isPost ? ['\trequest.Header.Set("Content-Type", "application/x-www-form-urlencoded")'] : []),
    ...(snippet.hasCookie ? ['\trequest.Header.Set("Cookie", os.Getenv("COOKIE"))'] : []),
    '\treply, err := http.DefaultClient.Do(request)',
    '\tif err != nil {',
    '\t\tlog.Fatal(err)',
    '\t}',
    '\tdefer reply.Body.Close()',
    '\tif _, err := io.Copy(os.Stdout, reply.Body); err != nil {',
    '\t\tlog.Fatal(err)',
    '\t}',
    '}',
    '',
  ].join('\n')
}

/** Returns the parameters, their values below each other as gofmt writes them. */
function aligned(parameters: Snippet['parameters']): string[] {
  const names = parameters.map(([name]) => quoted(name) + ':')
  const width = Math.max(...names.map(each => [...each].length))
  return parameters.map(([, value], i) => `\t\t${names[i]!}${' '.repeat(width - [...names[i]!].length)} {${expression(value)}},`)
}

function expression({ text = '', variable }: Value): string {
  return variable === undefined ? quoted(text) : `os.Getenv("${variable}")`
}
