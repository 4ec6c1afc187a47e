package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"

	"google.golang.org/grpc"

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

// summaryIDs returns the identifiers of summaries.
func summaryIDs(content []*typev1.Summary) []int64 { return idsOf(content, (*typev1.Summary).GetId) }

// summaries returns the summaries on all pages of a list. Pages of published entries may be short.
func (k kind) summaries(ctx context.Context, values fields, size int32) (all []*typev1.Summary, err error) {
	for token := ""; ; {
		reply, err := k.send(ctx, "List", fields{"view": int(typev1.View_VIEW_SUMMARY), "page_size": size, "page_token": token}.and(values))
		if err != nil {
			return nil, err
		}
		all = append(all, readAll[*typev1.Summary](reply, "summaries")...)
		if token = read[string](reply, "next_page_token"); token == "" {
			return all, nil
		}
	}
}

func TestAListOfSummariesHasTheItemsOfTheListInItsOrderFromAnIdentifier(t *testing.T) {
	t.Parallel()
	const count = 120
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
			for _, each := range must(k.summaries(t.Context(), list, 0))(t) {
				if i := slices.Index(made[:], each.GetId()); i < 0 || each.GetTitle() != fmt.Sprint(i) {
					t.Errorf("number %d is %v", i, each)
				}
			}
			// The identifier need not exist.
			for after, first := range map[int64]int{
				0: 0, ids[0] - 1: 0, ids[0]: 1, ids[49]: 50, ids[count-2]: count - 1, ids[count-1] - 1: count - 1, ids[count-1]: count, tooHigh - 1: count,
			} {
				for _, size := range []int32{0, 1, 50, 1000} {
					listed := summaryIDs(must(k.summaries(t.Context(), list.and(fields{"after": after}), size))(t))
					if !slices.Equal(listed, ids[first:]) {
						t.Errorf("after the first %d, in pages of %d: %d, want %d", first, size, len(listed), count-first)
					}
				}
			}
			if listed := must(k.summaries(t.Context(), empty, 0))(t); len(listed) > 0 {
				t.Errorf("an empty list has %v", listed)
			}
		})
	}
}
