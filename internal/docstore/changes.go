package docstore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/waybook/waybook/internal/docstore/keys"
)

// ChangesQuery asks for changes of documents.
type ChangesQuery struct {
	// Token is ChangesPage.Next of an earlier page; empty for all documents and what follows.
	Token string
	// Start, unless zero, leaves out what was not changed since then, to the second. Deletions
	// since then are listed, as far as they are not forgotten. There is no Token with it.
	Start time.Time
	// Limit is the maximum number of changes, 1 or more.
	Limit int
}

// ChangesPage is a page of changes.
type ChangesPage[K Key] struct {
	Changes []DocumentChange[K]
	// Next is the token of the next page. There is always one.
	Next string
	// More reports that the next page may have changes now. A page may be short, or empty, all the
	// same.
	More bool
}

// DocumentChange is the latest change of a document.
type DocumentChange[K Key] struct {
	ID   K
	Type ChangeType
	Time time.Time
}

// ChangeType is what happened to a document.
type ChangeType int

// The types of changes.
const (
	// DocumentCreated: the document was inserted after the follower last had all changes.
	DocumentCreated ChangeType = iota + 1
	// DocumentChanged: the document was inserted before that.
	DocumentChanged
	// DocumentDeleted: the document is deleted.
	DocumentDeleted
)

// changesPage is a ChangesPage whose ids have no type yet.
type changesPage struct {
	changes []documentChange
	next    string
	more    bool
}

type documentChange struct {
	id Value
	is ChangeType
	at time.Time
}

func (c *core) changes(ctx context.Context, query ChangesQuery) (page changesPage, err error) {
	if query.Limit < 1 {
		return page, c.wrap("list changes", errors.New("docstore: the limit must be 1 or more"))
	}
	token, err := c.parseChangesToken(query.Token)
	if err == nil && !query.Start.IsZero() {
		err = token.startAt(query)
	}
	if err != nil {
		return page, c.wrap("list changes", err)
	}
	batch, err := c.table.Changes(ctx, ChangeScan{From: token.after, Limit: query.Limit + 1})
	if err != nil {
		return page, c.wrap("list changes", err)
	}
	if query.Token == "" {
		token.store, token.needless = batch.Store, max(batch.Settled, batch.Forgotten)
	}
	if err := token.check(batch); err != nil {
		return page, c.wrap("list changes", err)
	}
	found := batch.Changes
	if len(found) > 0 && found[0].position() == token.after {
		found = found[1:]
	}
	page.more = batch.More || len(found) > query.Limit
	for _, each := range found[:min(len(found), query.Limit)] {
		token.last = each.position()
		token.seen = max(token.seen, each.At)
		if each.IsGone && token.made == 0 && each.At <= token.needless {
			continue
		}
		is := DocumentChanged
		switch {
		case each.IsGone:
			is = DocumentDeleted
		case each.Made > token.made:
			is = DocumentCreated
		}
		page.changes = append(page.changes, documentChange{each.ID, is, each.At.Time()})
	}
	token.advance(batch.Settled, page.more)
	page.next = c.changesToken(token)
	return page, nil
}

// changesToken is the content of a token. The pages up to one without More are a round.
type changesToken struct {
	store int64
	// after is the position of the last change that was listed, or where the round begins.
	after ChangePosition
	// safe is the moment up to which nothing can appear that was not listed. The next round begins
	// there.
	safe Moment
	// made: documents that were made later are new to the follower. It is 0 in the round of a
	// follower that begins with everything.
	made Moment
	// needless: the follower needs no deletion up to this moment, because it had nothing then, or
	// has listed it.
	needless Moment
	// seen is the moment of the latest change that was listed.
	seen Moment

	// last is after when the page ends.
	last ChangePosition
}

// startAt makes the token of everything that of a start at a time. A store may count in seconds.
func (t *changesToken) startAt(query ChangesQuery) error {
	if query.Token != "" {
		return ErrBadToken
	}
	at := MomentOf(query.Start.Truncate(time.Second))
	*t = changesToken{after: ChangePosition{At: at}, safe: at, made: max(at, 2) - 1}
	t.last = t.after
	return nil
}

// check returns an error if deletions that the follower needs may be forgotten, or the store lacks
// what the follower has seen. The last change that was listed is there, or a later one of its
// document, unless its deletion is forgotten.
func (t *changesToken) check(batch ChangeBatch) error {
	last := batch.Forgotten
	if n := len(batch.Changes); n > 0 {
		last = max(last, batch.Changes[n-1].At)
	}
	switch isAhead := !batch.More && t.seen > last; {
	case t.store != batch.Store, max(t.needless, t.after.At) < batch.Forgotten:
		return ErrForgotten
	case isAhead && t.seen > batch.Known:
		return fmt.Errorf("%w: the server has not reached the time of the token", ErrUnavailable)
	case isAhead:
		return ErrForgotten
	}
	return nil
}

// advance moves the token behind the last change of a page.
func (t *changesToken) advance(settled Moment, isMore bool) {
	if t.safe >= t.after.At {
		t.safe = max(t.safe, min(t.last.At, settled))
	}
	t.after = t.last
	if isMore {
		return
	}
	if t.safe < t.after.At {
		t.after = ChangePosition{At: t.safe}
	}
	t.made, t.needless = max(t.safe, 1), max(t.needless, t.safe)
}

// changesTokenBytes is the length of a token without its origin and the id.
const changesTokenBytes = 6 * 8

// changesOrigin returns a hash that binds a token to the collection.
func (c *core) changesOrigin() []byte {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte("changes\x00" + c.spec.Name))
	return binary.BigEndian.AppendUint32(nil, sum.Sum32())
}

func (c *core) changesToken(t changesToken) string {
	raw := c.changesOrigin()
	for _, number := range []Moment{Moment(t.store), t.after.At, t.safe, t.made, t.needless, t.seen} { // #nosec G115 -- the same bits
		raw = binary.BigEndian.AppendUint64(raw, uint64(number))
	}
	if !t.after.ID.IsNone() {
		raw = AppendValues(raw, t.after.ID)
	}
	return EncodeToken(raw)
}

// parseChangesToken decodes a token, or returns ErrBadToken.
func (c *core) parseChangesToken(token string) (t changesToken, err error) {
	if token == "" {
		return t, nil
	}
	raw, err := DecodeToken(token)
	if err != nil || len(raw) < originBytes+changesTokenBytes ||
		string(raw[:originBytes]) != string(c.changesOrigin()) {
		return t, ErrBadToken
	}
	raw = raw[originBytes:]
	number := func(n int) Moment { return Moment(binary.BigEndian.Uint64(raw[8*n:])) }
	t.store, t.after.At, t.safe, t.made, t.needless, t.seen = int64(number(0)), number(1), number(2), number(3), number(4), number(5) // #nosec G115 -- the same bits
	if raw = raw[changesTokenBytes:]; len(raw) > 0 {
		t.after.ID, raw, err = c.cutID(raw)
	}
	if err != nil || len(raw) > 0 {
		return t, ErrBadToken
	}
	t.last = t.after
	return t, nil
}

// cutID decodes an id at the end of a token.
func (c *core) cutID(raw []byte) (Value, []byte, error) {
	if c.spec.ID == Int64 {
		number, rest, err := keys.CutInt64(raw)
		return ValueOf(number), rest, err
	}
	text, rest, err := keys.CutString(raw)
	return ValueOf(text), rest, err
}
