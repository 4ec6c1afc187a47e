package poi

import (
	"context"
	"errors"
	"io"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/internal/content/nearby"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/platform/service"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

const (
	// importPrefix begins the request key of an imported landmark, and freedPrefix that of one that was
	// deleted. No UUID and no key of docstore.Create begins that way. importEnd is after all of the former.
	importPrefix, importEnd = "import:", "import;"
	freedPrefix             = "freed:"
	// maxFailures is how many rejected items a reply lists. maxShownKey is how many bytes
	// of each key it shows.
	maxFailures = 1000
	maxShownKey = 100
	// maxImportTries bounds the attempts to store an item. An attempt fails when the id is
	// taken, or when the landmark with its key is deleted between two reads.
	maxImportTries = 16
)

// ImportPois creates landmarks in batches, and updates those that differ if asked to.
func (s *server) ImportPois(stream grpc.ClientStreamingServer[poiv1.ImportPoisRequest, poiv1.ImportPoisResponse]) error {
	ctx := stream.Context()
	summary := importSummary{reply: &poiv1.ImportPoisResponse{}}
	ownerID := int64(0)
	for {
		batch, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return stream.SendAndClose(summary.reply)
		}
		if err != nil {
			return err
		}
		if ownerID != batch.GetOwnerId() {
			if _, err := s.profiles.Require(ctx, batch.GetOwnerId()); err != nil {
				return err
			}
			ownerID = batch.GetOwnerId()
		}
		outcomes, err := s.importBatch(ctx, batch)
		if err != nil {
			return err
		}
		summary.add(batch.GetPois(), outcomes)
	}
}

// outcome is the result of an item. The zero outcome means that it was created.
type outcome struct {
	// unchanged is the id of the stored landmark, if it equals the item.
	unchanged int64
	// isUpdated reports that the stored landmark was given the item's content.
	isUpdated bool
	// reason and message explain a rejection.
	reason, message string
}

// importBatch imports items independently of each other. If the batch is to be validated only, it
// stores nothing.
func (s *server) importBatch(ctx context.Context, batch *poiv1.ImportPoisRequest) ([]outcome, error) {
	outcomes := make([]outcome, len(batch.GetPois()))
	var open []int
	for i, item := range batch.GetPois() {
		violations, err := service.Violations(s.validator, item)
		switch {
		case err != nil:
			return nil, err
		case len(violations) > 0:
			outcomes[i] = invalid(violations)
		default:
			open = append(open, i)
		}
	}
	for try := range maxImportTries {
		var err error
		if open, err = s.recogniseOwn(ctx, batch, open, outcomes); err != nil {
			return nil, err
		}
		if batch.GetValidateOnly() {
			return outcomes, s.recogniseImported(ctx, batch, open, outcomes)
		}
		if open, err = s.recogniseFirst(ctx, batch, open, outcomes); err != nil {
			return nil, err
		}
		if open, err = s.insertImported(ctx, batch, open, outcomes, try); err != nil {
			return nil, err
		}
		if len(open) == 0 {
			return outcomes, s.confirm(ctx, outcomes)
		}
	}
	return nil, apierror.New(codes.Aborted, "CONFLICT", "other calls kept changing the same landmarks; retry")
}

// confirm makes the landmarks durable that were found unchanged.
func (s *server) confirm(ctx context.Context, outcomes []outcome) error {
	var unchanged []int64
	for _, o := range outcomes {
		if o.unchanged != 0 {
			unchanged = append(unchanged, o.unchanged)
		}
	}
	return s.pois.Confirm(ctx, unchanged)
}

// recogniseOwn settles the open items whose keys are ExportPois's keys of the owner's
// landmarks that were not imported. It returns the other items.
func (s *server) recogniseOwn(
	ctx context.Context, batch *poiv1.ImportPoisRequest, open []int, outcomes []outcome,
) (others []int, err error) {
	items := batch.GetPois()
	var ids []int64
	for _, i := range open {
		if poiID, ok := ownID(items[i].GetKey()); ok {
			ids = append(ids, poiID)
		}
	}
	if len(ids) == 0 {
		return open, nil
	}
	found, err := s.pois.Documents.GetMany(ctx, ids)
	if err != nil {
		return nil, err
	}
	own := make(map[string]poi, len(found))
	for _, p := range found {
		if p.OwnerID == batch.GetOwnerId() && !strings.HasPrefix(docstore.BareKey(p.RequestKey), importPrefix) {
			own[exportKey(p)] = p
		}
	}
	for _, i := range open {
		stored, isOwn := own[items[i].GetKey()]
		if isOwn {
			outcomes[i], isOwn, err = s.outcomeOf(ctx, batch, stored, items[i])
		}
		if err != nil {
			return nil, err
		}
		if !isOwn {
			others = append(others, i)
		}
	}
	return others, nil
}

// recogniseImported settles the open items whose keys imported landmarks have. The others have the
// outcome that they would be created.
func (s *server) recogniseImported(ctx context.Context, batch *poiv1.ImportPoisRequest, open []int, outcomes []outcome) error {
	for _, i := range open {
		item := batch.GetPois()[i]
		stored, err := s.findImported(ctx, batch.GetOwnerId(), item)
		if errors.Is(err, docstore.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if outcomes[i], _, err = s.outcomeOf(ctx, batch, stored, item); err != nil {
			return err
		}
	}
	return nil
}

// recogniseFirst settles the open items whose keys imported landmarks have, if others would use small identifiers
// up for nothing. It returns the other items.
func (s *server) recogniseFirst(
	ctx context.Context, batch *poiv1.ImportPoisRequest, open []int, outcomes []outcome,
) (others []int, err error) {
	if s.pois.Small == nil {
		return open, nil
	}
	for _, i := range open {
		stored, err := s.findImported(ctx, batch.GetOwnerId(), batch.GetPois()[i])
		isSettled := err == nil
		if isSettled {
			outcomes[i], isSettled, err = s.outcomeOf(ctx, batch, stored, batch.GetPois()[i])
		}
		if err != nil && !errors.Is(err, docstore.ErrNotFound) {
			return nil, err
		}
		if !isSettled {
			others = append(others, i)
		}
	}
	return others, nil
}

func (s *server) findImported(ctx context.Context, ownerID int64, item *poiv1.ImportedPoi) (poi, error) {
	key := importPrefix + item.GetKey()
	return s.pois.Documents.Find(ctx, byRequest().Is(docstore.OwnedKey(ownerID, key)).At(id.PlaceOfKey(ownerID, key)))
}

// insertImported stores the open items and returns those to retry. taken is how often they were
// retried.
func (s *server) insertImported(
	ctx context.Context, batch *poiv1.ImportPoisRequest, open []int, outcomes []outcome, taken int,
) (again []int, err error) {
	documents := make([]poi, len(open))
	items, ownerID, now := batch.GetPois(), batch.GetOwnerId(), s.now()
	places := make([]id.Place, len(open))
	for n, i := range open {
		places[n] = id.PlaceOfKey(ownerID, importPrefix+items[i].GetKey())
	}
	ids, err := s.pois.DrawAllInOrder(ctx, s.ids, places, taken)
	if err != nil {
		return nil, err
	}
	for n, i := range open {
		key := importPrefix + items[i].GetKey()
		documents[n] = poi{ID: ids[n], OwnerID: ownerID, RequestKey: docstore.OwnedKey(ownerID, key), CreateTime: now, UpdateTime: now}
		take(&documents[n], items[i])
	}
	errs, err := s.pois.Documents.InsertMany(ctx, documents)
	if err != nil {
		return nil, err
	}
	for n, i := range open {
		var duplicate *docstore.DuplicateError
		switch {
		case errs[n] == nil:
			continue
		case !errors.As(errs[n], &duplicate):
			return nil, errs[n]
		case duplicate.Index != docstore.RequestIndex:
			again = append(again, i)
			continue
		}
		stored, err := s.findImported(ctx, ownerID, items[i])
		isSettled := err == nil
		if isSettled {
			outcomes[i], isSettled, err = s.outcomeOf(ctx, batch, stored, items[i])
		}
		switch {
		case err != nil && !errors.Is(err, docstore.ErrNotFound):
			return nil, err
		case !isSettled:
			again = append(again, i)
		}
	}
	return again, nil
}

// take gives a landmark the content of an item.
func take(p *poi, item *poiv1.ImportedPoi) {
	p.Name, p.Category = item.GetName(), int64(item.GetCategory())
	p.Lat, p.Lng = item.GetLocation().GetLat(), item.GetLocation().GetLng()
	p.Cell = nearby.CellOf(p.Lat, p.Lng)
}

// hasContent reports whether a landmark has the content of an item.
func hasContent(p poi, item *poiv1.ImportedPoi) bool {
	return p.Name == item.GetName() && p.Category == int64(item.GetCategory()) &&
		p.Lat == item.GetLocation().GetLat() && p.Lng == item.GetLocation().GetLng()
}

// outcomeOf returns the outcome of an item whose key a stored landmark has. It updates the landmark
// if the batch says so. isSettled is false if the landmark was deleted meanwhile.
func (s *server) outcomeOf(
	ctx context.Context, batch *poiv1.ImportPoisRequest, stored poi, item *poiv1.ImportedPoi,
) (_ outcome, isSettled bool, err error) {
	switch {
	case hasContent(stored, item):
		return outcome{unchanged: stored.ID}, true, nil
	case batch.GetMode() != poiv1.ImportMode_IMPORT_MODE_UPDATE:
		return outcome{reason: "KEY_TAKEN", message: "another landmark of the owner has this key, with other content"}, true, nil
	case batch.GetValidateOnly():
		return outcome{isUpdated: true}, true, nil
	}
	_, err = s.pois.UpdateBy(ctx, stored.OwnerID, stored.ID, func(p *poi) error {
		take(p, item)
		p.UpdateTime = s.now()
		return nil
	})
	if status.Code(err) == codes.NotFound {
		return outcome{}, false, nil
	}
	return outcome{isUpdated: true}, true, err
}

func invalid(violations []apierror.Violation) outcome {
	all := make([]string, len(violations))
	for i, v := range violations {
		all[i] = v.Field + ": " + v.Message
	}
	return outcome{reason: "INVALID_PARAMETER", message: strings.Join(all, "; ")}
}

// importSummary counts the outcomes of a call.
type importSummary struct {
	reply *poiv1.ImportPoisResponse
	// next is the position of the next item in the call.
	next int64
}

func (s *importSummary) add(items []*poiv1.ImportedPoi, outcomes []outcome) {
	for i, o := range outcomes {
		switch {
		case o.reason != "":
			s.reply.FailedCount++
			if len(s.reply.GetFailures()) < maxFailures {
				s.reply.Failures = append(s.reply.Failures, &poiv1.ImportFailure{
					Index: s.next, Key: shownKey(items[i].GetKey()), Reason: o.reason, Message: o.message,
				})
			}
		case o.unchanged != 0:
			s.reply.UnchangedCount++
		case o.isUpdated:
			s.reply.UpdatedCount++
		default:
			s.reply.CreatedCount++
		}
		s.next++
	}
}

// shownKey returns a key, or the beginning of a long one, so that rejected items do not
// fill the memory. The beginning is a copy, so that the rest can be freed.
func shownKey(key string) string {
	if len(key) <= maxShownKey {
		return strings.Clone(key)
	}
	return strings.ToValidUTF8(strings.Clone(key[:maxShownKey]), "")
}
