package poi

import (
	"context"
	"errors"
	"io"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/platform/service"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

const (
	// importPrefix begins the request key of an imported landmark. No UUID and no
	// key that docstore.Create makes begins that way.
	importPrefix = "import:"
	// maxFailures is how many refused items a reply lists, and maxShownKey how many
	// bytes of the key of each.
	maxFailures = 1000
	maxShownKey = 100
	// maxImportTries bounds how often an item is tried whose id is taken, or whose
	// key's landmark is deleted between two looks.
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

// outcome is what became of an item; the zero outcome is that it was created.
type outcome struct {
	unchanged bool
	// reason and message say why it was refused, if it was.
	reason, message string
}

// importBatch imports items, each by itself.
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
	for range maxImportTries {
		if open, err = s.insertImported(ctx, ownerID, items, open, outcomes); err != nil || len(open) == 0 {
			return outcomes, err
		}
	}
	return nil, apierror.New(codes.Aborted, "CONFLICT", "others kept changing the same landmarks; try again")
}

// recogniseOwn settles those of the open items whose key names a landmark of the owner that
// was not imported, as ExportPois does, and returns the others.
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
			own[exported(p).GetKey()] = p
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

// insertImported stores those items that are open, and returns which of them are to be
// tried again. Ids are drawn in the order of the items, so that an export gives it back;
// only an item whose id another process took comes behind those of its batch.
func (s *Server) insertImported(
	ctx context.Context, ownerID int64, items []*poiv1.ImportedPoi, open []int, outcomes []outcome,
) (again []int, err error) {
	documents := make([]poi, len(open))
	now := s.now()
	for n, i := range open {
		location := items[i].GetLocation()
		documents[n] = poi{
			ID: s.newID(), OwnerID: ownerID, RequestKey: importPrefix + items[i].GetKey(),
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
		stored, err := s.pois.Documents.Find(ctx, docstore.RequestIndex, ownerID, documents[n].RequestKey)
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

// compare tells what becomes of an item whose key a stored landmark has.
func compare(stored poi, item *poiv1.ImportedPoi) outcome {
	if stored.Name == item.GetName() && stored.Category == int64(item.GetCategory()) &&
		stored.Lat == item.GetLocation().GetLat() && stored.Lng == item.GetLocation().GetLng() {
		return outcome{unchanged: true}
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
	// next is the position of the next item.
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
		case o.unchanged:
			s.reply.UnchangedCount++
		default:
			s.reply.CreatedCount++
		}
		s.next++
	}
}

// shownKey is a key or, of one that is too long, its beginning: what is refused must
// not fill the memory. The beginning is a copy, so that the rest can go.
func shownKey(key string) string {
	if len(key) <= maxShownKey {
		return strings.Clone(key)
	}
	return strings.ToValidUTF8(strings.Clone(key[:maxShownKey]), "")
}
