package versions

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

const (
	// workers is how many clients call at once. Each has usersEach users.
	workers, usersEach = 12, 5
	// sharedEach is how many documents of each kind all workers write to.
	sharedEach = 2
	// seed starts the random choices of the workers.
	seed = 11
)

// world is a store, and the record of each write to it that a program has acknowledged.
type world struct {
	t    *testing.T
	uri  string
	keep *keeper

	workers []*worker
	// shared are the documents that all workers write to.
	shared []*document

	mu sync.Mutex
	// others are further documents, of which some are deleted.
	others []*document
}

// document is the record of a document. The world's mutex protects it.
type document struct {
	*kind
	id, owner   int64
	title       string
	isDeleted   bool
	comments    map[int64]string
	photos      map[int64]string
	recommended map[int64]bool
	ballots     map[int64]int32
}

func newDocument(k *kind, id, owner int64, title string) *document {
	return &document{
		kind: k, id: id, owner: owner, title: title, comments: map[int64]string{}, photos: map[int64]string{},
		recommended: map[int64]bool{}, ballots: map[int64]int32{},
	}
}

// worker is a client that makes one call after another.
type worker struct {
	*world
	number int
	random *rand.Rand
	users  []int64
	// unheard are the users' first recommendations and ballots that are still to come. said are
	// their recommendations that they may withdraw.
	unheard, said []first
	// own are the worker's comments and photos.
	own []attachment
	// calls counts calls, to make texts unique.
	calls int
}

// first is a user's first choice under a document: a ballot, or a recommendation.
type first struct {
	document *document
	user     int64
	isBallot bool
}

// attachment is a comment or a photo of a worker.
type attachment struct {
	document *document
	id, user int64
	isPhoto  bool
}

// newWorld creates users and shared documents through a program.
func newWorld(t *testing.T, uri string, p *program) *world {
	t.Helper()
	w := &world{t: t, uri: uri}
	for i := range workers {
		w.workers = append(w.workers, &worker{world: w, number: i, random: rand.New(rand.NewPCG(seed, uint64(i)))})
	}
	w.each(func(ctx context.Context, each *worker) error {
		for range usersEach {
			r, err := p.Account.CreateUser(ctx, &accountv1.CreateUserRequest{Name: "x"})
			if err != nil {
				return err
			}
			each.users = append(each.users, r.GetUser().GetUserId())
		}
		return nil
	})
	for i, k := range slices.Repeat([]*kind{albumKind(), blogKind(), poiKind()}, sharedEach) {
		owner := w.workers[i].users[0]
		id, err := k.create(t.Context(), p, owner, "new")
		if err != nil {
			t.Fatal(err)
		}
		w.shared = append(w.shared, newDocument(k, id, owner, "new"))
	}
	for _, each := range w.workers {
		for _, d := range w.shared {
			for _, user := range each.users {
				each.unheard = append(each.unheard, first{d, user, false})
				if d.vote != nil {
					each.unheard = append(each.unheard, first{d, user, true})
				}
			}
		}
		each.random.Shuffle(len(each.unheard), func(i, j int) {
			each.unheard[i], each.unheard[j] = each.unheard[j], each.unheard[i]
		})
	}
	return w
}

// each lets all workers do something at once. The first error ends the test.
func (w *world) each(do func(ctx context.Context, each *worker) error) {
	w.t.Helper()
	ctx, cancel := context.WithCancelCause(w.t.Context())
	defer cancel(nil)
	var group sync.WaitGroup
	for _, each := range w.workers {
		group.Go(func() {
			if err := do(ctx, each); err != nil {
				cancel(err)
			}
		})
	}
	group.Wait()
	if err := context.Cause(ctx); err != nil {
		w.t.Fatal(err)
	}
}

// drive lets all workers make calls, each to a random one of the programs.
func (w *world) drive(rounds int, running ...*program) {
	w.t.Helper()
	w.each(func(ctx context.Context, each *worker) error {
		for range rounds {
			p := running[each.random.IntN(len(running))]
			what, err := each.call(ctx, p, running)
			if err != nil {
				return fmt.Errorf("worker %d: %s, older=%t: %w", each.number, what, p.isOlder, err)
			}
		}
		return nil
	})
}

// alive returns the documents of a collection that are not deleted, by id.
func (w *world) alive(collection string) map[int64]*document {
	alive := map[int64]*document{}
	for _, d := range slices.Concat(w.shared, w.others) {
		if d.documents == collection && !d.isDeleted {
			alive[d.id] = d
		}
	}
	return alive
}

// want returns what programs should show of a document.
func (d *document) want() shown {
	want := shown{d.title, int64(len(d.recommended)), nil, maps.Clone(d.comments), maps.Clone(d.photos)}
	if d.vote != nil {
		want.votes = make([]int64, choiceCount)
		for _, choice := range d.ballots {
			want.votes[choice-1]++
		}
	}
	return want
}
