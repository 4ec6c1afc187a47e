package poi

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/service"
)

// keptOwn bounds the identifiers that an export holds in memory at a time: 16 MB. An owner with more
// landmarks that were not imported costs another reading of them for each million.
const keptOwn = 1 << 20

// ownIDs is how many identifiers it reads at a time.
const ownIDs = 1000

// poiID is a landmark without its content.
type poiID struct {
	ID int64 `bson:"_id"`
}

// inKeyOrder iterates over the landmarks of an owner, or of all owners if ownerID is 0, in the order
// of their owners and export keys. An error ends the iteration. A landmark that is created or
// deleted meanwhile may or may not appear; every other one appears exactly once.
func (s *server) inKeyOrder(ctx context.Context, ownerID int64) iter.Seq2[poi, error] {
	if ownerID != 0 {
		return s.ofOwner(ctx, ownerID, keptOwn)
	}
	return func(yield func(poi, error) bool) {
		for from, isEnd := int64(1), false; !isEnd; {
			var whole []poi
			var err error
			if whole, from, isEnd, err = s.nextOwners(ctx, from); err != nil {
				yield(poi{}, err)
				return
			}
			next := all(whole)
			if len(whole) == 0 && !isEnd { // from has more landmarks than a page
				next = s.ofOwner(ctx, from, keptOwn)
				from++
			}
			for p, err := range next {
				if !yield(p, err) || err != nil {
					return
				}
			}
		}
	}
}

// nextOwners returns all landmarks of some owners in the order of inKeyOrder, from an owner on. The
// owner next comes after them. There may be none, because next has more than a page.
func (s *server) nextOwners(ctx context.Context, from int64) (whole []poi, next int64, isEnd bool, err error) {
	page, err := s.pois.Documents.Page(ctx, docstore.Query{
		Where: byRequest().All().Within(docstore.Span{From: docstore.ValueOf(docstore.OwnedKey(from, ""))}).Everywhere(), Limit: service.StreamBatch,
	})
	if err != nil {
		return nil, 0, false, err
	}
	whole = page.Documents
	if page.Next != "" {
		next = whole[len(whole)-1].OwnerID
		whole = slices.DeleteFunc(whole, func(p poi) bool { return p.OwnerID == next })
	}
	slices.SortFunc(whole, func(a, b poi) int {
		return cmp.Or(cmp.Compare(a.OwnerID, b.OwnerID), cmp.Compare(exportKey(a), exportKey(b)))
	})
	return whole, next, page.Next == "", nil
}

func all(pois []poi) iter.Seq2[poi, error] {
	return func(yield func(poi, error) bool) {
		for _, p := range pois {
			if !yield(p, nil) {
				return
			}
		}
	}
}

// ofOwner iterates over the landmarks of an owner in the order of their export keys. kept is how
// many identifiers it holds.
func (s *server) ofOwner(ctx context.Context, ownerID int64, kept int) iter.Seq2[poi, error] {
	return func(yield func(poi, error) bool) {
		nextOwn, stopOwn := iter.Pull2(s.ownOf(ctx, ownerID, kept))
		defer stopOwn()
		own, err, isOwn := nextOwn()
		for imported, importedErr := range s.importedOf(ctx, ownerID) {
			for isOwn && err == nil && importedErr == nil && exportKey(own) < exportKey(imported) {
				if !yield(own, nil) {
					return
				}
				own, err, isOwn = nextOwn()
			}
			if err == nil {
				err = importedErr
			}
			if err != nil {
				yield(poi{}, err)
				return
			}
			if !yield(imported, nil) {
				return
			}
		}
		for ; isOwn; own, err, isOwn = nextOwn() {
			if !yield(own, err) || err != nil {
				return
			}
		}
	}
}

// importedOf iterates over an owner's imported landmarks in the order of their keys, which is that of
// the index.
func (s *server) importedOf(ctx context.Context, ownerID int64) iter.Seq2[poi, error] {
	query := docstore.Query{Where: byRequest().In(docstore.Between(
		docstore.OwnedKey(ownerID, importPrefix), docstore.OwnedKey(ownerID, importEnd))).Everywhere(), Limit: service.StreamBatch}
	return func(yield func(poi, error) bool) {
		for pois, err := range s.pois.Documents.Batches(ctx, query) {
			if err != nil {
				yield(poi{}, err)
				return
			}
			for _, p := range pois {
				if !yield(p, nil) {
					return
				}
			}
		}
	}
}

// ownOf iterates over an owner's landmarks that were not imported, in the order of their export
// keys. No index has them in that order, so it looks for the first of them, again and again.
func (s *server) ownOf(ctx context.Context, ownerID int64, kept int) iter.Seq2[poi, error] {
	return func(yield func(poi, error) bool) {
		for last, more := int64(0), true; more; {
			var ids []int64
			var err error
			if ids, more, err = s.firstOwn(ctx, ownerID, last, kept); err != nil {
				yield(poi{}, err)
				return
			}
			if len(ids) > 0 {
				last = ids[len(ids)-1]
			}
			for chunk := range slices.Chunk(ids, service.StreamBatch) {
				pois, err := s.pois.Documents.GetMany(ctx, chunk)
				if err != nil {
					yield(poi{}, err)
					return
				}
				slices.SortFunc(pois, func(a, b poi) int { return compareDecimals(a.ID, b.ID) })
				for _, p := range pois {
					if !yield(p, nil) {
						return
					}
				}
			}
		}
	}
}

// firstOwn returns the identifiers of the first landmarks after a landmark, 0 for the beginning, in
// the order of ownOf. more is true if there are more than kept.
func (s *server) firstOwn(ctx context.Context, ownerID, after int64, kept int) (ids []int64, more bool, err error) {
	query := docstore.Query{
		Where: byRequest().In(
			docstore.Between(docstore.OwnedKey(ownerID, ""), docstore.OwnedKey(ownerID, importPrefix)),
			docstore.Between(docstore.OwnedKey(ownerID, importEnd), docstore.OwnedKey(ownerID+1, ""))).Everywhere(),
		Limit: ownIDs,
	}
	for page, err := range s.identifiers.BatchesUpTo(ctx, query, 0) {
		if err != nil {
			return nil, false, err
		}
		for _, p := range page {
			if compareDecimals(p.ID, after) > 0 {
				ids = append(ids, p.ID)
			}
		}
		if len(ids) > 2*kept {
			slices.SortFunc(ids, compareDecimals)
			ids, more = ids[:kept], true
		}
	}
	slices.SortFunc(ids, compareDecimals)
	if len(ids) > kept {
		ids, more = ids[:kept], true
	}
	return ids, more, nil
}

// compareDecimals compares two numbers, which are not negative, as their decimal digits compare as
// texts.
func compareDecimals(a, b int64) int {
	return cmp.Or(cmp.Compare(filled(a), filled(b)), cmp.Compare(a, b))
}

// filled appends zeros to the digits of a number until there are 18.
func filled(n int64) int64 {
	for n > 0 && n < 1e17 {
		n *= 10
	}
	return n
}
