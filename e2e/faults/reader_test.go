//go:build linux

package faults

import (
	"context"
	"strconv"
	"strings"

	"github.com/waybook/waybook/e2e/faults/history"
)

func isNotFound(a answer) bool { return strings.HasSuffix(a.reason, "_NOT_FOUND") }

// read reads a thing of any user.
func (w *worker) read(ctx context.Context) bool {
	things := w.world.things()
	return w.readThing(ctx, w.isJSON(), things[w.random.IntN(len(things))])
}

func (w *worker) readUser(ctx context.Context) bool {
	return w.readAlbums(ctx, w.isJSON(), w.world.users[w.random.IntN(len(w.world.users))])
}

func (w *worker) readCategory(ctx context.Context) bool { return w.readLandmarks(ctx, w.isJSON()) }

// readThing reads a thing and reports whether there was an answer.
func (c *clients) readThing(ctx context.Context, isJSON bool, thing history.Thing) bool {
	kind, id := partsOf(thing)
	a := c.post(ctx, "", isJSON, "func", names[kind].get, names[kind].id, id)
	switch {
	case isNotFound(a):
		c.history.Record(history.Read{Span: a.Span, Thing: thing, Value: history.Gone})
		return true
	case a.isAcknowledged:
		c.history.Record(history.Read{Span: a.Span, Thing: thing, Value: c.whole(kind, thing, a)})
	}
	return a.isAcknowledged
}

// whole returns the value of a thing. It reports a violation if the fields are not of the same
// change.
func (c *clients) whole(kind string, thing history.Thing, a answer) (value string) {
	var latitude, category string
	switch kind {
	case "album":
		value = a.at("albumTitle").text
		category, latitude = details(value)
		if got := a.at("category").text; got != category {
			c.complain(history.Invented, "%s %q has category %s", thing, value, got)
		}
	case "blog":
		value = a.at("blogTitle").text
		_, latitude = details(value)
		if got := a.at("blogContent").text; got != "about "+value {
			c.complain(history.Invented, "%s %q has content %q", thing, value, got)
		}
	default:
		return a.at("name").text
	}
	if got := a.at("Location", "lat").text; got != latitude {
		c.complain(history.Invented, "%s %q has latitude %s", thing, value, got)
	}
	return value
}

func (c *clients) readAlbums(ctx context.Context, isJSON bool, owner user) bool {
	a := c.post(ctx, "", isJSON, "func", "getUserAlbumList", "userID", strconv.FormatInt(owner.id, 10))
	return c.listed(a, owner.list("album"), "albumList", "albumID", "albumTitle")
}

func (c *clients) readLandmarks(ctx context.Context, isJSON bool) bool {
	a := c.post(ctx, "", isJSON, "func", "getCategoryPOIList", "category", "1")
	return c.listed(a, category, "POIList", "POIID", "name")
}

// listed records a complete list.
func (c *clients) listed(a answer, list history.List, element, id, value string) bool {
	if !a.isAcknowledged {
		return false
	}
	listing := history.Listing{Span: a.Span, List: list}
	for _, item := range a.at(element).children {
		n, err := strconv.ParseInt(item.at(id).text, 10, 64)
		if err != nil {
			c.complain(history.Malformed, "%v: %v", list, err)
		}
		listing.Items = append(listing.Items, history.Item{ID: n, Value: item.at(value).text})
	}
	c.history.Record(listing)
	return true
}
