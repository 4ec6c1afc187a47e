package movein

import (
	"cmp"
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/internal/content/child"
	"github.com/waybook/waybook/internal/content/choices"
	"github.com/waybook/waybook/internal/content/comments"
	"github.com/waybook/waybook/internal/content/photos"
	"github.com/waybook/waybook/internal/docstore"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
)

// children are the photos or the comments of a call.
type children[P, D any] struct {
	mover *Mover[P]
	set   *child.Set[P, D]
	form  Form[D]
	items []*item[D]
	// parents are those of the items, by identifier. store sets them.
	parents map[int64]*P
}

func (c *children[P, D]) take(record *moveinv1.Record, result *moveinv1.Result, oldID, parentOldID string) {
	c.items = append(c.items, &item[D]{
		record: record, result: result, oldID: oldID, parentOldID: parentOldID, document: c.form.Document(record),
	})
}

// store stores children that are not there, in the order of their identifiers.
func (c *children[P, D]) store(ctx context.Context, isDry bool) error {
	if len(c.items) == 0 {
		return nil
	}
	var err error
	if c.parents, err = resolve(ctx, c.mover, c.items); err != nil {
		return err
	}
	items := open(c.items)
	for _, each := range items {
		if !c.set.Small.Admits(each.oldID) {
			each.refuse("ID_NOT_SMALL", "%s", c.set.Small.NotAdmitted())
		}
	}
	items = open(items)
	documents := table[D]{c.set.Children, c.form, c.set.RequestKey}
	if err := documents.locate(ctx, items); err != nil {
		return err
	}
	if items, err = c.withoutRemoved(ctx, open(items)); err != nil {
		return err
	}
	slices.SortFunc(items, func(a, b *item[D]) int { return cmp.Compare(a.id, b.id) })
	if isDry {
		return documents.insert(ctx, items, isDry)
	}
	began := time.Now()
	changed, err := c.raise(ctx, items)
	if err == nil {
		err = documents.insert(ctx, items, isDry)
	}
	for _, parentID := range changed {
		err = c.set.Parents.TouchAgain(ctx, parentID, began, err)
	}
	return err
}

// withoutRemoved refuses children that are under other content, or were removed here by users.
func (c *children[P, D]) withoutRemoved(ctx context.Context, items []*item[D]) ([]*item[D], error) {
	var missing []int64
	for _, each := range items {
		switch {
		case each.stored == nil:
			missing = append(missing, each.id)
		case c.set.ParentOf(each.stored) != each.parentID:
			each.refuse("ID_TAKEN", "it is under other content")
		}
	}
	removed, err := c.set.Removed(ctx, missing)
	if err != nil {
		return nil, err
	}
	for _, each := range items {
		if removed[each.id] {
			each.setDeleted()
		}
	}
	return open(items), nil
}

// raisesAtOnce is how many parents are raised at a time, each alone.
const raisesAtOnce = 16

// raise raises the highest ids of the parents of children that are not stored, which tells
// followers of the parents that they change. It returns those parents.
func (c *children[P, D]) raise(ctx context.Context, items []*item[D]) (changed []int64, err error) {
	highest := map[int64]int64{}
	for _, each := range items {
		if each.stored == nil {
			highest[each.parentID] = each.id // they are in order
		}
	}
	// A parent that needs no more than to be touched is raised as well: what was read of it may be
	// undone by a failover.
	var raised []int64
	alone := map[int64]bool{} // to be raised alone
	for parentID, latest := range highest {
		changed, alone[parentID] = append(changed, parentID), true
		if *c.set.Latest(c.parents[parentID]) < latest {
			raised = append(raised, parentID)
		}
	}
	err = c.set.Parents.Documents.UpdateMany(ctx, raised, func(parent *P) bool {
		parentID, latest := c.set.Parents.ID(parent), c.set.Latest(parent)
		*latest = max(*latest, highest[parentID])
		alone[parentID] = false
		return true
	})
	if err != nil {
		return changed, err
	}
	// UpdateMany does not see a parent that was inserted a moment ago.
	raising, within := errgroup.WithContext(ctx)
	raising.SetLimit(raisesAtOnce)
	for parentID, isAlone := range alone {
		if isAlone {
			raising.Go(func() error {
				_, err := c.set.Parents.RaiseBy(within, 0, parentID,
					docstore.Amount{Field: c.set.LatestField, By: highest[parentID]}, nil)
				return err
			})
		}
	}
	return changed, raising.Wait()
}

// photoForm tells how photos are stored.
var photoForm = Form[photos.Photo]{
	ID: func(p *photos.Photo) int64 { return p.ID },
	Identify: func(p *photos.Photo, id, parentID int64, requestKey string) {
		p.ID, p.ParentID, p.RequestKey = id, parentID, requestKey
	},
	Document: func(record *moveinv1.Record) photos.Photo {
		return photos.Photo{URL: record.GetPhoto().GetUrl(), Description: record.GetPhoto().GetDescription()}
	},
	Record: func(p *photos.Photo) proto.Message { return &moveinv1.Photo{Url: p.URL, Description: p.Description} },
}

// offerFiles says of the photos of a call that are stored without files how they get them.
func (m *Mover[P]) offerFiles(pictures *children[P, photos.Photo], isDry bool) {
	for _, each := range pictures.items {
		stored := each.stored
		if stored == nil && !isDry {
			stored = &each.document
		}
		if each.result.GetId() == 0 || stored == nil || stored.File != 0 || stored.URL != each.document.URL {
			continue
		}
		upload := &photov1.UploadStart{ActorId: m.Kind.Owner(pictures.parents[each.parentID]), PhotoId: each.id}
		if each.record.GetPhoto().GetAlbumId() != "" {
			upload.Parent = &photov1.UploadStart_AlbumId{AlbumId: each.parentID}
		} else {
			upload.Parent = &photov1.UploadStart_PoiId{PoiId: each.parentID}
		}
		each.result.Upload = upload
	}
}

// commentForm tells how comments are stored.
var commentForm = Form[comments.Comment]{
	ID: func(c *comments.Comment) int64 { return c.ID },
	Identify: func(c *comments.Comment, id, parentID int64, requestKey string) {
		c.ID, c.ParentID, c.RequestKey = id, parentID, requestKey
	},
	Document: func(record *moveinv1.Record) comments.Comment {
		given := record.GetComment()
		document := comments.Comment{AuthorID: given.GetAuthorId(), CreateTime: Time(given.GetCreateTime()),
			Text: given.GetText()}
		if given.GetAuthorId() == 0 {
			document.Guest = &comments.Guest{Name: given.GetAuthorName(), IconURL: given.GetAuthorIconUrl()}
		}
		if given.GetReply() != "" {
			document.Reply = &comments.Reply{CreateTime: TimeOr(given.GetReplyTime(), given.GetCreateTime()),
				Text: given.GetReply()}
		}
		return document
	},
	Record: func(c *comments.Comment) proto.Message {
		record := &moveinv1.Comment{AuthorId: c.AuthorID, CreateTime: timestamppb.New(c.CreateTime), Text: c.Text}
		if c.Guest != nil {
			record.AuthorName, record.AuthorIconUrl = c.Guest.Name, c.Guest.IconURL
		}
		if c.Reply != nil {
			record.Reply, record.ReplyTime = c.Reply.Text, timestamppb.New(c.Reply.CreateTime)
		}
		return record
	},
}

// chosen are the ballots or the recommendations of a call.
type chosen[P any] struct {
	mover   *Mover[P]
	counter *choices.Counter[P]
	items   []*item[choices.MovedIn]
}

func (c *chosen[P]) take(record *moveinv1.Record, result *moveinv1.Result, userID int64, value int32,
	parentOldID string) {
	c.items = append(c.items, &item[choices.MovedIn]{
		record: record, result: result, parentOldID: parentOldID,
		document: choices.MovedIn{UserID: userID, Value: value},
	})
}

// store stores choices that are not there, and counts them.
func (c *chosen[P]) store(ctx context.Context, isDry bool) error {
	if len(c.items) == 0 {
		return nil
	}
	parents, err := resolve(ctx, c.mover, c.items)
	if err != nil {
		return err
	}
	var moved []choices.MovedIn
	isRepeated := map[string]bool{}
	for _, each := range open(c.items) {
		each.document.ParentID = each.parentID
		each.document.Round = *c.counter.Round(parents[each.parentID])
		key := choices.IDOf(each.parentID, each.document.UserID)
		switch {
		case int(each.document.Value) > len(c.counter.Numbers(parents[each.parentID])):
			each.refuse("INVALID_PARAMETER", "choice: the vote has no choice %d", each.document.Value)
		case isRepeated[key]:
			each.refuse("REPEATED", "an earlier record of the request is of the same user")
		default:
			isRepeated[key] = true
			moved = append(moved, each.document)
		}
	}
	there, err := c.counter.Insert(ctx, moved, isDry)
	if err != nil {
		return err
	}
	for _, each := range open(c.items) {
		stored, isThere := there[choices.IDOf(each.parentID, each.document.UserID)]
		switch {
		case !isThere:
			each.result.Outcome = moveinv1.Outcome_OUTCOME_INSERTED
		case stored.Wanted == choices.None:
			each.setDeleted()
		case stored.Wanted != each.document.Value:
			each.result.Outcome, each.result.Fields = moveinv1.Outcome_OUTCOME_DIFFERENT, []string{"choice"}
		default:
			each.result.Outcome = moveinv1.Outcome_OUTCOME_UNCHANGED
		}
	}
	return nil
}
