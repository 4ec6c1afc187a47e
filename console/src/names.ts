// Names of operations, groups and parameters for people. The description of the edge has none in Chinese;
// what this page does not know is shown by its name in the interface.

import { language } from './i18n'
import { operationName, type Operation } from './description'

type Names = Record<string, readonly [en: string, zh: string]>

const operations: Names = {
  addAlbum: ['Add an album', '新增相簿'],
  updateAlbum: ['Change an album', '修改相簿'],
  'updateAlbum.delete': ['Delete an album', '刪除相簿'],
  getAlbum: ['Read an album', '讀取相簿'],
  getUserAlbumList: ['List a user’s albums', '列出使用者的相簿'],
  getCategoryPOIList: ['List a category’s landmarks', '列出類別的地標'],
  getNearbyPOIList: ['Find landmarks nearby', '尋找附近的地標'],
  'getNearbyPOIList.point': ['Find landmarks around a point', '尋找某點附近的地標'],
  'getNearbyPOIList.box': ['Find landmarks in a box', '尋找範圍內的地標'],
  getNearbyAlbumList: ['Find albums nearby', '尋找附近的相簿'],
  'getNearbyAlbumList.point': ['Find albums around a point', '尋找某點附近的相簿'],
  'getNearbyAlbumList.box': ['Find albums in a box', '尋找範圍內的相簿'],
  getNearbyBlogList: ['Find diary entries nearby', '尋找附近的日誌'],
  'getNearbyBlogList.point': ['Find diary entries around a point', '尋找某點附近的日誌'],
  'getNearbyBlogList.box': ['Find diary entries in a box', '尋找範圍內的日誌'],
  getRecentAlbumList: ['List all albums', '列出所有相簿'],
  getRecentBlogList: ['List all diary entries', '列出所有日誌'],
  getRecentPOIList: ['List all landmarks', '列出所有地標'],
  getUserPOIList: ['List a user’s landmarks', '列出使用者的地標'],
  getDatedBlogList: ['List diary entries by date', '依日期列出日誌'],
  getPOI: ['Read a landmark', '讀取地標'],
  postBlog: ['Post a diary entry', '發表日誌'],
  updateBlog: ['Change a diary entry', '修改日誌'],
  'updateBlog.delete': ['Delete a diary entry', '刪除日誌'],
  getBlog: ['Read a diary entry', '讀取日誌'],
  getUserBlogList: ['List a user’s diary entries', '列出使用者的日誌'],
  addPhoto: ['Add a photo', '新增相片'],
  removePhoto: ['Remove a photo', '移除相片'],
  addComment: ['Add a comment', '新增留言'],
  replyComment: ['Reply to a comment', '回覆留言'],
  removeComment: ['Remove a comment', '移除留言'],
  recommend: ['Recommend', '推薦'],
  withdrawRecommendation: ['Withdraw a recommendation', '收回推薦'],
  castVote: ['Vote', '投票'],
  login: ['Log in', '登入'],
  logout: ['Log out', '登出'],
}

/** What a variant adds to the name of its func. */
const variants: Names = {
  withIDs: ['with identifiers', '含識別碼'],
  album: ['album', '相簿'],
  blog: ['diary entry', '日誌'],
  poi: ['landmark', '地標'],
}

const groups: Names = {
  album: ['Albums', '相簿'],
  poi: ['Landmarks', '地標'],
  blog: ['Diary', '日誌'],
  session: ['Session', '登入'],
  content: ['Photos, comments, votes', '相片、留言、投票'],
}

const parameters: Names = {
  albumID: ['Album', '相簿'],
  albumTitle: ['Title', '標題'],
  category: ['Category', '類別'],
  lat: ['Latitude', '緯度'],
  lng: ['Longitude', '經度'],
  latMin: ['Southern latitude', '南界緯度'],
  latMax: ['Northern latitude', '北界緯度'],
  lngMin: ['Western longitude', '西界經度'],
  lngMax: ['Eastern longitude', '東界經度'],
  radius: ['Radius (m)', '半徑（公尺）'],
  userID: ['User', '使用者'],
  limit: ['Most items', '筆數上限'],
  after: ['Continue after', '接續於'],
  POIID: ['Landmark', '地標'],
  blogID: ['Diary entry', '日誌'],
  type: ['Type', '類型'],
  blogTitle: ['Title', '標題'],
  blogContent: ['Text', '內文'],
  year: ['Year', '年'],
  month: ['Month', '月'],
  day: ['Day', '日'],
  weather: ['Weather', '天氣'],
  replyBlogID: ['Quoted entry', '引用的日誌'],
  zoomLevel: ['Zoom level', '縮放層級'],
  mapType: ['Map type', '地圖類型'],
  delete: ['Delete', '刪除'],
  email: ['Email', '電子郵件'],
  password: ['Password', '密碼'],
  photoID: ['Photo', '相片'],
  photoPath: ['Address of the image', '圖片位址'],
  photo: ['Address of the image', '圖片位址'],
  thumbnail: ['Address of the small image', '縮圖位址'],
  description: ['Description', '說明'],
  commentID: ['Comment', '留言'],
  comment: ['Comment', '留言'],
  reply: ['Reply', '回覆'],
  voteDescription: ['Question of the vote', '投票題目'],
  choice: ['Choice', '選項'],
}

function nameOf(names: Names, key: string): string | undefined {
  return Object.hasOwn(names, key) ? names[key]![language.value === 'en' ? 0 : 1] : undefined
}

/** Returns the name of an operation; its name in the interface if the page does not know it. */
export function operationTitle(operation: Pick<Operation, 'func' | 'variant'>): string {
  const own = nameOf(operations, operationName(operation))
  if (own) return own
  const title = nameOf(operations, operation.func) ?? operation.func
  const variant = nameOf(variants, operation.variant)
  if (!variant) return title
  return language.value === 'en' ? `${title}: ${variant}` : `${title}（${variant}）`
}

/** Returns the name of a group of operations. */
export function groupTitle(group: string): string {
  return nameOf(groups, group) ?? group
}

/** Returns the name of a parameter, or undefined if the page does not know it. */
export function parameterTitle(name: string): string | undefined {
  const numbered = /^(choice)(\d+)$/.exec(name)
  if (numbered) return `${nameOf(parameters, numbered[1]!)} ${numbered[2]}`
  return nameOf(parameters, name)
}
