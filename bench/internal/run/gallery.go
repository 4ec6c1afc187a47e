package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/waybook/waybook/bench/internal/load"
	"github.com/waybook/waybook/bench/internal/piwigo"
	"github.com/waybook/waybook/bench/internal/process"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

const (
	// listedAlbums is the number of albums in the short list.
	listedAlbums = 50
	// picture is a GIF of one pixel, in base64.
	picture = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
)

// fillGallery gives a new gallery the content of the cases. Visitors see only albums with photos, so each album
// has one. removeAdded deletes the albums that requests have added.
func fillGallery(gallery *piwigo.Gallery) (at map[string]side, removeAdded func() error, err error) {
	admin, err := gallery.Login()
	if err != nil {
		return nil, nil, err
	}
	// add returns an identifier, unless something failed before.
	add := func(method string, parameters ...string) (id string) {
		if err == nil {
			id, err = admin.Add(method, parameters...)
		}
		return id
	}
	var albums []string
	for range listedAlbums {
		albums = append(albums, add("pwg.categories.add", "name", title, "position", "last"))
	}
	photos := 0
	photo := func(name, comment string, albums ...string) string {
		photos++
		sum := fmt.Sprintf("%032x", photos) // differs; Piwigo does not check it
		if err == nil {
			err = admin.Call("pwg.images.addChunk", nil, "type", "file", "position", "0", "original_sum", sum, "data", picture)
		}
		return add("pwg.images.add", "original_sum", sum, "name", name, "comment", comment, "categories", strings.Join(albums, ";"))
	}
	bare, full, others := albums[0], albums[1], albums[2:]
	photo("cover", "", append(others, bare)...)
	for range children {
		photo("photo", text, full)
	}
	entry := blogBy(0).GetTitle()
	blog, poi := photo(entry, text+"\n"+text, others[0]), photo(landmark, "", others[0])
	if err == nil {
		err = errors.Join(commentOn(admin, blog), commentOn(admin, poi))
	}
	var visitors, users []string // cookies
	for n := range manyConnections {
		user, failed := admin.AddUser(fmt.Sprintf("user%d", n))
		if err := errors.Join(err, failed); err != nil {
			return nil, nil, err
		}
		visitors, users = append(visitors, fmt.Sprintf("pwg_id=visitor%d", n)), append(users, user.Cookie)
	}
	read := func(method, name, id string, holds map[string]int) side {
		return gallerySide(visitors, "GET /ws.php?"+url.Values{"method": {method}, name: {id}}.Encode(), "", holds)
	}
	photoWithComments := func(id, name string) side {
		return read("pwg.images.getInfo", "image_id", id, map[string]int{
			`<image id="` + id + `"`: 1, "<name>" + name + "</name>": 1, "<content>" + text + "</content>": children,
		})
	}
	const named = "<name>" + title + "</name>"
	added := url.Values{"method": {"pwg.categories.add"}, "name": {title}, "position": {"last"}}.Encode()
	at = map[string]side{
		bareAlbum: read("pwg.categories.getList", "cat_id", bare, map[string]int{`<category id="` + bare + `"`: 1, named: 1}),
		fullAlbum: read("pwg.categories.getImages", "cat_id", full, map[string]int{
			"<image ": children, "<comment>" + text + "</comment>": children, `<category id="` + full + `"`: children,
		}),
		blogWithComments: photoWithComments(blog, entry), fullLandmark: photoWithComments(poi, landmark),
		shortList: read("pwg.categories.getList", "cat_id", "0", map[string]int{"<category id=": listedAlbums, named: listedAlbums}),
		addsAlbum: gallerySide(users, "POST /ws.php", added, map[string]int{"<id>": 1}),
	}
	return at, func() error { return removeAlbums(admin, albums) }, nil
}

// commentOn adds comments to a photo. They need a key that is older than two seconds.
func commentOn(admin *piwigo.Session, photo string) error {
	var info struct {
		Post struct{ Key string } `json:"comment_post"`
	}
	if err := admin.Call("pwg.images.getInfo", &info, "image_id", photo); err != nil {
		return err
	}
	time.Sleep(2200 * time.Millisecond)
	for range children {
		if err := admin.Call("pwg.images.addComment", nil, "image_id", photo, "content", text, "key", info.Post.Key); err != nil {
			return err
		}
	}
	return nil
}

// removeAlbums deletes all albums except those to keep.
func removeAlbums(admin *piwigo.Session, keep []string) error {
	var all struct{ Categories []struct{ ID json.Number } }
	if err := admin.Call("pwg.categories.getAdminList", &all); err != nil {
		return err
	}
	var added []string
	for _, each := range all.Categories {
		if id := each.ID.String(); !slices.Contains(keep, id) {
			added = append(added, id)
		}
	}
	if len(added) == 0 {
		return nil
	}
	return admin.Call("pwg.categories.delete", nil, "category_id", strings.Join(added, ","))
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

const piwigoSection = "piwigo"

// side is a case at one of the two programs.
type side struct {
	// requests has an encoded request for each client.
	requests [][]byte
	// holds is how often a reply contains each text.
	holds map[string]int
}

// besidePiwigo compares what Waybook and Piwigo use for requests that give much the same. Piwigo has neither
// entries nor landmarks, so photos with comments stand for them.
func (b *bench) besidePiwigo(ctx context.Context) (err error) {
	w := b.workshop.within()
	defer func() { err = errors.Join(err, w.close()) }()
	data, err := w.newData()
	if err != nil {
		return err
	}
	gallery, err := piwigo.Start(b.settings.Piwigo, data)
	if err != nil {
		return err
	}
	w.onClose(gallery.Stop)
	b.progress("fill both")
	theirs, removeAdded, err := fillGallery(gallery)
	if err != nil {
		return err
	}
	d, err := startStandalone(ctx, w, 0)
	if err != nil {
		return err
	}
	ours, err := d.fillBesideGallery(ctx)
	if err != nil {
		return err
	}
	edge := d.edge.Addresses["edge"]
	var list []testCase
	for _, name := range []string{bareAlbum, blogWithComments, fullAlbum, fullLandmark, shortList, addsAlbum} {
		if err := errors.Join(ours[name].check(edge), theirs[name].check(gallery.Address)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		list = append(list, testCase{name: name, connections: manyConnections})
	}
	// Piwigo reads all albums for each new one, so a turn begins without those of the turns before it.
	list[len(list)-1].prepare = func(context.Context) error { return removeAdded() }
	return b.contest(ctx, "Waybook in one process beside Piwigo", list, func(c testCase) ([]contender, error) {
		return []contender{
			{"Waybook", ours[c.name].opener(edge, wantXML), []*process.Process{d.edge}},
			{"Piwigo", theirs[c.name].opener(gallery.Address, `stat="ok"`), gallery.Servers},
		}, nil
	})
}

// check makes each request once and checks the replies.
func (s side) check(address string) error {
	for _, request := range s.requests {
		reply, _, err := fetch(address, request)
		if err != nil {
			return err
		}
		for text, want := range s.holds {
			if found := strings.Count(string(reply), text); found != want {
				return fmt.Errorf("the reply to %s contains %q %d times, want %d:\n%s", request, text, found, want, reply)
			}
		}
	}
	return nil
}

// opener opens connections that send the request of one client each.
func (s side) opener(address, want string) load.Opener {
	return func(n int) (load.Connection, error) {
		return opener(address, s.requests[n%len(s.requests)], want)(n)
	}
}
