import { describe, expect, test } from 'vitest'
import { actionFor } from '../../src/read/actions'
import { isIdentifier } from '../../src/read/identifier'
import { Gate, listOf } from '../../src/read/load'
import { albumOf, blogOf, formatPlace, landmarkOf, linkToImage, loadableImage, sharesOf , isUploaded, originalOf, viewOf } from '../../src/read/model'

const when = { year: 2026, month: 2, day: 9 }

describe('models', () => {
  test('an album has its photos and comments, and a reply where there is one', () => {
    const album = albumOf('5', {
      albumTitle: '東北角',
      category: 5,
      Location: { lat: 25.1, lng: 121.8 },
      ownerName: '小旅人',
      ownerIcon: 'i.jpg',
      updateDate: when,
      score: 3,
      photos: [{ photoID: 8, thumbnail: 't.jpg', description: '' }],
      comments: [
        { time: 't1', commenterName: '阿海', commenterIcon: '', comment: 'a\nb' },
        { time: 't2', commenterName: '', commenterIcon: '', comment: 'c', authorReply: { time: 't3', reply: 'd' } },
      ],
    })
    expect(album).toMatchObject({
      kind: 'album',
      id: '5',
      title: '東北角',
      category: '5',
      date: '2026-02-09',
      score: 3,
    })
    expect(album.photos).toEqual([{ id: '8', address: 't.jpg', description: '' }])
    expect(album.comments.map(each => each.reply)).toEqual([undefined, { time: 't3', text: 'd' }])
    expect(album.entry).toBeUndefined()
  })

  test('identifiers are there when the reply has them', () => {
    const { owner, comments } = landmarkOf('9', {
      ownerID: 3,
      ownerName: 'n',
      comments: [{ commentID: 5, commenterID: 4 }],
    })
    expect(owner).toEqual({ id: '3', name: 'n', icon: '' })
    expect(comments[0]).toMatchObject({ id: '5', author: { id: '4', name: '' } })
    expect(blogOf('6', { authorID: 7 }).owner.id).toBe('7')
    expect(albumOf('6', { comments: [{}] }).comments[0]).toMatchObject({ id: '', author: { id: '' } })
  })

  test('lists that a reply lacks are empty', () => {
    const landmark = landmarkOf('9', { name: 'x', category: 2, Location: { lat: 0, lng: 0 } })
    expect([landmark.photos, landmark.comments]).toEqual([[], []])
    expect(landmark.title).toBe('x')
  })

  test('the photo of a landmark has its address under either name', () => {
    const { photos } = landmarkOf('9', { photos: [{ photoPath: 'a', photo: 'a' }, { photo: 'b' }] })
    expect(photos.map(each => each.address)).toEqual(['a', 'b'])
  })

  test('an entry has its text, its planned date and its vote', () => {
    const blog = blogOf('6', {
      authorName: 'n',
      type: '0_8',
      blogTitle: 'T',
      blogContent: 'text',
      postDate: when,
      weather: '有彩虹',
      replyBlogID: 4,
      zoomLevel: 0,
      score: 1,
      vote: {
        description: 'where?',
        choices: [
          { description: 'a', votes: 3 },
          { description: 'b', votes: 1 },
        ],
      },
    })
    expect(blog).toMatchObject({ date: '2026-02-09', category: '0_8', owner: { name: 'n' } })
    expect(blog.entry).toMatchObject({ text: 'text', quoted: '4', zoom: 0, weather: '有彩虹' })
    expect(sharesOf(blog.entry!.vote!)).toEqual([0.75, 0.25])
    expect(blogOf('6', {}).entry).toMatchObject({ quoted: '', zoom: 14, vote: undefined })
  })

  test('a vote without ballots has empty bars', () => {
    expect(
      sharesOf({
        description: '',
        choices: [
          { description: 'a', votes: 0 },
          { description: 'b', votes: 0 },
        ],
      }),
    ).toEqual([0, 0])
  })

  test('places have their hemispheres', () => {
    expect(formatPlace({ lat: -33.87, lng: -70.5 })).toBe('33.8700° S, 70.5000° W')
    expect(formatPlace({ lat: 25.034, lng: 121.5645 }, 2)).toBe('25.03° N, 121.56° E')
  })

  test('lists of both kinds have the same form', () => {
    expect(listOf({ albumList: [{ albumID: 1, albumTitle: 'a' }], next: 1 })).toEqual({
      items: [{ id: '1', title: 'a' }],
      next: '1',
    })
    expect(listOf({ blogList: [{ blogID: 2, blogTitle: 'b' }] })).toEqual({
      items: [{ id: '2', title: 'b' }],
      next: '',
    })
  })
})

describe('addresses of images', () => {
  const base = 'https://waybook.example/'

  test('images of the page itself are loaded', () => {
    expect(loadableImage('upload/1.jpg', base)).toBe('https://waybook.example/upload/1.jpg')
    expect(loadableImage('https://waybook.example/2.jpg', base)).toBe('https://waybook.example/2.jpg')
  })

  test('those of other sites are links, and other schemes are neither', () => {
    expect(loadableImage('http://images.example/1.jpg', base)).toBeUndefined()
    expect(linkToImage('http://images.example/1.jpg', base)).toBe('http://images.example/1.jpg')
    for (const address of ['javascript:alert(1)', 'file:///etc/passwd', '', 'http://']) {
      expect(loadableImage(address, base)).toBeUndefined()
      expect(linkToImage(address, base)).toBeUndefined()
    }
  })
})

test('identifiers are whole numbers of at most 53 bits', () => {
  expect(['1', '9007199254740991', '007'].every(isIdentifier)).toBe(true)
  expect(['', '0', '-1', '1.0', '9007199254740992', 'abc', undefined].some(isIdentifier)).toBe(false)
})

test('an action is there for the kinds of content that the service takes', () => {
  const operation = {
    func: 'addComment',
    variant: 'album',
    title: ['', ''] as const,
    group: 'album',
    effect: 'write' as const,
    login: true,
    parameters: [{ name: 'albumID', hint: '', type: 'id' as const }],
  }
  expect(actionFor([operation], 'addComment', 'album')).toBe(operation)
  expect(actionFor([operation], 'addComment', 'blog')).toBeUndefined()
  expect(actionFor([operation], 'recommend', 'album')).toBeUndefined()
})

test('a gate lets a few tasks run at a time, in their order, and drops those that were given up', async () => {
  const gate = new Gate(2)
  const started: number[] = []
  const ends: (() => void)[] = []
  const controllers = Array.from({ length: 5 }, () => new AbortController())
  const all = controllers.map((controller, i) =>
    gate.run(() => {
      started.push(i)
      return new Promise<number>(resolve => ends.push(() => resolve(i)))
    }, controller.signal),
  )
  expect(started).toEqual([0, 1])
  controllers[2]!.abort()
  ends[0]!()
  await expect(all[2]).rejects.toThrow('aborted')
  ends[1]!()
  await all[1]
  await Promise.resolve()
  expect(started).toEqual([0, 1, 3, 4])
  ends.forEach(end => end())
  await expect(Promise.all([all[0], all[1], all[3], all[4]])).resolves.toEqual([0, 1, 3, 4])
})

test('an uploaded icon is here', () => {
  expect(isUploaded('upload/user/12/34-icon.jpg')).toBe(true)
})

test('an uploaded photo has a larger view and an original beside its thumbnail', () => {
  expect(viewOf('upload/album/12/34-thumb.jpg')).toBe('upload/album/12/34-view.jpg')
  expect(originalOf('upload/album/12/34-thumb.jpg')).toBe('upload/album/12/34-original')
  for (const address of ['upload/album/demo/thumb_1.jpg', 'https://a.example/upload/album/12/34-thumb.jpg', 'upload/blog/12/34-thumb.jpg']) {
    expect(isUploaded(address), address).toBe(false)
    expect(viewOf(address)).toBe(address)
    expect(originalOf(address)).toBe('')
  }
})
