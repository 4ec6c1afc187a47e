// page.js
async function addAndRead(url, password) {
  async function call(form) {
    const reply = await fetch(url, { method: 'POST', credentials: 'include', body: new URLSearchParams(form) })
    const response = new DOMParser().parseFromString(await reply.text(), 'text/xml').documentElement
    const text = name => response.querySelector(name)?.textContent
    if (text('status') !== 'SUCCESS') throw new Error(text('info'))
    return text
  }
  await call({ func: 'login', email: 'demo@waybook.example', password })
  const added = await call({ func: 'addAlbum', albumTitle: '台北一日', category: 5, lat: 25.034, lng: 121.5645 })
  const album = await call({ func: 'getAlbum', albumID: added('albumID') })
  return added('albumID') + ' ' + album('albumTitle')
}
