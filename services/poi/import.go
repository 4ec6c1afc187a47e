package poi

import (
	"context"
	"errors"
	"io"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/platform/service"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

const (
	// importPrefix begins the request key of an imported landmark. No UUID and no key of
	// docstore.Create begins that way. importEnd is after all of them.
	importPrefix, importEnd = "import:", "import;"
	// maxFailures is how many rejected items a reply lists. maxShownKey is how many bytes
	// of each key it shows.
	maxFailures = 1000
	maxShownKey = 100
	// maxImportTries bounds the attempts to store an item. An attempt fails when the id is
	// taken, or when the landmark with its key is deleted between two reads.
	maxImportTries = 16
)

// ImportPois creates landmarks in batches.
func (s *Server) ImportPois(stream grpc.ClientStreamingServer[poiv1.ImportPoisRequest, poiv1.ImportPoisResponse]) error {
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
		if ownerID == 0 {
			if _, err := s.profiles.Require(ctx, batch.GetOwnerId()); err != nil {
				return err
			}
			ownerID = batch.GetOwnerId()
		}
		if batch.GetOwnerId() != ownerID {
			return apierror.Invalid("INVALID_PARAMETER", apierror.Violation{Field: "owner_id", Message: "must be the same in every batch of a call"})
		}
		outcomes, err := s.importBatch(ctx, ownerID, batch.GetPois())
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
	// reason and message explain a rejection.
	reason, message string
}

// importBatch imports items independently of each other.
func (s *Server) importBatch(ctx context.Context, ownerID int64, items []*poiv1.ImportedPoi) ([]outcome, error) {
	outcomes := make([]outcome, len(items))
	var open []int
	for i, item := range items {
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
	open, err := s.recogniseOwn(ctx, ownerID, items, open, outcomes)
	if err != nil {
		return nil, err
	}
	for try := range maxImportTries {
		if open, err = s.insertImported(ctx, ownerID, items, open, outcomes, try); err != nil {
			return nil, err
		}
		if len(open) == 0 {
			return outcomes, s.confirm(ctx, outcomes)
		}
	}
	return nil, apierror.New(codes.Aborted, "CONFLICT", "other calls kept changing the same landmarks; retry")
}

// confirm makes the landmarks durable that were found unchanged. An earlier call may have
// stored them and failed before a majority had them.
func (s *Server) confirm(ctx context.Context, outcomes []outcome) error {
	var unchanged []int64
	for _, o := range outcomes {
		if o.unchanged != 0 {
			unchanged = append(unchanged, o.unchanged)
		}
	}
	if len(unchanged) == 0 {
		return nil
	}
	durable, err := s.pois.Documents.GetDurable(ctx, unchanged)
	if err != nil {
		return err
	}
	isDurable := make(map[int64]bool, len(durable))
	for _, p := range durable {
		isDurable[p.ID] = true
	}
	for _, poiID := range unchanged {
		if isDurable[poiID] {
			continue
		}
		// It is new, or was deleted.
		if _, err := s.pois.Documents.GetLinearizable(ctx, poiID); err != nil && !errors.Is(err, docstore.ErrNotFound) {
			return err
		}
	}
	return nil
}

// recogniseOwn settles the open items whose keys are ExportPois's keys of the owner's
// landmarks that were not imported. It returns the other items.
func (s *Server) recogniseOwn(
	ctx context.Context, ownerID int64, items []*poiv1.ImportedPoi, open []int, outcomes []outcome,
) (others []int, err error) {
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
		if p.OwnerID == ownerID && !strings.HasPrefix(p.RequestKey, importPrefix) {
			own[exportKey(p)] = p
		}
	}
	for _, i := range open {
		if stored, ok := own[items[i].GetKey()]; ok {
			outcomes[i] = compare(stored, items[i])
		} else {
			others = append(others, i)
		}
	}
	return others, nil
}

// insertImported stores the open items and returns those to retry. taken is how often they were
// retried.
func (s *Server) insertImported(
	ctx context.Context, ownerID int64, items []*poiv1.ImportedPoi, open []int, outcomes []outcome, taken int,
) (again []int, err error) {
	documents := make([]poi, len(open))
	now := s.now()
	for n, i := range open {
		location, key := items[i].GetLocation(), importPrefix+items[i].GetKey()
		poiID, err := s.ids.NextInOrder(id.PlaceOfKey(ownerID, key), 0, taken)
		if err != nil {
			return nil, err
		}
		documents[n] = poi{
			ID: poiID, OwnerID: ownerID, RequestKey: key,
			Name: items[i].GetName(), Category: int64(items[i].GetCategory()),
			Lat: location.GetLat(), Lng: location.GetLng(), Cell: cellOf(location.GetLat(), location.GetLng()),
			CreateTime: now, UpdateTime: now,
		}
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
		stored, err := s.pois.Documents.Find(ctx, byRequest().Is(ownerID, documents[n].RequestKey).At(id.PlaceOf(documents[n].ID)))
		switch {
		case errors.Is(err, docstore.ErrNotFound):
			again = append(again, i)
		case err != nil:
			return nil, err
		default:
			outcomes[i] = compare(stored, items[i])
		}
	}
	return again, nil
}

// compare returns the outcome of an item whose key a stored landmark has.
func compare(stored poi, item *poiv1.ImportedPoi) outcome {
	if stored.Name == item.GetName() && stored.Category == int64(item.GetCategory()) &&
		stored.Lat == item.GetLocation().GetLat() && stored.Lng == item.GetLocation().GetLng() {
		return outcome{unchanged: stored.ID}
	}
	return outcome{reason: "KEY_TAKEN", message: "another landmark of the owner has this key, with other content"}
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
