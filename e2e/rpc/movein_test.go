package rpc_test

import (
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/longform"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	recommendationv1 "github.com/waybook/waybook/proto/gen/waybook/recommendation/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// onEachEngine runs a test on an embedded store, and in the long form on MongoDB's wire protocol behind a mongos. The
// latter refuses commands on sharded collections that neither name a place nor say that they ask all.
func onEachEngine(t *testing.T, test func(*testing.T, *parts)) {
	t.Run("embedded", func(t *testing.T) { test(t, startParts(t)) })
	t.Run("mongos", func(t *testing.T) {
		longform.Only(t)
		server := mongotest.StartServer(t, mongowire.Config{Role: mongowire.Router, Shards: 3})
		store := newBrittleOverWire(t, server.URI(mongotest.Database()))
		store.clock = &advancing{}
		server.SetClock(store.clock.now)
		test(t, startPartsOn(t, store))
	})
}

// longAgo is a time of the old service.
func longAgo(days int) *timestamppb.Timestamp {
	return timestamppb.New(time.Date(2009, 3, 1, 8, 30, 0, 0, time.UTC).AddDate(0, 0, days))
}

const (
	inserted = moveinv1.Outcome_OUTCOME_INSERTED
	equal    = moveinv1.Outcome_OUTCOME_UNCHANGED
	differs  = moveinv1.Outcome_OUTCOME_DIFFERENT
	deleted  = moveinv1.Outcome_OUTCOME_DELETED
	rejected = moveinv1.Outcome_OUTCOME_REFUSED
)

// record returns the record of a message.
func record(of proto.Message) *moveinv1.Record {
	r := &moveinv1.Record{}
	fields := r.ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		if fields.Get(i).Message().FullName() == of.ProtoReflect().Descriptor().FullName() {
			r.ProtoReflect().Set(fields.Get(i), protoreflect.ValueOfMessage(of.ProtoReflect()))
		}
	}
	return r
}

// oldContent returns one record of each kind of content, with all fields, and two of what belongs to each; those of a and b.
// Each list is of one server, in an order in which it moves in.
func oldContent(a, b int64) (all [][]*moveinv1.Record) {
	album := &moveinv1.Album{
		Id: "4711", OwnerId: a, Title: "舊相簿", Category: 4, Lat: proto.Float64(25.03), Lng: proto.Float64(121.5), Score: 9,
		CreateTime: longAgo(0), UpdateTime: longAgo(5),
	}
	landmark := &moveinv1.Landmark{
		Id: "poi-3", OwnerId: b, Name: "舊地標", Category: 3, Lat: proto.Float64(24.5), Lng: proto.Float64(-121.5), Score: 1,
		CreateTime: longAgo(1), UpdateTime: longAgo(6),
	}
	entry := &moveinv1.Entry{
		Id: "8", AuthorId: a, Type: blogv1.BlogType_BLOG_TYPE_MOOD, Lat: proto.Float64(-25.03), Lng: proto.Float64(1.5), Title: "舊標題",
		Content: "一\n二", PostDate: &typev1.Date{Year: 2009, Month: 3, Day: 1}, Weather: blogv1.Weather_WEATHER_RAINBOW, QuotedId: "7",
		ZoomLevel: proto.Int32(12), MapType: proto.Int32(2), Score: 3, Reward: 25, CreateTime: longAgo(2), UpdateTime: longAgo(7),
		Vote: &blogv1.Vote{Description: "哪裡?", Choices: []*blogv1.Choice{{Description: "山", Votes: 10}, {Description: "海"}, {Description: "城", Votes: 1}}},
	}
	quoted := proto.CloneOf(entry)
	quoted.Id, quoted.QuotedId, quoted.Vote, quoted.UpdateTime, quoted.ZoomLevel, quoted.MapType = "7", "", nil, nil, nil, nil
	other := proto.CloneOf(entry)
	other.Id, other.QuotedId = "e-x", "e-y"
	another := proto.CloneOf(quoted)
	another.Id = "e-y"
	return [][]*moveinv1.Record{
		append([]*moveinv1.Record{record(album)}, of("album", "4711", a, b)...),
		append([]*moveinv1.Record{record(landmark)}, of("landmark", "poi-3", a, b)...),
		append([]*moveinv1.Record{record(quoted), record(entry), record(another), record(other)}, of("entry", "8", a, b)...),
	}
}

// of returns records of what belongs to content.
func of(kind, contentID string, a, b int64) (all []*moveinv1.Record) {
	add := func(message proto.Message) {
		message.ProtoReflect().Set(message.ProtoReflect().Descriptor().Fields().ByName(protoreflect.Name(kind+"_id")), protoreflect.ValueOfString(contentID))
		all = append(all, record(message))
	}
	if kind != "entry" {
		add(&moveinv1.Photo{Id: "31", Url: "old/31.jpg", Description: "陰陽海"})
		add(&moveinv1.Photo{Id: "DSC_1", Url: "old/32.jpg"})
	}
	add(&moveinv1.Comment{Id: "77", AuthorId: b, Text: "好美", CreateTime: longAgo(1), Reply: "謝謝", ReplyTime: longAgo(3)})
	add(&moveinv1.Comment{Id: "c-1", AuthorName: "路人", AuthorIconUrl: "guest.gif", Text: "!", CreateTime: longAgo(2)})
	if kind == "entry" {
		add(&moveinv1.Ballot{UserId: a, Choice: 1})
		add(&moveinv1.Ballot{UserId: b, Choice: 2})
	}
	add(&moveinv1.Recommendation{UserId: a})
	add(&moveinv1.Recommendation{UserId: b})
	return all
}

// moveRecords sends records of one server.
func (w *waybook) moveRecords(records ...*moveinv1.Record) []*moveinv1.Result {
	w.t.Helper()
	return must(w.MoveIn.MoveIn(w.t.Context(), &moveinv1.MoveInRequest{Records: records}))(w.t).GetResults()
}

// expectAll checks that all results have an outcome.
func expectAll(t testing.TB, got []*moveinv1.Result, want moveinv1.Outcome) {
	t.Helper()
	for i, result := range got {
		if result.GetOutcome() != want || (result.GetReason() != "") != (want == rejected) || (len(result.GetFields()) > 0) != (want == differs) {
			t.Errorf("record %d: %v, want %v", i, result, want)
		}
	}
}

// expectShown checks the replies about what oldContent has.
func (w *waybook) expectShown(a, b int64) {
	w.t.Helper()
	album := must(w.Album.GetAlbum(w.t.Context(), &albumv1.GetAlbumRequest{AlbumId: 4711}))(w.t)
	if got := album.GetAlbum(); got.GetAlbumId() != id.OfOld(4711, id.PlaceOf(a)) || got.GetOwner().GetUserId() != a || got.GetTitle() != "舊相簿" || got.GetCategory() != 4 ||
		got.GetLocation().GetLat() != 25.03 || got.GetLocation().GetLng() != 121.5 || got.GetScore() != 9 ||
		!proto.Equal(got.GetCreateTime(), longAgo(0)) || !proto.Equal(got.GetUpdateTime(), longAgo(5)) {
		w.t.Errorf("the album is %v", got)
	}
	photos, written := album.GetPhotos(), album.GetComments()
	if len(photos) != 2 || photos[0].GetUrl() != "old/31.jpg" || photos[0].GetDescription() != "陰陽海" || photos[1].GetOldId() != "DSC_1" {
		w.t.Errorf("its photos are %v", photos)
	}
	if len(written) != 2 || written[0].GetAuthor().GetUserId() != b || written[0].GetReply().GetText() != "謝謝" || !proto.Equal(written[0].GetReply().GetCreateTime(), longAgo(3)) ||
		written[1].GetAuthor().GetName() != "路人" || written[1].GetAuthor().GetIconUrl() != "guest.gif" || written[1].GetAuthor().GetUserId() != 0 || written[1].GetReply() != nil {
		w.t.Errorf("its comments are %v", written)
	}
	pois := must(w.MoveIn.ResolveOldIds(w.t.Context(), &moveinv1.ResolveOldIdsRequest{OldIds: []*moveinv1.OldIdentifier{{Kind: aLandmark, OldId: "poi-3"}}}))(w.t)
	poi := must(w.Poi.GetPoi(w.t.Context(), &poiv1.GetPoiRequest{PoiId: pois.GetIds()[0]}))(w.t)
	if got := poi.GetPoi(); got.GetName() != "舊地標" || got.GetCategory() != 3 || got.GetScore() != 2 || got.GetOwner().GetUserId() != b || len(poi.GetPhotos()) != 2 {
		w.t.Errorf("the landmark is %v", poi)
	}
	blog := must(w.Blog.GetBlog(w.t.Context(), &blogv1.GetBlogRequest{BlogId: 8}))(w.t)
	if got := blog.GetBlog(); got.GetReplyBlogId() != id.OfOld(7, id.PlaceOf(a)) || got.GetZoomLevel() != 12 || got.GetMapType() != 2 || got.GetReward() != 25 || got.GetScore() != 3 ||
		!proto.Equal(got.GetPostDate(), &typev1.Date{Year: 2009, Month: 3, Day: 1}) || got.GetWeather() != blogv1.Weather_WEATHER_RAINBOW || len(blog.GetComments()) != 2 {
		w.t.Errorf("the entry is %v", blog)
	}
	votes := []int64{}
	for _, each := range blog.GetBlog().GetVote().GetChoices() {
		votes = append(votes, each.GetVotes())
	}
	if !slices.Equal(votes, []int64{10, 1, 1}) {
		w.t.Errorf("the votes are %v", votes)
	}
	plain := must(w.Blog.GetBlog(w.t.Context(), &blogv1.GetBlogRequest{BlogId: 7}))(w.t).GetBlog()
	if plain.GetZoomLevel() != 14 || plain.GetMapType() != 1 || !proto.Equal(plain.GetUpdateTime(), plain.GetCreateTime()) {
		w.t.Errorf("the quoted entry is %v", plain)
	}
}

func TestRecordsMoveInOnce(t *testing.T) {
	onEachEngine(t, func(t *testing.T, p *parts) {
		a, b := p.newUser("a"), p.newUser("b")
		all := oldContent(a, b)
		for _, records := range all {
			dry := must(p.MoveIn.MoveIn(t.Context(), &moveinv1.MoveInRequest{Records: records[:1], ValidateOnly: true}))(t)
			expectAll(t, dry.GetResults(), inserted)
			expectAll(t, p.moveRecords(records...), inserted)
		}
		for range 2 {
			p.expectShown(a, b)
			p.check()
			for _, records := range all {
				expectAll(t, p.moveRecords(records...), equal)
				dry := must(p.MoveIn.MoveIn(t.Context(), &moveinv1.MoveInRequest{Records: records, ValidateOnly: true}))(t)
				expectAll(t, dry.GetResults(), equal)
			}
		}
		for collection, n := range map[string]int64{
			"albums": 1, "album_photos": 2, "album_comments": 2, "album_recommendations": 2, "album_aliases": 1, "blogs": 4, "blog_comments": 2,
			"blog_ballots": 2, "blog_recommendations": 2, "blog_aliases": 4, "pois": 1, "poi_photos": 2, "poi_comments": 2, "poi_recommendations": 2, "poi_aliases": 1,
		} {
			if count := p.store.count(t, collection); count != n {
				t.Errorf("%s has %d documents, want %d", collection, count, n)
			}
		}
	})
}

// A number that the old service showed includes the users who were moved in, whenever they are.
func TestAnOldNumberIncludesItsUsers(t *testing.T) {
	t.Parallel()
	p := startParts(t)
	a, b := p.newUser("a"), p.newUser("b")
	all := oldContent(a, b)
	p.moveRecords(all[0][0])
	withScore := func(want int64) {
		t.Helper()
		if got := must(p.Album.GetAlbum(t.Context(), &albumv1.GetAlbumRequest{AlbumId: 4711}))(t).GetAlbum().GetScore(); got != want {
			t.Errorf("the score is %d, want %d", got, want)
		}
	}
	must(p.Recommendation.Recommend(t.Context(), &recommendationv1.RecommendRequest{Parent: &recommendationv1.RecommendRequest_AlbumId{AlbumId: 4711}, UserId: p.newUser("c")}))(t)
	withScore(10)
	p.moveRecords(all[0]...)
	withScore(10)
	must(p.Recommendation.Withdraw(t.Context(), &recommendationv1.WithdrawRequest{Parent: &recommendationv1.WithdrawRequest_AlbumId{AlbumId: 4711}, UserId: a}))(t)
	withScore(9)
	got := p.moveRecords(all[0]...)
	expectAll(t, got[:5], equal)
	if got[5].GetOutcome() != deleted || got[6].GetOutcome() != equal {
		t.Errorf("a recommendation that was withdrawn: %v", got[5:])
	}
	withScore(9)
	must(p.Recommendation.Recommend(t.Context(), &recommendationv1.RecommendRequest{Parent: &recommendationv1.RecommendRequest_AlbumId{AlbumId: 4711}, UserId: a}))(t)
	p.moveRecords(all[0]...)
	withScore(10)
	p.check()
}

// Whatever field of a record is forgotten, where it is stored or where it is compared, its other value counts as equal.
func TestEveryFieldOfARecordIsStoredAndCompared(t *testing.T) {
	t.Parallel()
	p := startParts(t)
	a, b := p.newUser("a"), p.newUser("b")
	for _, records := range oldContent(a, b) {
		expectAll(t, p.moveRecords(records...), inserted)
		for _, each := range records {
			kind := each.ProtoReflect().WhichOneof(each.ProtoReflect().Descriptor().Oneofs().Get(0))
			fields := kind.Message().Fields()
			for i := range fields.Len() {
				field := fields.Get(i)
				changed := proto.CloneOf(each)
				message := changed.ProtoReflect().Mutable(kind).Message()
				if field.Name() == "id" || field.ContainingOneof() != nil && !field.HasOptionalKeyword() || !alter(message, field, b) {
					continue
				}
				got := p.moveRecords(changed)[0]
				if got.GetOutcome() != differs || !slices.Contains(got.GetFields(), string(field.Name())) {
					t.Errorf("another %s of %v: %v", field.Name(), each, got)
				}
			}
		}
	}
}

// alter gives a field of a record another value. It reports false if the field is part of what the record is.
func alter(message protoreflect.Message, field protoreflect.FieldDescriptor, other int64) bool {
	switch of := message.Interface().(type) {
	case *moveinv1.Ballot, *moveinv1.Recommendation:
		if field.Name() != "choice" {
			return false
		}
	case *moveinv1.Comment:
		if isGuest := of.GetAuthorId() == 0; isGuest && field.Name() == "author_id" || !isGuest && field.Name() == "author_name" ||
			!isGuest && field.Name() == "author_icon_url" || of.GetReply() == "" && field.Name() == "reply_time" {
			return false
		}
	}
	value := message.Get(field)
	switch {
	case field.Name() == "quoted_id" && value.String() == "":
		return false
	case field.Name() == "quoted_id":
		message.Clear(field)
	case field.Kind() == protoreflect.StringKind:
		message.Set(field, protoreflect.ValueOfString(value.String()+"!"))
	case field.Kind() == protoreflect.Int64Kind && (field.Name() == "owner_id" || field.Name() == "author_id") && value.Int() == other:
		return false
	case field.Kind() == protoreflect.Int64Kind && (field.Name() == "owner_id" || field.Name() == "author_id"):
		message.Set(field, protoreflect.ValueOfInt64(other))
	case field.Kind() == protoreflect.Int64Kind:
		message.Set(field, protoreflect.ValueOfInt64(value.Int()+1))
	case field.Name() == "zoom_level":
		message.Set(field, protoreflect.ValueOfInt32(7))
	case field.Kind() == protoreflect.Int32Kind:
		message.Set(field, protoreflect.ValueOfInt32(3-int32(value.Int())/3))
	case field.Kind() == protoreflect.DoubleKind:
		message.Set(field, protoreflect.ValueOfFloat64(value.Float()/2))
	case field.Kind() == protoreflect.EnumKind:
		message.Set(field, protoreflect.ValueOfEnum(1))
	case !message.Has(field) && field.Name() == "vote":
		return false
	case field.Name() == "vote":
		return alter(message.Mutable(field).Message(), field.Message().Fields().ByName("description"), other)
	case field.Name() == "post_date":
		message.Set(field, protoreflect.ValueOfMessage((&typev1.Date{Year: 2001, Month: 2, Day: 3}).ProtoReflect()))
	default:
		message.Set(field, protoreflect.ValueOfMessage(longAgo(100).ProtoReflect()))
	}
	return true
}

// What was deleted here stays deleted, before and after a sweep, whatever belongs to it.
func TestRecordsOfWhatWasDeletedStayDeleted(t *testing.T) {
	t.Parallel()
	p := startParts(t)
	a, b := p.newUser("a"), p.newUser("b")
	records := oldContent(a, b)[0]
	p.moveRecords(records...)
	photo := must(p.Album.GetAlbum(t.Context(), &albumv1.GetAlbumRequest{AlbumId: 4711}))(t).GetPhotos()[0].GetPhotoId()
	must(p.Photo.RemovePhoto(t.Context(), &photov1.RemovePhotoRequest{ActorId: a, Parent: &photov1.RemovePhotoRequest_AlbumId{AlbumId: 4711}, PhotoId: photo}))(t)
	got := p.moveRecords(records...)
	if got[1].GetOutcome() != deleted || got[2].GetOutcome() != equal {
		t.Errorf("after the removal of a photo: %v", got)
	}
	must(p.Album.DeleteAlbum(t.Context(), &albumv1.DeleteAlbumRequest{ActorId: a, AlbumId: 4711}))(t)
	for range 3 {
		expectAll(t, p.moveRecords(records...), deleted)
		dry := must(p.MoveIn.MoveIn(t.Context(), &moveinv1.MoveInRequest{Records: records, ValidateOnly: true}))(t)
		expectAll(t, dry.GetResults(), deleted)
		p.Sweep()
	}
	if n := p.store.count(t, "album_photos"); n != 0 {
		t.Errorf("%d photos are left", n)
	}
}

func TestRecordsThatCannotBeStoredAreRefused(t *testing.T) {
	t.Parallel()
	p := startParts(t)
	a, b := p.newUser("a"), p.newUser("b")
	all := oldContent(a, b)
	p.moveRecords(all[0]...)
	p.moveRecords(all[2]...)
	second := proto.CloneOf(all[0][0].GetAlbum())
	second.Id = "4712"
	p.moveRecords(record(second))
	with := func(from *moveinv1.Record, change func(*moveinv1.Record)) *moveinv1.Record {
		changed := proto.CloneOf(from)
		change(changed)
		return changed
	}
	for reason, records := range map[string][]*moveinv1.Record{
		"USER_NOT_FOUND":  {with(all[0][0], func(r *moveinv1.Record) { r.GetAlbum().Id, r.GetAlbum().OwnerId = "1", 1<<52 })},
		"ALBUM_NOT_FOUND": of("album", "none", a, b),
		"BLOG_NOT_FOUND": append(of("entry", "none", a, b), with(all[2][0], func(r *moveinv1.Record) {
			r.GetEntry().Id, r.GetEntry().QuotedId = "9", "none"
		})),
		"POI_NOT_FOUND": of("landmark", "none", a, b),
		"ID_TAKEN":      {of("album", "4712", a, b)[0]},
		"INVALID_PARAMETER": {
			with(all[0][0], func(r *moveinv1.Record) { r.GetAlbum().Id, r.GetAlbum().Title = "1", "" }),
			with(all[0][0], func(r *moveinv1.Record) { r.GetAlbum().Id, r.GetAlbum().Title = "1", "a\x00b" }),
			with(all[0][0], func(r *moveinv1.Record) { r.GetAlbum().Id, r.GetAlbum().Category = "1", 17 }),
			with(all[0][0], func(r *moveinv1.Record) { r.GetAlbum().Id, r.GetAlbum().Lat = "1", nil }),
			with(all[0][0], func(r *moveinv1.Record) { r.GetAlbum().Id, r.GetAlbum().CreateTime.Nanos = "1", -1 }),
			with(all[0][0], func(r *moveinv1.Record) { r.GetAlbum().Id = "" }),
			with(all[0][3], func(r *moveinv1.Record) { r.GetComment().AuthorName = "and a name" }),
			with(all[0][4], func(r *moveinv1.Record) { r.GetComment().AuthorName = "" }),
		},
	} {
		got := p.moveRecords(records...)
		expectAll(t, got, rejected)
		for i, each := range got {
			if each.GetReason() != reason || each.GetMessage() == "" {
				t.Errorf("%v: %v, want %s", records[i], each, reason)
			}
		}
	}
	ballot := &moveinv1.Ballot{EntryId: "8", UserId: p.newUser("c"), Choice: 4}
	if got := p.moveRecords(record(ballot))[0]; got.GetReason() != "INVALID_PARAMETER" {
		t.Errorf("a choice that the vote lacks: %v", got)
	}
	ballot.EntryId = "7"
	if got := p.moveRecords(record(ballot))[0]; got.GetReason() != "INVALID_PARAMETER" {
		t.Errorf("a ballot without a vote: %v", got)
	}
	for _, twice := range []*moveinv1.Record{record(second), all[0][1], all[0][3], all[2][7]} {
		if got := p.moveRecords(twice, twice)[1]; got.GetReason() != "REPEATED" {
			t.Errorf("%v twice: %v", twice, got)
		}
	}
	for _, records := range [][]*moveinv1.Record{{all[0][0], all[2][0]}, {{}}, {record(&moveinv1.Photo{Id: "1", Url: "x"})}} {
		if _, err := p.MoveIn.MoveIn(t.Context(), &moveinv1.MoveInRequest{Records: records}); status.Code(err) != codes.InvalidArgument {
			t.Errorf("%v: %v", records, err)
		}
	}
}
