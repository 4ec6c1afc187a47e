package poi

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/platform/rules"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

const (
	// importPrefix begins the request key of an imported landmark, and freedPrefix that of one
	// that was deleted. No UUID and no key of docstore.Create begins that way.
	importPrefix = "import:"
	freedPrefix  = "freed:"
	// maxShownKey is how many bytes of the key of a rejected item a reply shows.
	maxShownKey = 100
	// maxImportTries bounds the attempts to store an item. An attempt fails when the id is
	// taken, or when the landmark with its key is deleted between two reads.
	maxImportTries = 16
)

// ImportPois creates landmarks, and updates those that differ if asked to.
func (s *server) ImportPois(ctx context.Context, request *poiv1.ImportPoisRequest) (*poiv1.ImportPoisResponse, error) {
	if _, err := s.profiles.Require(ctx, request.GetOwnerId()); err != nil {
		return nil, err
	}
	outcomes, err := s.importAll(ctx, request)
	if err != nil {
		return nil, err
	}
	return replyOf(request.GetPois(), outcomes), nil
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

// importAll imports items independently of each other. If they are to be validated only, it stores
// nothing.
func (s *server) importAll(ctx context.Context, request *poiv1.ImportPoisRequest) ([]outcome, error) {
	outcomes := make([]outcome, len(request.GetPois()))
	var open []int
	for i, item := range request.GetPois() {
		if violations := rules.Violations(item); len(violations) > 0 {
			outcomes[i] = invalid(violations)
		} else {
			open = append(open, i)
		}
	}
	for try := range maxImportTries {
		// At first, most are new. Small identifiers would be used up for those that are not.
		recognised := func(key string) bool {
			return try > 0 || request.GetValidateOnly() || s.pois.Small != nil || strings.HasPrefix(key, ownPrefix)
		}
		var err error
		if open, err = s.recognise(ctx, request, open, outcomes, recognised); err != nil {
			return nil, err
		}
		if request.GetValidateOnly() {
			return outcomes, nil
		}
		if open, err = s.insertImported(ctx, request, open, try); err != nil {
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

// recognise settles the open items whose keys stored landmarks have, among those that isWanted
// selects. It returns the others.
func (s *server) recognise(
	ctx context.Context, request *poiv1.ImportPoisRequest, open []int, outcomes []outcome,
	isWanted func(key string) bool,
) (others []int, err error) {
	for _, i := range open {
		item, isSettled := request.GetPois()[i], false
		if isWanted(item.GetKey()) {
			stored, err := s.findImported(ctx, request.GetOwnerId(), item.GetKey())
			if err == nil {
				outcomes[i], isSettled, err = s.outcomeOf(ctx, request, stored, item)
			}
			if err != nil && !errors.Is(err, docstore.ErrNotFound) {
				return nil, err
			}
		}
		if !isSettled {
			others = append(others, i)
		}
	}
	return others, nil
}

// ownPrefix and an identifier are the key of a landmark of the owner that was not imported.
const ownPrefix = "poi:"

// findImported returns the landmark of an owner that has a key.
func (s *server) findImported(ctx context.Context, ownerID int64, key string) (poi, error) {
	poiID, _ := strconv.ParseInt(strings.TrimPrefix(key, ownPrefix), 10, 64)
	if 0 < poiID && poiID <= id.Max && key == fmt.Sprint(ownPrefix, poiID) {
		own, err := s.pois.Documents.Get(ctx, poiID)
		if isOwn := err == nil && own.OwnerID == ownerID && importKey(&own) == ""; isOwn ||
			err != nil && !errors.Is(err, docstore.ErrNotFound) {
			return own, err
		}
	}
	key = importPrefix + key
	return s.pois.Documents.Find(ctx, byRequest().Is(docstore.OwnedKey(ownerID, key)).At(int64(id.PlaceOfKey(ownerID,
		key))))
}

// importKey returns the key of a landmark that was imported.
func importKey(p *poi) string {
	key, isImported := strings.CutPrefix(docstore.BareKey(p.RequestKey), importPrefix)
	if !isImported {
		return ""
	}
	return key
}

// insertImported stores the open items and returns those to recognise or to retry. taken is how
// often they were retried.
func (s *server) insertImported(
	ctx context.Context, request *poiv1.ImportPoisRequest, open []int, taken int,
) (again []int, err error) {
	documents := make([]poi, len(open))
	items, ownerID, now := request.GetPois(), request.GetOwnerId(), s.now()
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
		documents[n] = poi{ID: ids[n], OwnerID: ownerID, RequestKey: docstore.OwnedKey(ownerID, key), CreateTime: now,
			UpdateTime: now}
		poiFields.Create(&documents[n], requestOf(items[i]))
	}
	refused, err := docstore.Taken(s.pois.Documents.Insert(ctx, documents...))
	for _, n := range refused {
		again = append(again, open[n])
	}
	return again, err
}

// hasContent reports whether a landmark has the content of an item.
func hasContent(p poi, item *poiv1.ImportedPoi) bool {
	given := p
	poiFields.Create(&given, requestOf(item))
	return reflect.DeepEqual(given, p)
}

// outcomeOf returns the outcome of an item whose key a stored landmark has. It updates the
// landmark if the request says so. isSettled is false if the landmark was deleted meanwhile.
func (s *server) outcomeOf(
	ctx context.Context, request *poiv1.ImportPoisRequest, stored poi, item *poiv1.ImportedPoi,
) (_ outcome, isSettled bool, err error) {
	switch {
	case hasContent(stored, item):
		return outcome{unchanged: stored.ID}, true, nil
	case request.GetMode() != poiv1.ImportMode_IMPORT_MODE_UPDATE:
		return outcome{reason: "KEY_TAKEN",
			message: "another landmark of the owner has this key, with other content"}, true, nil
	case request.GetValidateOnly():
		return outcome{isUpdated: true}, true, nil
	}
	_, err = s.pois.UpdateBy(ctx, stored.OwnerID, stored.ID, func(p *poi) error {
		poiFields.Create(p, requestOf(item))
		p.UpdateTime = s.now()
		p.ContentRevision++
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

// replyOf counts the outcomes.
func replyOf(items []*poiv1.ImportedPoi, outcomes []outcome) *poiv1.ImportPoisResponse {
	reply := &poiv1.ImportPoisResponse{}
	for i, o := range outcomes {
		switch {
		case o.reason != "":
			reply.FailedCount++
			key := items[i].GetKey()
			key = strings.ToValidUTF8(key[:min(len(key), maxShownKey)], "")
			reply.Failures = append(reply.Failures,
				&poiv1.ImportFailure{Index: int64(i), Key: key, Reason: o.reason, Message: o.message})
		case o.unchanged != 0:
			reply.UnchangedCount++
		case o.isUpdated:
			reply.UpdatedCount++
		default:
			reply.CreatedCount++
		}
	}
	return reply
}
