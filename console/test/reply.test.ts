import { expect, test } from 'vitest'
import { parseReply } from '../src/reply/parse'
import { child, walk, type TreeNode } from '../src/reply/tree'

const plain = (node: TreeNode): unknown => (node.size > 0 ? node.first(node.size).map(each => [each.name, plain(each)]) : node.value)

const parsed = async (text: string, isJSON = false) => {
  const { root, fault } = await parseReply(text, isJSON)
  return { tree: root && [root.name, plain(root)], fault }
}

test('a reply in XML is a tree of its elements', async () => {
  const text = '<?xml version="1.0" encoding="UTF-8"?>\n<response><status>SUCCESS</status><l><a1><t>a &lt;b&gt; &amp;&#13;\n&#x53F0;</t></a1><a2></a2></l><e/></response>\n'
  expect(await parsed(text)).toEqual({
    tree: ['response', [['status', 'SUCCESS'], ['l', [['a1', [['t', 'a <b> &\r\n台']]], ['a2', '']]], ['e', '']]],
    fault: null,
  })
})

test('attributes, CDATA, comments and single quotes are read', async () => {
  const text = `<r a="1 &amp; 2" b='"'><!-- <x> --><![CDATA[<y>&amp;]]></r>`
  expect((await parsed(text)).tree).toEqual(['r', [['@a', '1 & 2'], ['@b', '"']]])
})

test.each([
  ['<r><a>1</a><b>2', 16],
  ['<r><a>1</b></r>', 8],
  ['<r>', 4],
  ['<r', 1],
  ['<r></r><s></s>', 8],
  ['plain', 1],
  ['', 1],
  ['<r><![CDATA[', 4],
])('of %j the parser says where the fault is', async (text, fault) => {
  expect((await parsed(text)).fault).toBe(fault)
})

test('the part of a broken reply is shown', async () => {
  expect((await parsed('<r><a>1</a><b>2')).tree).toEqual(['r', [['a', '1'], ['b', '2']]])
})

test('elements are read to a depth of 200', async () => {
  expect((await parsed('<a>'.repeat(200) + '</a>'.repeat(200))).fault).toBeNull()
  expect((await parsed('<a>'.repeat(5000))).fault).toBe(601)
})

test('a long reply is parsed in slices and whole', async () => {
  const items = Array.from({ length: 30_000 }, (_, i) => `<POI${i + 1}><POIID>${i}</POIID><name>景點</name></POI${i + 1}>`)
  const { root, fault } = await parseReply(`<response><POIList>${items.join('')}</POIList></response>`, false)
  expect(fault).toBeNull()
  expect(child(root, 'POIList')!.size).toBe(30_000)
})

test('a reply in JSON is a tree of its names', async () => {
  expect(await parsed('{"status":"SUCCESS","list":[{"id":9007199254740991,"n":null},true],"o":{}}', true)).toEqual({
    tree: ['response', [['status', 'SUCCESS'], ['list', [['1', [['id', '9007199254740991'], ['n', 'null']]], ['2', 'true']]], ['o', '']]],
    fault: null,
  })
  expect(await parsed('{"a":', true)).toEqual({ tree: null, fault: 0 })
})

test('a walk visits parents first and ends at its limit', async () => {
  const { root } = await parseReply('<r><a><c>1</c></a><b>2</b></r>', false)
  const names: string[] = []
  walk(root!, 3, node => names.push(node.name))
  expect(names).toEqual(['r', 'a', 'b'])
})
