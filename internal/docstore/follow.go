package docstore

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"time"

	"github.com/waybook/waybook/internal/docstore/keys"
)

// ErrForgotten reports a feed token after which deletions are forgotten, or one of another
// history of the store: its holder has to start anew.
var ErrForgotten = errors.New("docstore: the changes after the token are forgotten")

// FeedQuery asks for changes of documents.
type FeedQuery struct {
	// Token is FeedPage.Next of an earlier page; empty for all documents and what follows.
	Token string
	// Start, unless zero, leaves out what was not changed since then, to the second. Deletions since then are there,
	// as far as they are not forgotten. There is no Token with it.
	Start time.Time
	// Limit is the maximum number of changes, 1 or more.
	Limit int
	// WithDocuments includes the documents.
	WithDocuments bool
}

// FeedPage is a page of changes.
type FeedPage[K Key, T any] struct {
	Changes []FeedChange[K, T]
	// Next is the token of the next page. There is always one.
	Next string
	// More reports whether the next page has changes now.
	More bool
}

// FeedKind is what happened to a document.
type FeedKind int

// The kinds of changes.
const (
	// DocumentCreated: the document was inserted after the follower last had all changes.
	DocumentCreated FeedKind = iota + 1
	// DocumentChanged: the document was inserted before that.
	DocumentChanged
	// DocumentDeleted: the document is gone.
	DocumentDeleted
)

// FeedChange is a change of a document.
type FeedChange[K Key, T any] struct {
	ID   K
	Kind FeedKind
	Time time.Time
	// Revision grows with each change of the document, and Parts has the revision of each part.
	// Both are 0 if it is deleted.
	Revision int64
	Parts    map[string]int64
	// Document is nil if it is deleted, or not wanted.
	Document *T
}

// Feed returns a page of changes in the order of their times, each document once with its latest
// change; see Table.Feed. The collection declares a feed. Errors: ErrBadToken, ErrForgotten.
func (c *Collection[K, T]) Feed(ctx context.Context, query FeedQuery) (page FeedPage[K, T], err error) {
	if c.spec.Feed == nil {
		return page, c.wrap("feed", errNoFeed)
	}
	token, err := c.parseFeedToken(query.Token)
	if err == nil && !query.Start.IsZero() {
		err = token.startAt(query)
	}
	if err != nil {
		return page, c.wrap("feed", err)
	}
	if token.isWalking {
		if err := c.showRestless(ctx, query, &token, token.after.At, &page); err != nil {
			return page, c.wrap("feed", err)
		}
		page.Next = c.feedToken(token)
		return page, nil
	}
	scan := FeedScan{After: token.after, Since: token.since, Chapter: token.chapter, Seen: token.seen, Limit: query.Limit, MaxBytes: MaxBatchBytes}
	if !query.WithDocuments {
		scan.Fields = []string{IDIndex, RevisionField, AddsField}
		for _, part := range c.spec.Feed.names() {
			scan.Fields = append(scan.Fields, partField(part))
		}
	}
	batch, err := c.table.Feed(ctx, scan)
	if err != nil {
		return page, c.wrap("feed", err)
	}
	switch {
	case query.Token == "":
		token.begin(batch)
	case batch.IsElsewhere, !token.looksBack && max(token.since, token.after.At) < batch.Forgotten:
		return page, c.wrap("feed", ErrForgotten)
	}
	page.More = batch.More
	for _, raw := range batch.Changes {
		change, err := c.feedChange(raw, token, query.WithDocuments, true)
		if err != nil {
			return page, c.wrap("feed", err)
		}
		page.Changes = append(page.Changes, change)
	}
	c.restless.settled(batch.Changes)
	if !batch.More && batch.Until.Time().Sub(token.walked.Time()) >= c.SettlingTime()*5/4 {
		if err := c.showRestless(ctx, query, &token, batch.Until, &page); err != nil {
			return page, c.wrap("feed", err)
		}
	}
	if batch.Next.At >= token.after.At { // it is older if this process learned less of the present than another
		token.after, token.chapter, token.seen = batch.Next, batch.Chapter, batch.Seen
		if !batch.More {
			token.since, token.isFirst, token.looksBack = batch.Next.At, false, false
		}
	}
	page.Next = c.feedToken(token)
	return page, nil
}

// feedChange returns a change for a follower. While the latest change of a part has not settled, what it tells of
// may not be stored beside the document yet. So its revision is one of before, and the follower reads the part
// again when it has settled.
func (c *Collection[K, T]) feedChange(raw RawChange, since feedToken, withDocument, isSettled bool) (change FeedChange[K, T], err error) {
	change = FeedChange[K, T]{ID: keyOf[K](raw.ID), Kind: DocumentDeleted, Time: raw.At.Time()}
	if raw.Document == nil {
		return change, nil
	}
	change.Kind = DocumentChanged
	if since.isFirst || raw.Made > since.since {
		change.Kind = DocumentCreated
	}
	adds, _ := raw.Document.Lookup(AddsField).Int64OK()
	if change.Revision, err = RevisionOf(raw.Document); err != nil {
		return change, err
	}
	change.Revision += adds
	change.Parts = make(map[string]int64)
	for _, part := range c.spec.Feed.names() {
		revision, _ := raw.Document.Lookup(partField(part)).Int64OK()
		switch {
		case part == c.spec.Feed.Rest:
			revision++
		case !isSettled:
			revision = max(revision-1, 0)
		}
		change.Parts[part] = revision
	}
	if !withDocument {
		return change, nil
	}
	document, err := c.decode(raw.Document)
	change.Document = &document
	return change, err
}

func keyOf[K Key](value Value) K {
	key, _ := value.BSON().(K)
	return key
}

// Touch tells the followers of a document that something beside it has changed, in one of its
// parts, and sets fields as Set does. Without a feed there are no followers. Errors: ErrNotFound.
func (c *Collection[K, T]) Touch(ctx context.Context, id K, part string, set map[string]any) error {
	touch := Change{ID: ValueOf(id)}
	if c.spec.Feed != nil {
		touch.Add = []Amount{{partField(part), 1}}
	} else if len(set) == 0 {
		return nil
	}
	_, _, err := c.modify(ctx, touch, set)
	return c.wrap("touch", err)
}

// SettlingTime returns the settling time of the collection's feed; 0 if it has none.
func (c *Collection[K, T]) SettlingTime() time.Duration {
	if c.spec.Feed == nil {
		return 0
	}
	return c.spec.SettlingTime()
}

// feedToken is the content of a token.
type feedToken struct {
	// chapter and seen are as in FeedBatch.
	chapter int64
	seen    Moment
	// since is when the follower last had all changes, or when it began.
	since Moment
	after FeedPosition
	// isFirst says that it never had all changes. If it looksBack, it began at since and has not come to the present:
	// what is forgotten by then is left out.
	isFirst, looksBack bool
	// walked is up to what moment all had settled when the follower was last shown the restless documents. If it
	// isWalking through them, it is at the one with the id shown; at the first if that is none.
	walked    Moment
	isWalking bool
	shown     Value
}

// noMoment is before all moments of a store.
const noMoment Moment = 1

// startAt makes the token of a start one of a start at a moment. A store may count in seconds.
func (t *feedToken) startAt(query FeedQuery) error {
	if query.Token != "" {
		return ErrBadToken
	}
	at := MomentOf(query.Start.Truncate(time.Second))
	*t = feedToken{after: FeedPosition{At: at - min(at, 1)}, since: noMoment, looksBack: true}
	return nil
}

// begin notes what the first page of a follower knows.
func (t *feedToken) begin(batch FeedBatch) {
	t.chapter, t.seen = batch.Chapter, batch.Seen
	if t.isFirst {
		t.since = batch.Until
		return
	}
	t.after.At = min(t.after.At, batch.Until)
	t.since = max(t.after.At, noMoment)
}

const (
	// feedTokenBytes is the length of a token without its origin and the ids.
	feedTokenBytes = 5*8 + 1
	// The bits of a token say that it isFirst, isWalking and looksBack, and which ids it has.
	firstWalk, walksRestless, hasAfter, hasShown, looksBack = 1, 2, 4, 8, 16
)

// feedOrigin returns a hash that binds a token to the collection's feed.
func (c *Collection[K, T]) feedOrigin() []byte {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte("feed\x00" + c.spec.Name))
	return binary.BigEndian.AppendUint32(nil, sum.Sum32())
}

func (c *Collection[K, T]) feedToken(token feedToken) string {
	raw := binary.BigEndian.AppendUint64(c.feedOrigin(), uint64(token.chapter)) // #nosec G115 -- the same bits
	raw = binary.BigEndian.AppendUint64(raw, uint64(token.seen))
	raw = binary.BigEndian.AppendUint64(raw, uint64(token.since))
	raw = binary.BigEndian.AppendUint64(raw, uint64(token.after.At))
	raw = binary.BigEndian.AppendUint64(raw, uint64(token.walked))
	bits, ids := byte(0), []Value(nil)
	if token.isFirst {
		bits = firstWalk
	}
	if token.isWalking {
		bits |= walksRestless
	}
	if token.looksBack {
		bits |= looksBack
	}
	if !token.after.ID.IsNone() {
		bits, ids = bits|hasAfter, append(ids, token.after.ID)
	}
	if !token.shown.IsNone() {
		bits, ids = bits|hasShown, append(ids, token.shown)
	}
	return EncodeToken(AppendValues(append(raw, bits), ids...))
}

// parseFeedToken decodes a token, or returns ErrBadToken.
func (c *Collection[K, T]) parseFeedToken(token string) (parsed feedToken, err error) {
	if token == "" {
		return feedToken{isFirst: true}, nil
	}
	raw, err := DecodeToken(token)
	if err != nil || len(raw) < originBytes+feedTokenBytes || string(raw[:originBytes]) != string(c.feedOrigin()) {
		return parsed, ErrBadToken
	}
	raw = raw[originBytes:]
	parsed.chapter = int64(binary.BigEndian.Uint64(raw)) // #nosec G115 -- the same bits
	parsed.seen, parsed.since = Moment(binary.BigEndian.Uint64(raw[8:])), Moment(binary.BigEndian.Uint64(raw[16:]))
	parsed.after.At, parsed.walked = Moment(binary.BigEndian.Uint64(raw[24:])), Moment(binary.BigEndian.Uint64(raw[32:]))
	bits := raw[feedTokenBytes-1]
	parsed.isFirst, parsed.isWalking, parsed.looksBack = bits&firstWalk != 0, bits&walksRestless != 0, bits&looksBack != 0
	raw = raw[feedTokenBytes:]
	if bits&hasAfter != 0 {
		parsed.after.ID, raw, err = c.cutID(raw)
	}
	if err == nil && bits&hasShown != 0 {
		parsed.shown, raw, err = c.cutID(raw)
	}
	if err != nil || len(raw) > 0 || bits >= 2*looksBack {
		return parsed, ErrBadToken
	}
	return parsed, nil
}

// cutID decodes the id at the beginning of a part of a token.
func (c *Collection[K, T]) cutID(raw []byte) (Value, []byte, error) {
	if c.spec.ID == Int64 {
		number, rest, err := keys.CutInt64(raw)
		return ValueOf(number), rest, err
	}
	text, rest, err := keys.CutString(raw)
	return ValueOf(text), rest, err
}

// errNoFeed is the error of Feed in a collection that declares no feed.
var errNoFeed = errors.New("docstore: the collection declares no feed")

// CheckFeed returns an error if a collection declares no feed, or the scan is not valid.
func (s Spec) CheckFeed(scan FeedScan) error {
	switch {
	case s.Feed == nil:
		return errNoFeed
	case scan.Limit < 1:
		return errors.New("docstore: the limit must be 1 or more")
	case !scan.After.ID.IsNone() && scan.After.ID.kind != s.ID:
		return errors.New("docstore: the position has an id of another kind")
	}
	return nil
}
