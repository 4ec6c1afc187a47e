package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// parallel calls run count times, with 32 calls in flight.
func parallel(t *testing.T, count int, run func(int) error) {
	t.Helper()
	next := make(chan int)
	var group sync.WaitGroup
	for range 32 {
		group.Go(func() {
			for i := range next {
				if err := run(i); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range count {
		next <- i
	}
	close(next)
	group.Wait()
}

// collect receives a stream to its end.
func collect[T any](stream grpc.ServerStreamingClient[T], err error) (batches []*T, _ error) {
	for err == nil {
		var batch *T
		if batch, err = stream.Recv(); err == nil {
			batches = append(batches, batch)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return batches, err
}

// streamed returns the content that a Stream sends.
func (k kind) streamed(ctx context.Context, values fields) (all []proto.Message, err error) {
	stream, err := k.stream(ctx, "Stream", values)
	for err == nil {
		batch := newMessage(k.method("Stream").Output())
		if err = stream.RecvMsg(batch); err == nil {
			all = append(all, readAll[proto.Message](batch, k.lowers())...)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return all, err
}

// ids returns the identifiers of content.
func (k kind) ids(content []proto.Message) []int64 {
	return idsOf(content, func(each proto.Message) int64 { return read[int64](each, string(k.field("id"))) })
}

func TestAStreamHasTheItemsOfTheListInItsOrderFromAnIdentifierToALimit(t *testing.T) {
	t.Parallel()
	// More than two batches.
	const count = 450
	w := start(t)
	owner, other := w.newUser("a"), w.newUser("b")
	for _, k := range w.kinds() {
		t.Run(k.service, func(t *testing.T) {
			list, empty := fields{"owner": owner}, fields{"owner": w.newUser("c")}
			if k.name == "Poi" {
				list, empty = fields{"category": 3}, fields{"category": 4}
			}
			var made [count]int64
			parallel(t, count, func(i int) error {
				if i%10 == 0 { // between the others
					if err := failed(k.send(t.Context(), "Create", k.valid(other, "in no list", nil))); err != nil {
						return err
					}
				}
				reply, err := k.send(t.Context(), "Create", k.valid(owner, fmt.Sprint(i), fields{"category": 3}))
				made[i] = k.idIn(reply)
				return err
			})
			ids := k.page("List", list, k.lowers(), string(k.field("id"))).all(t, 100)
			if !slices.Equal(ids, slices.Sorted(slices.Values(made[:]))) {
				t.Fatalf("the list has %d, %d were made", len(ids), count)
			}
			for _, each := range must(k.streamed(t.Context(), list))(t) {
				if i := slices.Index(made[:], k.ids([]proto.Message{each})[0]); i < 0 || read[string](each, string(k.title)) != fmt.Sprint(i) {
					t.Errorf("number %d is %v", i, each)
				}
			}
			// The identifier need not exist.
			for after, first := range map[int64]int{
				0: 0, ids[0] - 1: 0, ids[0]: 1, ids[199]: 200, ids[count/2]: count/2 + 1, ids[399]: 400,
				ids[count-2]: count - 1, ids[count-1] - 1: count - 1, ids[count-1]: count, tooHigh - 1: count,
			} {
				for _, limit := range []int64{0, 1, 2, 199, 200, 201, 400, count, count + 1, math.MaxInt64} {
					want := ids[first:]
					if limit > 0 && limit < int64(len(want)) {
						want = want[:limit]
					}
					sent := k.ids(must(k.streamed(t.Context(), list.and(fields{"after": after, "limit": limit})))(t))
					if !slices.Equal(sent, want) {
						t.Errorf("after the first %d, up to %d: %d are sent, want %d", first, limit, len(sent), len(want))
					}
				}
			}
			if sent := must(k.streamed(t.Context(), empty))(t); len(sent) > 0 {
				t.Errorf("of an empty list %v is sent", sent)
			}
		})
	}
}

func TestAStreamOfEntriesMayLeaveOutThoseThatAreNotPublished(t *testing.T) {
	t.Parallel()
	const count = 410 // more than two batches, of which two thirds are published
	const published = int(blogv1.BlogPublication_BLOG_PUBLICATION_PUBLISHED)
	w := start(t)
	author, k := w.newUser("a"), w.kinds()[1]
	all := make([]int64, count)
	parallel(t, count, func(i int) error {
		day := &typev1.Date{Year: 2026, Month: 2, Day: 28}
		if i%3 == 0 {
			day.Year = 9999
		}
		reply, err := k.send(t.Context(), "Create", k.valid(author, "x", fields{"post_date": day}))
		all[i] = k.idIn(reply)
		return err
	})
	var shown []int64
	for i, id := range all {
		if i%3 != 0 {
			shown = append(shown, id)
		}
	}
	slices.Sort(all)
	slices.Sort(shown)
	for _, c := range []struct {
		after, limit int64
		publication  int
		want         []int64
	}{
		{0, 0, 0, all},
		{all[200], 201, 0, all[201:402]},
		{0, 0, published, shown},
		{shown[9], 200, published, shown[10:210]},
		{shown[len(shown)-1], 1, published, nil},
	} {
		sent := k.ids(must(k.streamed(t.Context(), fields{"owner": author, "after": c.after, "limit": c.limit, "publication": c.publication}))(t))
		if !slices.Equal(sent, c.want) {
			t.Errorf("after %d, up to %d, publication %d: %d entries, want %d", c.after, c.limit, c.publication, len(sent), len(c.want))
		}
	}
	invalid := fields{"after": int64(tooHigh), "limit": int64(-1), "publication": 2}
	expectFault(t, failed(k.streamed(t.Context(), invalid)), codes.InvalidArgument, "INVALID_PARAMETER", "author_id", "after_blog_id", "limit", "publication")
}
