package run

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/waybook/waybook/bench/internal/piwigo"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

const (
	// listedAlbums is the number of albums in the short list.
	listedAlbums = 50
	// writtenTitle is that of the albums that the clients of Piwigo add.
	writtenTitle = "傍晚的光線"
)

// fillGallery gives a new gallery the content of the cases, and returns them and the session of the administrator.
// Visitors see only albums with photos, so each album has one.
func fillGallery(gallery *piwigo.Gallery) (at map[string]side, admin *piwigo.Session, err error) {
	if admin, err = gallery.Admin(); err != nil {
		return nil, nil, err
	}
	// try makes what has an identifier, unless something failed before.
	try := func(made func() (string, error)) (id string) {
		if err == nil {
			id, err = made()
		}
		return id
	}
	photos := 0
	photo := func(name, comment string, albums ...string) string {
		photos++
		return try(func() (string, error) { return admin.AddPhoto(photos, name, comment, albums...) })
	}
	var albums, visitors, users []string
	for range listedAlbums {
		albums = append(albums, try(func() (string, error) { return admin.AddAlbum(title) }))
	}
	bare, full, others := albums[0], albums[1], albums[2:]
	photo("cover", "", append(others, bare)...)
	for range children {
		photo("photo", text, full)
	}
	entry := blogBy(0).GetTitle()
	blog := photo(entry, text+"\n"+text, others[0])
	poi := photo(landmark, "", others[0])
	for n := range manyConnections {
		visitors = append(visitors, try(func() (string, error) { return cookieOf(gallery.Visit()) }))
		users = append(users, try(func() (string, error) { return cookieOf(admin.NewUser(fmt.Sprintf("user%d", n))) }))
	}
	if err != nil {
		return nil, nil, err
	}
	if err := errors.Join(admin.Comment(blog, text, children), admin.Comment(poi, text, children)); err != nil {
		return nil, nil, err
	}
	read := func(method, name, id string, holds map[string]int) side {
		request := "GET /ws.php?" + url.Values{"method": {method}, name: {id}}.Encode()
		return gallerySide(visitors, request, "", holds)
	}
	photoWithComments := func(id, name string) side {
		return read("pwg.images.getInfo", "image_id", id, map[string]int{
			`<image id="` + id + `"`: 1, "<name>" + name + "</name>": 1, "<content>" + text + "</content>": children,
		})
	}
	const named = "<name>" + title + "</name>"
	added := url.Values{"method": {"pwg.categories.add"}, "name": {writtenTitle}, "position": {"last"}}.Encode()
	return map[string]side{
		bareAlbum: read("pwg.categories.getList", "cat_id", bare, map[string]int{`<category id="` + bare + `"`: 1, named: 1}),
		fullAlbum: read("pwg.categories.getImages", "cat_id", full, map[string]int{
			"<image ": children, "<comment>" + text + "</comment>": children, `<category id="` + full + `"`: children,
		}),
		blogWithComments: photoWithComments(blog, entry), fullLandmark: photoWithComments(poi, landmark),
		shortList: read("pwg.categories.getList", "cat_id", "0", map[string]int{"<category id=": listedAlbums, named: listedAlbums}),
		addsAlbum: gallerySide(users, "POST /ws.php", added, map[string]int{"<id>": 1}),
	}, admin, nil
}

// cookieOf returns the cookie of a session.
func cookieOf(session *piwigo.Session, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return session.Cookie(), nil
}

// gallerySide returns a case of a gallery with the sessions of clients.
func gallerySide(cookies []string, request, body string, holds map[string]int) side {
	s := side{holds: holds}
	for _, cookie := range cookies {
		s.requests = append(s.requests, fmt.Appendf(nil, "%s HTTP/1.1\r\nHost: bench\r\nCookie: %s\r\n"+
			"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n%s", request, cookie, len(body), body))
	}
	return s
}

// fillBesideGallery adds to the content of the cases what a gallery has too, and returns the cases.
func (d *deployment) fillBesideGallery(ctx context.Context) (map[string]side, error) {
	accounts := accountv1.NewAccountServiceClient(d.channels[accountService][0])
	albums := albumv1.NewAlbumServiceClient(d.channels[albumService][0])
	blogs := blogv1.NewBlogServiceClient(d.channels[blogService][0])
	pois := poiv1.NewPoiServiceClient(d.channels[poiService][0])
	lister, err := newUser(ctx, accounts, "收藏家")
	for range listedAlbums {
		if err == nil {
			_, err = newAlbum(ctx, albums, lister)
		}
	}
	if err != nil {
		return nil, err
	}
	owner := d.content.owner
	blog, failed := blogs.CreateBlog(ctx, blogBy(owner))
	poi, err := pois.CreatePoi(ctx, &poiv1.CreatePoiRequest{OwnerId: owner, Name: landmark, Category: listCategory, Location: place()})
	if err := errors.Join(failed, err); err != nil {
		return nil, err
	}
	blogID, poiID := blog.GetBlog().GetBlogId(), poi.GetPoi().GetPoiId()
	for n := range children {
		_, first := blogs.AddComment(ctx, &blogv1.AddCommentRequest{AuthorId: lister, BlogId: blogID, Text: text})
		_, second := pois.AddComment(ctx, &poiv1.AddCommentRequest{AuthorId: lister, PoiId: poiID, Text: text})
		_, third := pois.AddPhoto(ctx, &poiv1.AddPhotoRequest{
			ActorId: owner, PoiId: poiID, PhotoUrl: fmt.Sprintf("upload/photo/%d_t.jpg", n), Description: text,
		})
		if err := errors.Join(first, second, third); err != nil {
			return nil, err
		}
	}
	adds := side{holds: map[string]int{"<albumID>": 1}}
	for n := range manyConnections {
		_, cookie, err := newSession(ctx, accounts, fmt.Sprintf("user%d", n))
		if err != nil {
			return nil, err
		}
		adds.requests = append(adds.requests, testCase{form: addAlbumForm(), writes: true}.edgeRequest(cookie))
	}
	read := func(function, name string, id int64, holds map[string]int) side {
		return side{[][]byte{testCase{form: readForm(function, name, id)}.edgeRequest("")}, holds}
	}
	const comment, photo, albumTitle = "<comment>" + text + "</comment>", "<description>" + text + "</description>", "<albumTitle>" + title + "</albumTitle>"
	return map[string]side{
		bareAlbum:        read("getAlbum", "albumID", d.content.bareAlbum, map[string]int{albumTitle: 1}),
		fullAlbum:        read("getAlbum", "albumID", d.content.fullAlbum, map[string]int{albumTitle: 1, comment: children, photo: children}),
		blogWithComments: read("getBlog", "blogID", blogID, map[string]int{"<blogTitle>" + blogBy(0).GetTitle() + "</blogTitle>": 1, comment: children}),
		fullLandmark:     read("getPOI", "POIID", poiID, map[string]int{"<name>" + landmark + "</name>": 1, comment: children, photo: children}),
		shortList:        read("getUserAlbumList", "userID", lister, map[string]int{albumTitle: listedAlbums}),
		addsAlbum:        adds,
	}, nil
}
