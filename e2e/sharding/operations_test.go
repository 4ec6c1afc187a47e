package sharding_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/edge"
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
	waybooktest.OK(c.t, p.Counting.Wait(ctx))
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

const entry = "type=0_8&lat=1&lng=2&blogTitle=x&blogContent=x&year=2026&month=2&day=28&weather=有彩虹"

// operations returns every operation of the edge, and the calls of services that the edge does
// not have and that read or write many documents.
func operations() []operation {
	// Those that remove something are the last: all are about the same content.
	album := func(c material) string { return fmt.Sprint("albumID=", c.album) }
	blog := func(c material) string { return fmt.Sprint("blogID=", c.blog) }
	poi := func(c material) string { return fmt.Sprint("POIID=", c.poi) }
	and := func(of func(material) string, more string) func(material) string {
		return func(c material) string { return of(c) + "&" + more }
	}
	number := func(of func(material) string, name string, value func(material) int64) func(material) string {
		return func(c material) string { return fmt.Sprint(of(c), "&", name, "=", value(c)) }
	}
	credentials := func(of user) string {
		return "email=" + url.QueryEscape(of.email) + "&password=" + url.QueryEscape(password)
	}
	login := func(c material) string { return credentials(c.visitor) }
	always := func(text string) func(material) string { return func(material) string { return text } }
	comment := map[string]func(material) string{
		"albumID": number(album, "commentID", func(c material) int64 { return c.albumComment }),
		"blogID":  number(blog, "commentID", func(c material) int64 { return c.blogComment }),
		"POIID":   number(poi, "commentID", func(c material) int64 { return c.poiComment }),
	}
	all := []operation{
		{name: "getAlbum", parameters: album},
		{name: "getAlbum with withIDs", parameters: and(album, "withIDs=true")},
		{name: "getUserAlbumList", parameters: func(c material) string { return fmt.Sprint("userID=", c.owner.id) }},
		{name: "addAlbum", parameters: always("albumTitle=x&category=1&lat=1&lng=2")},
		{name: "updateAlbum", isOwner: true, parameters: and(album, "albumTitle=y")},
		{name: "getBlog", parameters: blog},
		{name: "getBlog with withIDs", parameters: and(blog, "withIDs=true")},
		{name: "getUserPOIList", parameters: func(c material) string { return fmt.Sprint("userID=", c.owner.id) }},
		{name: "getUserBlogList", parameters: func(c material) string { return fmt.Sprint("userID=", c.owner.id) }},
		{name: "postBlog", parameters: always(entry)},
		{name: "updateBlog", isOwner: true, parameters: and(blog, entry)},
		{name: "castVote", parameters: and(blog, "choice=1")},
		{name: "getPOI", parameters: poi},
		{name: "getPOI with withIDs", parameters: and(poi, "withIDs=true")},
		{name: "getCategoryPOIList", parameters: always("category=1")},
		{name: "getNearbyPOIList with lat", parameters: always("lat=25.034&lng=121.5645&radius=100")},
		{name: "getNearbyPOIList with latMin", parameters: always("latMin=25&latMax=26&lngMin=121&lngMax=122")},
		{name: "getNearbyAlbumList with lat", parameters: always("lat=25.034&lng=121.5645&radius=100")},
		{name: "getNearbyAlbumList with latMin", parameters: always("latMin=25&latMax=26&lngMin=121&lngMax=122")},
		{name: "getNearbyBlogList with lat", parameters: always("lat=25.034&lng=121.5645&radius=100")},
		{name: "getNearbyBlogList with latMin", parameters: always("latMin=25&latMax=26&lngMin=121&lngMax=122")},
		{name: "getRecentAlbumList", parameters: always("limit=10")},
		{name: "getRecentBlogList", parameters: always("limit=10")},
		{name: "getRecentPOIList", parameters: always("limit=10")},
		{name: "getDatedBlogList", parameters: always("year=2026&month=2&limit=10")},
		{name: "getDatedBlogList with userID", parameters: func(c material) string { return fmt.Sprint("year=2026&month=2&userID=", c.owner.id) }},
		{name: "addPhoto with albumID", isOwner: true, parameters: and(album, "thumbnail=x")},
		{name: "addPhoto with POIID", isOwner: true, parameters: and(poi, "photo=x")},
		{name: "withdrawRecommendation with albumID", parameters: func(c material) string { return fmt.Sprint("albumID=", c.recommendedAlbum) }},
		{name: "withdrawRecommendation with blogID", parameters: func(c material) string { return fmt.Sprint("blogID=", c.recommendedBlog) }},
		{name: "withdrawRecommendation with POIID", parameters: func(c material) string { return fmt.Sprint("POIID=", c.poi2) }},
		{name: "login", parameters: login},
		{name: "login again", parameters: login},
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
		{name: "getAlbum of an old identifier", parameters: always("albumID=12")},
		{name: "getAlbum of an old identifier that is no number", parameters: always("albumID=a-1")},
	}
	for _, of := range []struct {
		selector   string
		parameters func(material) string
	}{{"albumID", album}, {"blogID", blog}, {"POIID", poi}} {
		all = append(all,
			operation{name: "addComment with " + of.selector, parameters: and(of.parameters, "comment=x")},
			operation{name: "replyComment with " + of.selector, isOwner: true, parameters: and(comment[of.selector], "reply=x")},
			operation{name: "removeComment with " + of.selector, isOwner: true, parameters: comment[of.selector]},
			operation{name: "recommend with " + of.selector, parameters: of.parameters})
	}
	return append(all, []operation{
		{name: "removePhoto with albumID", isOwner: true, parameters: number(album, "photoID", func(c material) int64 { return c.albumPhoto })},
		{name: "removePhoto with POIID", isOwner: true, parameters: number(poi, "photoID", func(c material) int64 { return c.poiPhoto })},
		{name: "RemoveCommentsByAuthor with kind", call: removeCommentsByAuthor},
		{name: "updateAlbum with delete", isOwner: true, parameters: and(album, "delete=true")},
		{name: "updateBlog with delete", isOwner: true, parameters: and(blog, "delete=true")},
		{name: "logout", parameters: always("")},
	}...)
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

func TestEveryOperationOfTheEdgeIsCounted(t *testing.T) {
	t.Parallel()
	counted := map[string]bool{}
	for _, each := range operations() {
		counted[each.name] = true
	}
	for _, each := range edge.Operations() {
		name := each.Func
		if selector := each.Variant.Selector(); selector != "" {
			name += " with " + selector
		}
		if !counted[name] {
			t.Errorf("%s is not counted", name)
		}
	}
}

func albumChanges(t *testing.T, p *replica, _ material) error {
	_, err := p.Change.ListChanges(t.Context(), &changev1.ListChangesRequest{Kind: typev1.Kind_KIND_ALBUM})
	return err
}
