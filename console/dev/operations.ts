// A description of the operations for development without an edge that serves one.

import type { Description, Operation, Parameter } from '../src/description.ts'

const albums = '女生個人 男生個人 家庭親情 校園生活 國內旅遊 國外旅遊 美食記錄 寶貝寵物 情侶合照 朋友團體 甜蜜婚禮 影視娛樂 攝影外拍 自然風景 圖像創作 其它類別'
const pois = '溫柔鄉 好康鄉 私の鄉 萬家鄉 尖叫鄉'
const numbered = (names: string) => names.split(' ').map((label, i) => ({ value: String(i + 1), label }))
const types = ['love', 'pets', 'mood', 'news', 'food', 'beauty', 'joy', 'friendship', 'travel'].map((label, i) => ({ value: '0_' + i, label }))
const weathers = '晴空萬里 狂風暴雨 陰雨綿綿 雨過天晴 烏雲滿天 大雪數日 有彩虹'.split(' ').map(value => ({ value, label: value }))
const maxID = 9007199254740991

const req = (p: Parameter): Parameter => ({ ...p, required: true })
const id = (name: string): Parameter => ({ name, hint: '1 to 9007199254740991', type: 'id', min: 1, max: maxID, required: true })
const lat: Parameter = { name: 'lat', hint: 'from -90 to 90', type: 'decimal', min: -90, max: 90 }
const lng: Parameter = { name: 'lng', hint: 'from -180 to 180', type: 'decimal', min: -180, max: 180 }
const title = (name: string): Parameter => ({ name, hint: '1 to 200 characters', type: 'text', maxLength: 200 })
const albumCategory: Parameter = { name: 'category', hint: '1 to 16', type: 'enum', values: numbered(albums) }
const poiCategory: Parameter = { name: 'category', hint: '1 to 5', type: 'enum', values: numbered(pois), required: true }
const limit: Parameter = { name: 'limit', hint: '1 to 1000000', type: 'integer', min: 1, max: 1000000 }
const after: Parameter = { name: 'after', hint: '0 to 9007199254740991', type: 'integer', min: 0, max: maxID }
const number = (name: string, min: number, max: number): Parameter => ({ name, hint: `${min} to ${max}`, type: 'integer', min, max })
const blog: Parameter[] = [
  { name: 'type', hint: '0_0 to 0_8', type: 'enum', values: types },
  lat, lng, title('blogTitle'),
  { name: 'blogContent', hint: '1 to 100000 characters', type: 'text', maxLength: 100000, multiline: true },
  number('year', 1, 9999), number('month', 1, 12), number('day', 1, 31),
  { name: 'weather', hint: 'one of 晴空萬里, 狂風暴雨, 陰雨綿綿, 雨過天晴, 烏雲滿天, 大雪數日, 有彩虹', type: 'enum', values: weathers },
].map(p => req(p as Parameter))
const blogMore: Parameter[] = [
  { name: 'replyBlogID', hint: '1 to 9007199254740991, or empty for none', type: 'id', min: 1, max: maxID },
  { ...number('zoomLevel', 0, 21), default: '14' },
  { name: 'mapType', hint: '1 to 3', type: 'enum', values: ['1', '2', '3'].map(value => ({ value })), default: '1' },
]

const op = (func: string, group: string, effect: 'read' | 'write', parameters: Parameter[], more: Partial<Operation> = {}): Operation => ({
  func, variant: '', group, effect, login: effect === 'write', addition: false, parameters, ...more,
})

const failure = (reason: string, info: string, status: number, meaning: string, action: string) => ({ reason, info, status, meaning, action })

export const operations: Description = {
  version: 'development',
  tiles: '',
  additions: true,
  paths: { api: '/API.php' },
  operations: [
    op('addAlbum', 'album', 'write', [req(title('albumTitle')), req(albumCategory), req(lat), req(lng)]),
    op('updateAlbum', 'album', 'write', [id('albumID'), title('albumTitle'), albumCategory, lat, lng]),
    op('updateAlbum', 'album', 'write', [id('albumID')], { variant: 'delete', fixed: { delete: 'true' } }),
    op('getAlbum', 'album', 'read', [id('albumID')]),
    op('getUserAlbumList', 'album', 'read', [id('userID'), limit, after]),
    op('getCategoryPOIList', 'poi', 'read', [poiCategory, limit, after]),
    op('getPOI', 'poi', 'read', [id('POIID')]),
    op('postBlog', 'blog', 'write', [...blog, ...blogMore]),
    op('updateBlog', 'blog', 'write', [id('blogID'), ...blog, ...blogMore]),
    op('updateBlog', 'blog', 'write', [id('blogID')], { variant: 'delete', fixed: { delete: 'true' } }),
    op('getBlog', 'blog', 'read', [id('blogID')]),
    op('getUserBlogList', 'blog', 'read', [id('userID'), limit, after], { addition: true }),
    op('login', 'session', 'write', [req({ name: 'email', hint: '1 to 254 bytes', type: 'text', maxLength: 254 }), req({ name: 'password', hint: '1 to 200 characters', type: 'password', maxLength: 200 })], { login: false, addition: true }),
    op('logout', 'session', 'write', [], { login: false, addition: true }),
  ],
  shared: [
    { name: 'responseFormat', hint: 'XML or JSON', type: 'enum', values: [{ value: 'XML' }, { value: 'JSON' }], default: 'XML' },
    { name: 'key', hint: 'the key of an application', type: 'text' },
    { name: 'ts', hint: 'seconds since 1970', type: 'integer' },
    { name: 'sig', hint: 'a signature', type: 'text' },
  ],
  failures: [
    failure('MISSING_PARAMETER', 'MISSING PARAMETER: albumTitle', 200, 'a required parameter is absent', 'send the parameter'),
    failure('INVALID_PARAMETER', 'INVALID PARAMETER: lat (from -90 to 90)', 200, 'a parameter is out of range or malformed', 'send a value that the brackets show'),
    failure('LOGIN_REQUIRED', 'LOGIN REQUIRED', 200, 'the cookie is missing, or its session is not open', 'log in'),
    failure('ALBUM_NOT_FOUND', 'ALBUM NOT FOUND', 200, 'no album has this albumID', 'check the identifier'),
  ],
}
