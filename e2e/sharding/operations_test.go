package sharding_test

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/edge"
	edgeoperation "github.com/waybook/waybook/edge/operation"
	"github.com/waybook/waybook/internal/waybooktest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	changev1 "github.com/waybook/waybook/proto/gen/waybook/change/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	recommendationv1 "github.com/waybook/waybook/proto/gen/waybook/recommendation/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

var taipei = &typev1.Location{Lat: 25.034, Lng: 121.5645}

// material is what the operations are about: albums, entries and landmarks of one user, with a
// photo, a comment and a recommendation of another, who sends most requests.
type material struct {
	owner, visitor                          user
	album, blog, poi                        int64
	albumPhoto, poiPhoto                    int64
	albumComment, blogComment, poiComment   int64
	recommendedAlbum, recommendedBlog, poi2 int64
}

type user struct {
	id    int64
	email string
	token string
}

const password = "a long password"

func (c *cluster) newUser(p *replica, name string) user {
	ctx := c.t.Context()
	u := user{email: name + "@waybook.example"}
	u.id = waybooktest.Must(p.Account.CreateUser(ctx, &accountv1.CreateUserRequest{Name: name, Email: u.email, Password: password}))(c.t).GetUser().GetUserId()
	u.token = waybooktest.Must(p.Account.OpenSession(ctx, &accountv1.OpenSessionRequest{UserId: u.id}))(c.t).GetToken()
	return u
}

func (c *cluster) fill(p *replica) (made material) {
	ctx := c.t.Context()
	made.owner, made.visitor = c.newUser(p, "owner"), c.newUser(p, "visitor")
	newAlbum := func() int64 {
		return waybooktest.Must(p.Album.CreateAlbum(ctx, &albumv1.CreateAlbumRequest{OwnerId: made.owner.id, Title: "x", Category: 1, Location: taipei}))(c.t).GetAlbum().GetAlbumId()
	}
	newBlog := func() int64 {
		return waybooktest.Must(p.Blog.CreateBlog(ctx, &blogv1.CreateBlogRequest{
			AuthorId: made.owner.id, Type: 1, Location: taipei, Title: "x", Content: "x", PostDate: &typev1.Date{Year: 2026, Month: 2, Day: 28}, Weather: 1,
			Vote: &blogv1.NewVote{Description: "?", Choices: []string{"a", "b"}},
		}))(c.t).GetBlog().GetBlogId()
	}
	newPoi := func() int64 {
		return waybooktest.Must(p.Poi.CreatePoi(ctx, &poiv1.CreatePoiRequest{OwnerId: made.owner.id, Name: "x", Category: 1, Location: taipei}))(c.t).GetPoi().GetPoiId()
	}
	made.album, made.recommendedAlbum, made.blog, made.recommendedBlog, made.poi, made.poi2 = newAlbum(), newAlbum(), newBlog(), newBlog(), newPoi(), newPoi()
	by := made.visitor.id
	for _, of := range []struct {
		kind            typev1.Kind
		id, recommended int64
		photo, comment  *int64
	}{
		{typev1.Kind_KIND_ALBUM, made.album, made.recommendedAlbum, &made.albumPhoto, &made.albumComment},
		{typev1.Kind_KIND_BLOG, made.blog, made.recommendedBlog, nil, &made.blogComment},
		{typev1.Kind_KIND_POI, made.poi, made.poi2, &made.poiPhoto, &made.poiComment},
	} {
		if of.photo != nil {
			photo := waybooktest.On(of.kind, of.id, &photov1.AddPhotoRequest{ActorId: made.owner.id, Url: "x"})
			*of.photo = waybooktest.Must(p.Photo.AddPhoto(ctx, photo))(c.t).GetPhoto().GetPhotoId()
		}
		comment := waybooktest.On(of.kind, of.id, &commentv1.AddCommentRequest{AuthorId: by, Text: "x"})
		*of.comment = waybooktest.Must(p.Comment.AddComment(ctx, comment))(c.t).GetComment().GetCommentId()
		recommendation := waybooktest.On(of.kind, of.recommended, &recommendationv1.RecommendRequest{UserId: by})
		waybooktest.Must(p.Recommendation.Recommend(ctx, recommendation))(c.t)
	}
	return made
}

// operation is one operation with the parameters of a request.
type operation struct {
	name string
	// isOwner says that the owner sends it, and not the visitor.
	isOwner    bool
	parameters func(material) string
	// call is the operation if it is a call of a service, and nil for one of the edge.
	call func(*testing.T, *replica, material) error
}

// movedEntry changes more than one index.
const movedEntry = "type=0_8&lat=1&lng=2&blogTitle=x&blogContent=x&year=2026&month=2&day=28&weather=有彩虹"

// operations returns every operation of the edge, and the calls of services that the edge does
// not have and that read or write many documents. An operation that is not named here is sent by the owner with
// what it requires, and a comment by the visitor. Those that remove something are the last: all are about the same content.
func operations() (all []operation) {
	login := func(c material) string {
		return "email=" + url.QueryEscape(c.visitor.email) + "&password=" + url.QueryEscape(password)
	}
	registered := 0
	named := []operation{
		{name: "updateAlbum", isOwner: true, parameters: func(c material) string { return fmt.Sprint("albumTitle=y&albumID=", c.album) }},
		{name: "updateBlog", isOwner: true, parameters: func(c material) string { return movedEntry + fmt.Sprint("&blogID=", c.blog) }},
		{name: "getDatedBlogList with userID", parameters: func(c material) string { return fmt.Sprint("year=2026&month=2&userID=", c.owner.id) }},
		{name: "withdrawRecommendation with albumID", parameters: func(c material) string { return fmt.Sprint("albumID=", c.recommendedAlbum) }},
		{name: "withdrawRecommendation with blogID", parameters: func(c material) string { return fmt.Sprint("blogID=", c.recommendedBlog) }},
		{name: "withdrawRecommendation with POIID", parameters: func(c material) string { return fmt.Sprint("POIID=", c.poi2) }},
		{name: "login", parameters: login},
		{name: "login again", parameters: login},
		{name: "register", parameters: func(material) string {
			registered++
			return fmt.Sprintf("email=%d@waybook.example&nickname=x&password=%s", registered, url.QueryEscape(password))
		}},
		{name: "changePassword", isOwner: true, parameters: func(material) string {
			return "oldPassword=" + url.QueryEscape(password) + "&newPassword=" + url.QueryEscape(password)
		}},
		{name: "ImportPois of two landmarks", call: importPois},
		{name: "BatchGetAlbums in three places", call: batchGet},
		{name: "SearchNearby of albums", call: nearbyAlbums},
		{name: "ListAlbums of all", call: recentAlbums},
		{name: "ListBlogs of all", call: recentBlogs},
		{name: "GetAlbum of its title", call: getAlbumOf("album.title")},
		{name: "GetAlbum of its photos", call: getAlbumOf("photos")},
		{name: "GetBlog of its content", call: getBlogOf("blog.content")},
		{name: "GetPoi of its comments", call: getPoiOf("comments")},
		{name: "ListChanges of albums", call: albumChanges},
		{name: "MoveIn of two albums", call: moveIn},
		{name: "ListCommentsByAuthor", call: commentsByAuthor},
		{name: "getAlbum of an old identifier", parameters: func(material) string { return "albumID=12" }},
		{name: "getAlbum of an old identifier that is no number", parameters: func(material) string { return "albumID=a-1" }},
	}
	last := []operation{
		{name: "RemoveCommentsByAuthor with kind", call: removeCommentsByAuthor},
		{name: "logout", parameters: func(material) string { return "" }},
	}
	var removals, deletions []operation
	for _, d := range edge.Operations() {
		each := operation{name: nameOf(d), isOwner: d.Func != "addComment", parameters: func(c material) string { return c.requiredBy(d) }}
		isEach := func(o operation) bool { return o.name == each.name }
		if i := slices.IndexFunc(named, isEach); i >= 0 {
			each = named[i]
			named = slices.Delete(named, i, i+1)
		}
		switch {
		case slices.ContainsFunc(last, isEach):
		case strings.HasPrefix(each.name, "remove"):
			removals = append(removals, each)
		case strings.HasSuffix(each.name, " with delete"):
			deletions = append(deletions, each)
		default:
			all = append(all, each)
		}
	}
	return slices.Concat(all, named, removals, last[:1], deletions, last[1:])
}

// nameOf returns the name of an operation of the edge, with the parameter that selects it.
func nameOf(d edgeoperation.Description) string {
	if selector := d.Variant.Selector(); selector != "" {
		return d.Func + " with " + selector
	}
	return d.Func
}

// requiredBy returns the parameters that an operation requires.
func (m material) requiredBy(d edgeoperation.Description) string {
	values := url.Values{}
	for _, p := range d.Parameters {
		if p.IsRequired {
			values.Set(p.Name, cmp.Or(p.Fixed, m.valueOf(d, p)))
		}
	}
	return values.Encode()
}

// valueOf returns a valid value of a parameter. Identifiers are those of content that exists.
func (m material) valueOf(d edgeoperation.Description, p edgeoperation.Parameter) string {
	known := map[string]any{
		"albumID": m.album, "blogID": m.blog, "POIID": m.poi, "userID": m.owner.id,
		"photoID of albumID": m.albumPhoto, "photoID of POIID": m.poiPhoto,
		"commentID of albumID": m.albumComment, "commentID of blogID": m.blogComment, "commentID of POIID": m.poiComment,
		"lat": 1, "lng": 2, "lat of lat": taipei.GetLat(), "lng of lat": taipei.GetLng(), "radius": 100, "latMin": 25, "latMax": 26, "lngMin": 121, "lngMax": 122,
		"year": 2026, "month": 2, "day": 28,
	}
	for _, name := range []string{p.Name + " of " + d.Variant.Selector(), p.Name} {
		if value, has := known[name]; has {
			return fmt.Sprint(value)
		}
	}
	switch {
	case len(p.Values) > 0:
		return p.Values[0].Value
	case p.Min != nil:
		return fmt.Sprint(*p.Min)
	}
	return "x"
}

// run sends the request of an operation to a process.
func (o operation) run(t *testing.T, p *replica, about material) {
	t.Helper()
	if o.call != nil {
		waybooktest.OK(t, o.call(t, p, about))
		return
	}
	name, _, _ := strings.Cut(o.name, " ")
	form := "func=" + name + "&" + o.parameters(about)
	from := about.visitor
	if o.isOwner {
		from = about.owner
	}
	if reply := p.Client().With(from.id, from.token).Post(form); !reply.Succeeded() {
		t.Fatalf("%s: %s", o.name, reply.Body)
	}
}

func importPois(t *testing.T, p *replica, about material) error {
	request := &poiv1.ImportPoisRequest{OwnerId: about.owner.id}
	for _, key := range []string{"a", "b"} {
		request.Pois = append(request.Pois, &poiv1.ImportedPoi{Key: key, Name: key, Category: 1, Location: taipei})
	}
	reply, err := p.Poi.ImportPois(t.Context(), request)
	if err == nil && reply.GetCreatedCount() != 2 {
		err = fmt.Errorf("got %v", reply)
	}
	return err
}

// moveIn moves in what later operations read.
func moveIn(t *testing.T, p *replica, about material) error {
	album := func(oldID string) *moveinv1.Record {
		return &moveinv1.Record{Record: &moveinv1.Record_Album{Album: &moveinv1.Album{
			Id: oldID, OwnerId: about.owner.id, Title: "x", Category: 1, Lat: &taipei.Lat, Lng: &taipei.Lng, CreateTime: timestamppb.Now(),
		}}}
	}
	reply, err := p.MoveIn.MoveIn(t.Context(), &moveinv1.MoveInRequest{Records: []*moveinv1.Record{
		album("12"), album("a-1"),
		{Record: &moveinv1.Record_Photo{Photo: &moveinv1.Photo{Id: "1", Parent: &moveinv1.Photo_AlbumId{AlbumId: "12"}, Url: "x"}}},
		{Record: &moveinv1.Record_Comment{Comment: &moveinv1.Comment{
			Id: "1", Parent: &moveinv1.Comment_AlbumId{AlbumId: "12"}, AuthorId: about.visitor.id, CreateTime: timestamppb.Now(), Text: "x",
		}}},
		{Record: &moveinv1.Record_Recommendation{Recommendation: &moveinv1.Recommendation{
			Parent: &moveinv1.Recommendation_AlbumId{AlbumId: "12"}, UserId: about.visitor.id,
		}}},
	}})
	for _, result := range reply.GetResults() {
		if result.GetOutcome() != moveinv1.Outcome_OUTCOME_INSERTED {
			return fmt.Errorf("got %v", result)
		}
	}
	return err
}

func albumChanges(t *testing.T, p *replica, _ material) error {
	_, err := p.Change.ListChanges(t.Context(), &changev1.ListChangesRequest{Kind: typev1.Kind_KIND_ALBUM})
	return err
}
