package serve

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/internal/content/aliases"
	"github.com/waybook/waybook/internal/content/child"
	"github.com/waybook/waybook/internal/content/comments"
	"github.com/waybook/waybook/internal/id"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// item is a child of a unit. It is left out if it has no id.
type item[C any] struct {
	oldID    string
	id       int64
	document C
	// isBefore says that an earlier record has it, and that this one only keeps it.
	isBefore bool
}

// difference is what differs between stored children and those of a record.
type difference[C any] struct {
	missing, changed []C
	// gone are stored and not in the record. back are those missing that users have removed.
	gone, back []int64
	// isLatest says that the record has a higher id than the stored content knows.
	isLatest bool
}

// children are the photos or the comments of the units of a call.
type children[P, C any] struct {
	set   *child.Set[P, C]
	moved child.Moved[C]
	now   func() time.Time
	// isRevival says that those that users have removed come back.
	isRevival bool
	// removed returns the number of a report that counts them.
	removed func(*typev1.MoveRemoved) *int32

	items       map[*unit[P]][]item[C]
	differences map[*unit[P]]*difference[C]
}

func newChildren[P, C any](
	set *child.Set[P, C], moved child.Moved[C], now func() time.Time, isRevival bool, removed func(*typev1.MoveRemoved) *int32,
) *children[P, C] {
	return &children[P, C]{set: set, moved: moved, now: now, isRevival: isRevival, removed: removed, items: map[*unit[P]][]item[C]{}, differences: map[*unit[P]]*difference[C]{}}
}

func (c *children[P, C]) take(u *unit[P], all []Child[C], before []string) {
	items := make([]item[C], len(all), len(all)+len(before))
	for i := range all {
		items[i] = item[C]{oldID: all[i].OldID, document: all[i].Document}
	}
	for _, oldID := range before {
		items = append(items, item[C]{oldID: oldID, isBefore: true})
	}
	c.items[u] = items
}

// pending is an item whose identifier is being sought.
type pending[P, C any] struct {
	u *unit[P]
	n int
	*item[C]
}

func (c *children[P, C]) locate(ctx context.Context, units []*unit[P]) error {
	taken := map[int64]bool{}
	var texts []pending[P, C]
	for _, u := range units {
		for n := range c.items[u] {
			each := pending[P, C]{u, n, &c.items[u][n]}
			if !c.set.Small.Admits(each.oldID) {
				c.leaveOut(each, "ID_NOT_SMALL", c.set.Small.NotAdmitted())
				continue
			}
			if at := c.idOf(each, 0); !aliases.IsText(at) {
				c.identify(each, at, taken)
			} else {
				texts = append(texts, each)
			}
		}
	}
	for probe := 0; len(texts) > 0; probe++ {
		if probe == id.Probes {
			for _, each := range texts {
				c.leaveOut(each, "ID_TAKEN", "others have all identifiers that this old identifier could have")
			}
			break
		}
		var err error
		if texts, err = c.locateAt(ctx, texts, taken, probe); err != nil {
			return err
		}
	}
	return nil
}

// locateAt locates items at a probe and returns those whose identifiers others have.
func (c *children[P, C]) locateAt(ctx context.Context, texts []pending[P, C], taken map[int64]bool, probe int) (others []pending[P, C], err error) {
	ids := make([]int64, len(texts))
	for i, each := range texts {
		ids[i] = c.idOf(each, probe)
	}
	present, err := c.set.Present(ctx, ids, c.moved)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for i, each := range texts {
		stored, isStored := present[ids[i]]
		isOther := isStored && c.set.RequestKey(&stored) != aliases.RequestPrefix+each.oldID
		isRepeated := seen[each.oldID]
		if !isRepeated && (isOther || taken[ids[i]]) {
			others = append(others, each)
			continue
		}
		seen[each.oldID] = true
		c.identify(each, ids[i], taken)
	}
	return others, nil
}

func (c *children[P, C]) idOf(each pending[P, C], probe int) int64 {
	return idOf(each.oldID, id.PlaceOf(each.u.id), probe, func(number int64) bool { return id.IsDrawn(number, c.now()) })
}

// identify gives an item its identifier.
func (c *children[P, C]) identify(each pending[P, C], at int64, taken map[int64]bool) {
	if taken[at] {
		c.leaveOut(each, "REPEATED", "an earlier one has this old identifier")
		return
	}
	taken[at] = true
	each.id = at
	c.moved.Identify(&each.document, at, each.u.id, aliases.RequestPrefix+each.oldID)
}

func (c *children[P, C]) leaveOut(each pending[P, C], reason, message string) {
	each.item.id = 0
	if each.isBefore {
		return // its own record says so
	}
	each.u.leaveOut(fmt.Sprintf("%s[%d].old_id", c.moved.Field, each.n), reason, message)
}

// of returns the children of a unit that its record has and that are not left out.
func (c *children[P, C]) of(u *unit[P]) (documents []C) {
	for i := range c.items[u] {
		if c.items[u][i].id != 0 && !c.items[u][i].isBefore {
			documents = append(documents, c.items[u][i].document)
		}
	}
	return documents
}

func (c *children[P, C]) store(ctx context.Context, units []*unit[P]) error {
	var all []C
	for _, u := range units {
		all = append(all, c.of(u)...)
	}
	there, err := c.set.Store(ctx, all, c.moved)
	if err != nil || len(there) == 0 {
		return err
	}
	// An interrupted move has stored them, or they are under other content.
	present, err := c.set.Present(ctx, c.idsOf(there), c.moved)
	if err != nil {
		return err
	}
	var changed []C
	for _, each := range there {
		stored, isThere := present[c.moved.ID(&each)]
		if isThere && c.set.ParentOf(&stored) == c.set.ParentOf(&each) && !c.moved.IsSame(&stored, &each) {
			changed = append(changed, each)
		}
	}
	for _, u := range units {
		c.leaveOutForeign(u, present)
	}
	return c.set.Rewrite(ctx, changed, c.moved)
}

// leaveOutForeign leaves out the items whose identifiers are under other content.
func (c *children[P, C]) leaveOutForeign(u *unit[P], present map[int64]C) {
	for n := range c.items[u] {
		each := &c.items[u][n]
		if stored, isThere := present[each.id]; isThere && c.set.ParentOf(&stored) != u.id {
			c.leaveOut(pending[P, C]{u, n, each}, "ID_TAKEN", "it is under other content; if the old service has moved it here, update once more")
		}
	}
}

func (c *children[P, C]) idsOf(documents []C) []int64 {
	ids := make([]int64, len(documents))
	for i := range documents {
		ids[i] = c.moved.ID(&documents[i])
	}
	return ids
}

func (c *children[P, C]) clear(ctx context.Context, u *unit[P]) error {
	gone, err := c.gone(ctx, u)
	if err != nil {
		return err
	}
	return c.set.Drop(ctx, gone)
}

// gone returns the stored children of a unit that were moved in and that the record lacks.
func (c *children[P, C]) gone(ctx context.Context, u *unit[P]) ([]int64, error) {
	has := map[int64]bool{}
	for _, each := range c.items[u] {
		has[each.id] = true
	}
	return c.set.Those(ctx, u.id, func(childID int64) bool { return id.IsMoved(childID) && !c.set.Small.Has(childID) && !has[childID] }, c.moved)
}

func (c *children[P, C]) count(ctx context.Context, u *unit[P]) (err error) {
	latest := c.latest(u)
	if u.isKnown {
		// Earlier records of the content have stored some, too.
		if latest, err = c.set.Highest(ctx, u.id, c.moved); err != nil {
			return err
		}
	}
	*c.set.Latest(u.document) = latest
	return nil
}

// latest returns the highest id of a unit's children.
func (c *children[P, C]) latest(u *unit[P]) (latest int64) {
	for _, each := range c.items[u] {
		latest = max(latest, each.id)
	}
	return latest
}

func (c *children[P, C]) compare(ctx context.Context, units []*unit[P]) error {
	var ids []int64
	for _, u := range units {
		for _, each := range c.items[u] {
			if each.id != 0 && !each.isBefore {
				ids = append(ids, each.id)
			}
		}
	}
	present, err := c.set.Present(ctx, ids, c.moved)
	if err != nil {
		return err
	}
	removed, err := c.set.Removed(ctx, slices.DeleteFunc(ids, func(childID int64) bool {
		_, isThere := present[childID]
		return isThere
	}))
	if err != nil {
		return err
	}
	var looks []func() error
	for _, u := range units {
		c.leaveOutForeign(u, present)
		d := &difference[C]{isLatest: c.latest(u) > *c.set.Latest(u.stored), back: c.leaveOutRemoved(u, removed)}
		c.differences[u] = d
		for _, each := range c.of(u) {
			stored, isThere := present[c.moved.ID(&each)]
			switch {
			case !isThere:
				d.missing = append(d.missing, each)
			case !c.moved.IsSame(&stored, &each):
				d.changed = append(d.changed, each)
			}
		}
		if u.isComplete && *c.set.Latest(u.stored) > 0 {
			looks = append(looks, func() (err error) {
				d.gone, err = c.gone(ctx, u)
				return err
			})
		}
	}
	if len(looks) == 0 {
		return nil
	}
	return c.set.Parents.Together(looks...)
}

// leaveOutRemoved leaves out what users have removed, or returns it if it comes back.
func (c *children[P, C]) leaveOutRemoved(u *unit[P], removed map[int64]bool) (back []int64) {
	for n := range c.items[u] {
		switch each := &c.items[u][n]; {
		case !removed[each.id]:
		case c.isRevival:
			back = append(back, each.id)
		default:
			each.id = 0
			if u.result.Deleted == nil {
				u.result.Deleted = &typev1.MoveRemoved{}
			}
			*c.removed(u.result.Deleted)++
			u.result.Problems = append(u.result.Problems, &typev1.MoveProblem{
				Field: fmt.Sprintf("%s[%d]", c.moved.Field, n), Reason: "DELETED", Message: "it was removed here",
			})
		}
	}
	return back
}

func (c *children[P, C]) differs(u *unit[P]) bool {
	d := c.differences[u]
	return d.isLatest || len(d.missing)+len(d.changed)+len(d.gone) > 0
}

func (c *children[P, C]) isAfterContent() bool { return false }

func (c *children[P, C]) report(u *unit[P], to *typev1.MoveRemoved) {
	*c.removed(to) = int32(len(c.differences[u].gone)) // #nosec G115 -- a record has few
}

func (c *children[P, C]) apply(ctx context.Context, u *unit[P]) error {
	if !c.differs(u) {
		return nil
	}
	began := time.Now()
	err := c.set.Raise(ctx, u.id, c.latest(u)) // before the children, as in child.Set.Add
	if err == nil {
		err = c.change(ctx, u)
	}
	return c.set.Parents.TouchAgain(ctx, u.id, c.set.Part, began, err)
}

// change makes the stored children equal to those of the record.
func (c *children[P, C]) change(ctx context.Context, u *unit[P]) error {
	d := c.differences[u]
	if err := c.set.Restore(ctx, d.missing, d.back, c.moved); err != nil {
		return err
	}
	if err := c.set.Rewrite(ctx, d.changed, c.moved); err != nil {
		return err
	}
	return c.set.Drop(ctx, d.gone)
}

// commentsMoved tells how comments are stored.
var commentsMoved = child.Moved[comments.Comment]{
	Field: "comments",
	Identify: func(c *comments.Comment, id, parentID int64, requestKey string) {
		c.ID, c.ParentID, c.RequestKey = id, parentID, requestKey
	},
	ID: func(c *comments.Comment) int64 { return c.ID },
	IsSame: func(a, b *comments.Comment) bool {
		return a.AuthorID == b.AuthorID && a.Text == b.Text && a.CreateTime.Equal(b.CreateTime) &&
			isSameGuest(a.Guest, b.Guest) && isSameReply(a.Reply, b.Reply)
	},
	Take: func(stored, from *comments.Comment) {
		stored.AuthorID, stored.Guest = from.AuthorID, from.Guest
		stored.Text, stored.CreateTime, stored.Reply = from.Text, from.CreateTime, from.Reply
	},
}

func isSameGuest(a, b *comments.Guest) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

func isSameReply(a, b *comments.Reply) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Text == b.Text && a.CreateTime.Equal(b.CreateTime)
}

// Comments returns the comments of a record as they are stored.
func Comments(moved []*typev1.MovedComment) []Child[comments.Comment] {
	all := make([]Child[comments.Comment], len(moved))
	for i, each := range moved {
		document := comments.Comment{AuthorID: each.GetAuthorId(), CreateTime: Time(each.GetCreateTime()), Text: each.GetText()}
		if guest := each.GetGuest(); guest != nil {
			document.Guest = &comments.Guest{Name: guest.GetName(), IconURL: guest.GetIconUrl()}
		}
		if reply := each.GetReply(); reply != nil {
			document.Reply = &comments.Reply{CreateTime: Time(reply.GetCreateTime()), Text: reply.GetText()}
		}
		all[i] = Child[comments.Comment]{OldID: each.GetOldId(), Document: document}
	}
	return all
}

// Time returns a time as it is stored: in whole milliseconds.
func Time(t *timestamppb.Timestamp) time.Time { return t.AsTime().Truncate(time.Millisecond) }

// TimeOr returns a time, or another if it is not set.
func TimeOr(t, otherwise *timestamppb.Timestamp) time.Time { return Time(cmp.Or(t, otherwise)) }
