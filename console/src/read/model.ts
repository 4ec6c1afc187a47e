// Albums, entries and landmarks as the views show them, from replies in JSON.

export interface Place {
  lat: number
  lng: number
}

export interface Person {
  /** Empty where the reply has none. */
  id: string
  /** Empty when the user is gone. */
  name: string
  icon: string
}

export interface Photo {
  /** Empty where the reply has none, as for a landmark. */
  id: string
  address: string
  description: string
}

export interface Comment {
  /** Empty where the reply has none. */
  id: string
  time: string
  author: Person
  text: string
  reply: { time: string; text: string } | undefined
}

export interface Vote {
  description: string
  choices: { description: string; votes: number }[]
}

/** An album, an entry or a landmark. */
export interface Content {
  kind: ContentKind
  id: string
  title: string
  place: Place
  owner: Person
  /** YYYY-MM-DD: the last change, or for an entry the planned date. */
  date: string
  score: number
  /** The number of the category, or the type of an entry. */
  category: string
  photos: Photo[]
  comments: Comment[]
  /** Entries only. */
  entry: { text: string; weather: string; quoted: string; zoom: number; vote: Vote | undefined } | undefined
}

export type ContentKind = 'album' | 'blog' | 'landmark'

/** What a list shows of content. */
export interface Summary {
  kind: ContentKind
  id: string
  title: string
  place: Place
  owner: Person
  date: string
  /** Undefined where the list does not say it, as of entries that were found near a place. */
  score: number | undefined
  category: string
  /** Of entries; empty where the list does not say it. */
  weather: string
  /** The entry that this one answers; empty for none. */
  quoted: string
  /** The distance from the middle of a search in metres. */
  distance: number | undefined
}

interface CommonItem {
  Location?: Place
  ownerID?: number
  ownerName?: string
  ownerIcon?: string
  category?: number
  updateDate?: DateReply
  score?: number
  distance?: number
}

export interface AlbumItem extends CommonItem {
  albumID: number | string
  albumTitle?: string
}

export interface LandmarkItem extends CommonItem {
  POIID: number | string
  name?: string
}

export interface BlogItem extends CommonItem {
  blogID: number | string
  blogTitle?: string
  authorID?: number
  authorName?: string
  authorIcon?: string
  type?: string
  postDate?: DateReply
  weather?: string
  replyBlogID?: number
}

/** Returns an item of a list of everybody's content. */
export function summaryOf(item: AlbumItem | LandmarkItem | BlogItem): Summary {
  const common = {
    place: item.Location ?? { lat: 0, lng: 0 },
    score: item.score,
    distance: item.distance,
    weather: '',
    quoted: '',
  }
  if ('blogID' in item) {
    return {
      ...common,
      kind: 'blog',
      id: String(item.blogID),
      title: item.blogTitle ?? '',
      owner: personOf(item.authorID, item.authorName, item.authorIcon),
      date: dateOf(item.postDate),
      category: item.type ?? '',
      weather: item.weather ?? '',
      quoted: idOf(item.replyBlogID),
    }
  }
  const owned = {
    ...common,
    owner: personOf(item.ownerID, item.ownerName, item.ownerIcon),
    date: dateOf(item.updateDate),
    category: String(item.category ?? ''),
  }
  return 'albumID' in item
    ? { ...owned, kind: 'album', id: String(item.albumID), title: item.albumTitle ?? '' }
    : { ...owned, kind: 'landmark', id: String(item.POIID), title: item.name ?? '' }
}

/** Returns what a list would show of content. */
export function summaryOfContent(content: Content): Summary {
  const { kind, id, title, place, owner, date, score, category, entry } = content
  return {
    kind, id, title, place, owner, date, score, category,
    weather: entry?.weather ?? '', quoted: entry?.quoted ?? '', distance: undefined,
  }
}

/** Returns a distance as people say it: 240 m, 3.2 km, 41 km. */
export function formatDistance(meters: number): string {
  if (meters < 995) return `${Math.round(meters)} m`
  return `${meters < 9950 ? (meters / 1000).toFixed(1) : Math.round(meters / 1000)} km`
}

interface DateReply {
  year: number
  month: number
  day: number
}

interface CommentReply {
  commentID?: number
  commenterID?: number
  time?: string
  commenterName?: string
  commenterIcon?: string
  comment?: string
  authorReply?: { time?: string; reply?: string }
}

interface CommonReply {
  ownerID?: number
  category?: number
  Location?: Place
  ownerName?: string
  ownerIcon?: string
  updateDate?: DateReply
  score?: number
  photos?: { photoID?: number; thumbnail?: string; photoPath?: string; photo?: string; description?: string }[]
  comments?: CommentReply[]
}

export interface AlbumReply extends CommonReply {
  albumTitle?: string
}

export interface LandmarkReply extends CommonReply {
  name?: string
}

export interface BlogReply extends CommonReply {
  authorID?: number
  authorName?: string
  authorIcon?: string
  type?: string
  blogTitle?: string
  blogContent?: string
  postDate?: DateReply
  weather?: string
  replyBlogID?: number
  zoomLevel?: number
  vote?: { description?: string; choices?: { description?: string; votes?: number }[] }
}

export function albumOf(id: string, reply: AlbumReply): Content {
  return { ...common(reply), kind: 'album', id, title: reply.albumTitle ?? '' }
}

export function landmarkOf(id: string, reply: LandmarkReply): Content {
  return { ...common(reply), kind: 'landmark', id, title: reply.name ?? '' }
}

export function blogOf(id: string, reply: BlogReply): Content {
  const { vote } = reply
  return {
    ...common(reply),
    kind: 'blog',
    id,
    title: reply.blogTitle ?? '',
    owner: personOf(reply.authorID, reply.authorName, reply.authorIcon),
    date: dateOf(reply.postDate),
    category: reply.type ?? '',
    entry: {
      text: reply.blogContent ?? '',
      weather: reply.weather ?? '',
      quoted: idOf(reply.replyBlogID),
      zoom: reply.zoomLevel ?? 14,
      vote: vote && {
        description: vote.description ?? '',
        choices: (vote.choices ?? []).map(each => ({ description: each.description ?? '', votes: each.votes ?? 0 })),
      },
    },
  }
}

function common(reply: CommonReply): Omit<Content, 'kind' | 'id' | 'title'> {
  return {
    place: reply.Location ?? { lat: 0, lng: 0 },
    owner: personOf(reply.ownerID, reply.ownerName, reply.ownerIcon),
    date: dateOf(reply.updateDate),
    score: reply.score ?? 0,
    category: String(reply.category ?? ''),
    photos: (reply.photos ?? []).map(each => ({
      id: idOf(each.photoID),
      address: each.thumbnail ?? each.photoPath ?? each.photo ?? '',
      description: each.description ?? '',
    })),
    comments: (reply.comments ?? []).map(commentOf),
    entry: undefined,
  }
}

function commentOf(reply: CommentReply): Comment {
  const answer = reply.authorReply
  return {
    id: idOf(reply.commentID),
    time: reply.time ?? '',
    author: personOf(reply.commenterID, reply.commenterName, reply.commenterIcon),
    text: reply.comment ?? '',
    reply: answer && { time: answer.time ?? '', text: answer.reply ?? '' },
  }
}

function personOf(id?: number, name = '', icon = ''): Person {
  return { id: idOf(id), name, icon }
}

function idOf(id: number | undefined): string {
  return id ? String(id) : ''
}

function dateOf(date: DateReply | undefined): string {
  if (!date) return ''
  return [String(date.year).padStart(4, '0'), twoDigits(date.month), twoDigits(date.day)].join('-')
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0')
}

/** Returns each choice's share of all ballots, from 0 to 1. Without ballots all are 0. */
export function sharesOf(vote: Vote): number[] {
  const all = vote.choices.reduce((sum, choice) => sum + choice.votes, 0)
  return vote.choices.map(choice => (all === 0 ? 0 : choice.votes / all))
}

/** Returns a place as people write it: 25.0340° N, 121.5645° E. */
export function formatPlace({ lat, lng }: Place, digits = 4): string {
  return `${Math.abs(lat).toFixed(digits)}° ${lat < 0 ? 'S' : 'N'}, ${Math.abs(lng).toFixed(digits)}° ${lng < 0 ? 'W' : 'E'}`
}

/**
 * Returns where an image is, if the page's policy allows it: on the page's own origin, or on that of
 * `base`, against which relative addresses are resolved.
 */
export function loadableImage(address: string, base: string, page = base): string | undefined {
  const url = parseAddress(address, base)
  const origins = [new URL(page).origin, new URL(base).origin]
  return url && (url.protocol === 'data:' || origins.includes(url.origin)) ? url.href : undefined
}

const uploaded = /^upload\/(album|poi|user)\/\d+\/\d+-(thumb|view|icon)\.jpg$/

/** Reports whether an address is that of a file which this service keeps. */
export function isUploaded(address: string): boolean {
  return uploaded.test(address)
}

/** Returns the address of the larger view of a photo; that of the photo itself if it was not uploaded. */
export function viewOf(address: string): string {
  return isUploaded(address) ? address.replace(/-thumb\.jpg$/, '-view.jpg') : address
}

/** Returns the address of what was uploaded; empty if the photo was not. */
export function originalOf(address: string): string {
  return isUploaded(address) ? address.replace(/-(thumb|view)\.jpg$/, '-original') : ''
}

/** Returns the target of a link to an image: http and https only. */
export function linkToImage(address: string, base: string): string | undefined {
  const url = parseAddress(address, base)
  return url && /^https?:$/.test(url.protocol) ? url.href : undefined
}

function parseAddress(address: string, base: string): URL | undefined {
  if (!address) return undefined
  try {
    return new URL(address, base)
  } catch {
    return undefined
  }
}
