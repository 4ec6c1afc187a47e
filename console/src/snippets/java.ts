import { doubleQuoted as quoted } from './quote'
import type { Snippet, Value } from './snippet'

/** The most characters of a literal. A class file holds 65,535 bytes of one, and a character has up to 3. */
const maxLiteral = 20_000

/** Returns a program for Java 11 or newer, to run with `java Request.java`. */
export function java(snippet: Snippet): string {
  const isPost = snippet.method === 'POST'
  const imports = ['java.net.URI', 'java.net.URLEncoder', 'java.net.http.*', 'java.util.*', 'static java.nio.charset.StandardCharsets.UTF_8']
  return [
    '// Save it in UTF-8 as Request.java. Until Java 17: java -Dfile.encoding=UTF-8 Request.java',
    ...imports.map(each => `import ${each};`),
    '',
    'public class Request {',
    '    public static void main(String[] arguments) throws Exception {',
    '        var form = new LinkedHashMap<String, String>();',
    ...snippet.parameters.map(([name, value]) => `        form.put(${quoted(name)}, ${expression(value)});`),
    ...request(snippet, isPost),
    '        var client = HttpClient.newHttpClient();',
    '        System.out.write(client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray()).body());',
    '        System.out.flush();',
    '    }',
    '',
    '    static String encode(Map<String, String> form) {',
    '        var pairs = new ArrayList<String>();',
    '        form.forEach((name, value) -> pairs.add(escape(name) + "=" + escape(value)));',
    '        return String.join("&", pairs);',
    '    }',
    '',
    '    static String escape(String text) {',
    '        return URLEncoder.encode(text, UTF_8).replace("+", "%20").replace("*", "%2A").replace("%7E", "~");',
    '    }',
    '}',
    '',
  ].join('\n')
}

function request(snippet: Snippet, isPost: boolean): string[] {
  const lines = [`        var request = HttpRequest.newBuilder(URI.create(${quoted(snippet.url + (isPost ? '' : '?'))}${isPost ? '' : ' + encode(form)'}))`]
  if (isPost) {
    lines.push(
      '            .header("Content-Type", "application/x-www-form-urlencoded")',
      '            .POST(HttpRequest.BodyPublishers.ofString(encode(form)))',
    )
  }
  if (snippet.hasCookie) lines.push('            .header("Cookie", System.getenv("COOKIE"))')
  lines[lines.length - 1] += ';'
  return lines
}

function expression({ text = '', variable }: Value): string {
  if (variable !== undefined) return `System.getenv("${variable}")`
  if (text.length <= maxLiteral) return quoted(text)
  const characters = [...text]
  const parts: string[] = []
  for (let at = 0; at < characters.length; at += maxLiteral / 2) parts.push(quoted(characters.slice(at, at + maxLiteral / 2).join('')))
  return `String.join("", ${parts.join(', ')})`
}
