package rpc_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/longform"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
)

// An album gets more comments at once than its place has ticks. FerretDB takes few at a time.
func TestManyWritersIntoOneAlbumAreListedInTheirOrderOnEachStore(t *testing.T) {
	t.Parallel()
	t.Run("embedded", func(t *testing.T) { writeTogether(t, 64, startPartsOn(t, newBrittle(t))) })
	t.Run("two processes on MongoDB", func(t *testing.T) {
		longform.Only(t)
		uri := mongotest.StartReplicaSet(t)
		writeTogether(t, 16, startPartsOn(t, newBrittleOverWire(t, uri)), startPartsOn(t, newBrittleOverWire(t, uri)))
	})
	t.Run("two processes on PostgreSQL", func(t *testing.T) {
		longform.Only(t)
		uri := mongotest.StartOnPostgreSQL(t, mongowire.Config{IsConcurrent: true}).URI(mongotest.Database())
		writeTogether(t, 16, startPartsOn(t, newBrittleOverWire(t, uri)), startPartsOn(t, newBrittleOverWire(t, uri)))
	})
	t.Run("real server", func(t *testing.T) {
		uri := mongotest.OnRealServer(t)
		writeTogether(t, 64, startPartsOn(t, newBrittleOverWire(t, uri)), startPartsOn(t, newBrittleOverWire(t, uri)))
	})
}

func writeTogether(t *testing.T, writers int, processes ...*parts) {
	const each, turns = 3, 20
	owner := processes[0].newUser("a")
	album := processes[0].newAlbum(owner, "a")
	add := func(process int, name string) {
		at := processes[process%len(processes)]
		if _, err := at.Comment.AddComment(t.Context(), &commentv1.AddCommentRequest{AuthorId: owner, Parent: &commentv1.AddCommentRequest_AlbumId{AlbumId: album}, Text: name}); err != nil {
			t.Error(err)
		}
	}
	var group sync.WaitGroup
	for writer := range writers {
		group.Go(func() {
			for n := range each {
				add(writer, fmt.Sprintf("writer %d comment %d", writer, n))
			}
		})
	}
	group.Wait()
	for turn := range turns {
		add(turn, fmt.Sprintf("turn comment %d", turn))
	}

	comments := must(processes[0].Comment.ListComments(t.Context(), &commentv1.ListCommentsRequest{Parent: &commentv1.ListCommentsRequest_AlbumId{AlbumId: album}, PageSize: 1000}))(t).GetComments()
	if ids := idsOf(comments, (*commentv1.Comment).GetCommentId); len(ids) != writers*each+turns || !slices.IsSorted(ids) {
		t.Errorf("%d comments: %v", len(ids), ids)
	}
	next := map[string]int{}
	for i, comment := range comments {
		by, n, _ := strings.Cut(comment.GetText(), " comment ")
		if n != strconv.Itoa(next[by]) || by == "turn" && i < writers*each {
			t.Errorf("%s is in position %d, after %d others of %s", comment.GetText(), i, next[by], by)
		}
		next[by]++
	}
}
