package content_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/internal/content/child"
	"github.com/waybook/waybook/internal/content/choices"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/platform/service"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	recommendationv1 "github.com/waybook/waybook/proto/gen/waybook/recommendation/v1"
)

// box is a document with every kind of attachment.
type box struct {
	ID            int64    `bson:"_id"`
	OwnerID       int64    `bson:"owner_id"`
	LatestComment int64    `bson:"comment_latest"`
	LatestItem    int64    `bson:"latest_item"`
	Score         int64    `bson:"score"`
	NamedScore    int64    `bson:"named_score"`
	ScoreRound    int64    `bson:"score_round"`
	Votes         [2]int64 `bson:"votes"`
	NamedVotes    [2]int64 `bson:"named_votes"`
	VoteRound     int64    `bson:"vote_round"`
}

type item struct {
	ID         int64  `bson:"_id"`
	BoxID      int64  `bson:"box_id"`
	RequestKey string `bson:"request_key"`
}

const boxID, owner = 7, 1

func byBox() docstore.Index1[int64] { return child.ByParent("box_id") }

func byRequest() docstore.Index2[int64, string] {
	return docstore.Index2[int64, string]{Name: docstore.RequestIndex, A: "box_id", B: "request_key", Unique: true}
}

// world is a kind of content over a store that records the opened tables.
type world struct {
	*content.Kind[box]
	store   *recorder
	items   *child.Set[box, item]
	ballots *choices.Counter[box]
}

// recorder is a store that keeps the opened tables.
type recorder struct {
	docstore.Engine
	names  []string
	tables map[string]docstore.Table
}

func (r *recorder) Open(ctx context.Context, spec docstore.Spec) (docstore.Table, error) {
	table, err := r.Engine.Open(ctx, spec)
	r.names = append(r.names, spec.Name)
	r.tables[spec.Name] = table
	return table, err
}

// everybody is an account service that knows every user.
type everybody struct{ accountv1.AccountServiceClient }

func (everybody) BatchGetUsers(
	_ context.Context, request *accountv1.BatchGetUsersRequest, _ ...grpc.CallOption,
) (*accountv1.BatchGetUsersResponse, error) {
	reply := &accountv1.BatchGetUsersResponse{}
	for _, id := range request.GetUserIds() {
		reply.Users = append(reply.Users, &accountv1.User{UserId: id, Name: fmt.Sprint("user ", id)})
	}
	return reply, nil
}

func (everybody) ListHiddenUsers(
	context.Context, *accountv1.ListHiddenUsersRequest, ...grpc.CallOption,
) (*accountv1.ListHiddenUsersResponse, error) {
	return &accountv1.ListHiddenUsersResponse{}, nil
}

// newWorld returns a kind with one box.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := openWorld(t, newStore(t, time.Now), time.Now)
	w.fill(t, boxID)
	return w
}

func newStore(t *testing.T, now func() time.Time) docstore.Engine {
	t.Helper()
	engine, err := embedded.OpenWithClock(filepath.Join(t.TempDir(), "store.db"), now)
	must(t, err)
	t.Cleanup(func() { must(t, engine.Close()) })
	return engine
}

// openWorld returns a kind over a store, as another process has it.
func openWorld(t *testing.T, engine docstore.Engine, now func() time.Time) *world {
	t.Helper()
	w := &world{store: &recorder{Engine: engine, tables: map[string]docstore.Table{}}}
	host := newHost(t)
	host.Deps = service.NewDeps(w.store, host.Log)
	host.Deps.Now = now
	deps := content.NewDeps(host, everybody{})
	var err error
	w.Kind, err = content.Open(t.Context(), deps, content.Spec[box]{
		Documents: docstore.Spec{Name: "boxes", ID: docstore.Int64, Sharding: docstore.ByPlace, Scheme: id.Scheme{}, Tombstones: true},
		Name:      "box", Noun: "crate", NotFound: "BOX_NOT_FOUND",
		ID:            func(b *box) int64 { return b.ID },
		Owner:         func(b *box) int64 { return b.OwnerID },
		OwnerField:    "owner_id",
		LatestComment: func(b *box) *int64 { return &b.LatestComment },
		Score:         func(b *box) choices.Number { return choices.Number{Count: &b.Score, Moved: &b.NamedScore} },
		ScoreRound:    func(b *box) *int64 { return &b.ScoreRound },
		ShownScore:    func(b *box) int64 { return b.Score },
		Attached: []content.Attachment[box]{
			content.Children(&w.items, content.ChildSpec[box, item]{
				Documents: child.Spec("box_items", byBox(), byRequest().Declare()), ByParent: byBox(),
				Noun: "item", NotFound: "ITEM_NOT_FOUND",
				Latest:      func(b *box) *int64 { return &b.LatestItem },
				LatestField: "latest_item",
				ParentOf:    func(i *item) int64 { return i.BoxID },
				RequestKey:  func(i *item) string { return i.RequestKey },
			}),
			content.Choices(&w.ballots, content.ChoiceSpec[box]{
				Collection: "box_ballots",
				Round:      func(b *box) *int64 { return &b.VoteRound },
				RoundField: "vote_round",
				Numbers: func(b *box) []choices.Number {
					return []choices.Number{{Count: &b.Votes[0], Moved: &b.NamedVotes[0]}, {Count: &b.Votes[1], Moved: &b.NamedVotes[1]}}
				},
				Fields: func(value int32) (count, moved string) {
					return fmt.Sprintf("votes.%d", value-1), fmt.Sprintf("named_votes.%d", value-1)
				},
			}),
		},
	})
	must(t, err)
	return w
}

// fill stores a box with an item, a ballot, a comment and a recommendation.
func (w *world) fill(t *testing.T, boxID int64) {
	t.Helper()
	must(t, w.Documents.Insert(t.Context(), box{ID: boxID, OwnerID: owner}))
	_, err := w.items.Add(t.Context(), owner, boxID, docstore.Request{By: byRequest().First(boxID)}, nil,
		func(id int64, requestKey string) item { return item{ID: id, BoxID: boxID, RequestKey: requestKey} })
	must(t, err)
	_, err = w.ballots.Put(t.Context(), boxID, 2, choices.Always[box](2))
	must(t, err)
	_, err = w.Comments.AddComment(t.Context(), &commentv1.AddCommentRequest{Parent: &commentv1.AddCommentRequest_AlbumId{AlbumId: boxID}, AuthorId: 2, Text: "nice"})
	must(t, err)
	_, err = w.Recommendations.Recommend(t.Context(), &recommendationv1.RecommendRequest{UserId: 2, Parent: &recommendationv1.RecommendRequest_AlbumId{AlbumId: boxID}})
	must(t, err)
}

// count counts the documents of a collection.
func (w *world) count(t *testing.T, name string) int64 {
	t.Helper()
	n, err := w.store.tables[name].Count(t.Context(), docstore.All(docstore.IDIndex).Everywhere())
	must(t, err)
	return n
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// boxSummary is what a list has of a box.
type boxSummary struct {
	ID int64 `bson:"_id"`
}

func TestAPageOfSummariesLeavesOutWhatIsRefused(t *testing.T) {
	w := newWorld(t)
	for id := int64(8); id <= 16; id++ {
		must(t, w.Documents.Insert(t.Context(), box{ID: id, OwnerID: owner}))
	}
	summaries := content.Summarize(w.Kind, func(s *boxSummary) (int64, string) { return s.ID, "" })
	isEven := func(s *boxSummary) bool { return s.ID%2 == 0 }
	for name, c := range map[string]struct {
		keep func(*boxSummary) bool
		want [][]int64
	}{
		"all":  {nil, [][]int64{{7, 8, 9, 10}, {11, 12, 13, 14}, {15, 16}}},
		"even": {isEven, [][]int64{{8, 10}, {12, 14}, {16}}},
	} {
		query := docstore.Query{Where: docstore.All(docstore.IDIndex).Everywhere(), Limit: 4}
		for i, want := range c.want {
			page, next, err := summaries.Page(t.Context(), query, c.keep)
			var got []int64
			for _, each := range page {
				got = append(got, each.GetId())
			}
			if err != nil || !slices.Equal(got, want) || (next == "") != (i == len(c.want)-1) {
				t.Errorf("%s: page %d is %v, want %v (next %q, %v)", name, i, got, want, next, err)
			}
			query.Token = next
		}
	}
}
