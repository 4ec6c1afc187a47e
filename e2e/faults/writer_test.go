//go:build linux

package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/waybook/waybook/e2e/faults/history"
)

// worker is a client that performs one operation after another, as a user who owns all the things
// it writes.
type worker struct {
	*clients
	world  *world
	user   user
	random *rand.Rand
	// own are the things that the worker may change.
	own []history.Thing
	// requests are the requests that the worker may repeat.
	requests []request
	// doesNotNameRequests omits request ids, which no correct client does.
	doesNotNameRequests bool
	written             int
}

// work runs until ctx ends.
func (w *worker) work(ctx context.Context) {
	steps := []func(context.Context) bool{
		w.create, w.create, w.change, w.change, w.remove,
		w.read, w.read, w.read, w.readUser, w.readCategory,
		w.comment, w.recommend, w.vote, w.newLandmark, w.repeat,
	}
	for ctx.Err() == nil {
		if isAcknowledged := steps[w.random.IntN(len(steps))](ctx); !isAcknowledged {
			pause(ctx, callPause)
		}
	}
}

// pause waits for a time, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// next returns an unused value.
func (w *worker) next() string {
	w.written++
	return fmt.Sprintf("u%d-%d", w.user.id, w.written)
}

func (w *worker) isJSON() bool { return w.random.IntN(2) == 0 }

// form returns the parameters that create or change a thing.
func form(kind, value string) []string {
	category, latitude := details(value)
	if kind == "album" {
		return []string{"albumTitle", value, "category", category, "lat", latitude, "lng", "1"}
	}
	return []string{
		"blogTitle", value, "blogContent", "about " + value, "type", "0_1", "lat", latitude, "lng", "1",
		"year", "2026", "month", "2", "day", "3", "weather", "有彩虹",
	}
}

// names are the function and parameter names of /API.php for each kind.
var names = map[string]struct{ add, change, get, id string }{
	"album": {"addAlbum", "updateAlbum", "getAlbum", "albumID"},
	"blog":  {"postBlog", "updateBlog", "getBlog", "blogID"},
	"poi":   {get: "getPOI", id: "POIID"},
}

func (w *worker) create(ctx context.Context) bool {
	return w.createOf(ctx, []string{"album", "blog"}[w.random.IntN(2)])
}

func (w *worker) createOf(ctx context.Context, kind string) bool {
	value := w.next()
	a := w.post(ctx, w.user.cookie, w.isJSON(), append([]string{"func", names[kind].add}, form(kind, value)...)...)
	added := history.Add{Span: a.Span, List: w.user.list(kind), Value: value}
	if a.isAcknowledged {
		var err error
		if added.ID, err = strconv.ParseInt(a.at(names[kind].id).text, 10, 64); err != nil {
			w.complain(history.Malformed, "%s: %v", names[kind].add, err)
		}
		thing := history.NameThing(kind, added.ID)
		w.own = append(w.own, thing)
		w.world.learn(thing)
	}
	w.history.Record(added)
	return a.isAcknowledged
}

func (w *worker) change(ctx context.Context) bool {
	if len(w.own) == 0 {
		return true
	}
	thing := w.own[w.random.IntN(len(w.own))]
	kind, id := partsOf(thing)
	value := w.next()
	a := w.post(ctx, w.user.cookie, w.isJSON(), append([]string{"func", names[kind].change, names[kind].id, id}, form(kind, value)...)...)
	w.wrote(thing, value, a)
	return a.isAcknowledged
}

func (w *worker) remove(ctx context.Context) bool {
	if len(w.own) == 0 {
		return true
	}
	i := w.random.IntN(len(w.own))
	thing := w.own[i]
	kind, id := partsOf(thing)
	a := w.post(ctx, w.user.cookie, w.isJSON(), "func", names[kind].change, names[kind].id, id, "delete", "true")
	w.own = append(w.own[:i:i], w.own[i+1:]...)
	w.wrote(thing, history.Gone, a)
	return a.isAcknowledged
}

// wrote records a change. "Not found" is also recorded as a read, because an earlier attempt may
// have succeeded.
func (w *worker) wrote(thing history.Thing, value string, a answer) {
	w.history.Record(history.Put{Span: a.Span, Thing: thing, Value: value, IsAcknowledged: a.isAcknowledged})
	if isNotFound(a) {
		w.history.Record(history.Read{Span: a.Span, Thing: thing, Value: history.Gone})
	}
}
