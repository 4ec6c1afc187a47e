package rpc_test

import (
	"math/rand/v2"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/internal/storetest"
)

// Moves crash or fail while primaries fall and others answer late. The next one finishes them. A seed does
// not repeat all of it: the identifiers of the users are random, and so is where they lie.
func TestAMoveDuringFailoversIsFinishedByTheNext(t *testing.T) {
	t.Parallel()
	storetest.Seeds(t, func(t *testing.T, seed uint64) {
		random := rand.New(rand.NewPCG(seed, 0))
		store := storetest.NewReplica(t, storetest.ReplicaSettings{Shards: 2})
		p := startPartsOn(t, newBrittleOf(t, store))
		m := newMove(p.newUser("a"), p.newUser("b"))
		mortal, _ := storetest.NewMortal(store.Process(), random.IntN(60), storetest.Outcome(random.IntN(2) == 0))
		for _, each := range []*parts{startPartsOn(t, newBrittleOf(t, mortal)), startPartsOn(t, newBrittleOf(t, store.Process()))} {
			store.Trouble(seed)
			err := each.run(m)
			if err != nil && status.Code(err) != codes.Unavailable && status.Code(err) != codes.Internal {
				t.Errorf("got %v", err)
			}
			store.Settle()
			p.expectWholeOrNothing(m)
			if err == nil {
				expectOutcomes(t, p.moveAlbums(nil, m.albums...), unchanged, unchanged, unchanged)
				expectOutcomes(t, p.moveBlogs(nil, m.blogs...), unchanged, unchanged)
			}
		}
		got(t, 0, p.run(m))
		p.expectFinished(m, map[string]int64{
			"albums": 3, "album_photos": 9, "album_comments": 12, "album_recommendations": 3, "album_aliases": 3,
			"blogs": 2, "blog_comments": 6, "blog_ballots": 2, "blog_recommendations": 2, "blog_aliases": 2,
		})
	})
}
