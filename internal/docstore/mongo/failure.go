package mongo

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/topology"

	"github.com/waybook/waybook/internal/docstore"
)

// errMisfit reports stored documents that Open finds incompatible with the declaration.
var errMisfit = errors.New("stored documents do not fit the declaration")

// errRefused reports that the server has rejected a write, for a reason that stays.
var errRefused = errors.New("refused by the server")

// errNoServer reports that no server was available within the server selection timeout.
var errNoServer = fmt.Errorf("%w: no server can take it", docstore.ErrUnavailable)

// portError converts an error of the driver to an error of the port. It keeps the
// driver's text for the log but not the driver's types.
//
// Only a refusal by the server proves that nothing has happened. Any other failure may
// have occurred after the server received the write.
func portError(ctx context.Context, err error) error {
	var duplicate *docstore.DuplicateError
	var noServer topology.ServerSelectionError
	switch {
	case err == nil, errors.As(err, &duplicate),
		errors.Is(err, docstore.ErrNotFound), errors.Is(err, docstore.ErrConflict),
		errors.Is(err, errRefused),
		(errors.Is(err, errMisfit) || errors.Is(err, errNotPrepared)) && ctx.Err() == nil:
		return err
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %v", ctx.Err(), err)
	case errors.As(err, &noServer):
		// Its cause is also a deadline, but that of the server selection, not of the caller.
		return fmt.Errorf("%w: %v", errNoServer, err)
	case hasDeadline(ctx) && errors.Is(err, context.DeadlineExceeded):
		// The driver fails a little early if the remaining time is too short for a round trip.
		return fmt.Errorf("%w: %v", context.DeadlineExceeded, err)
	case isRefusal(err):
		return fmt.Errorf("%w: %v", errRefused, err)
	}
	return fmt.Errorf("%w: %v", docstore.ErrUnavailable, err)
}

func hasDeadline(ctx context.Context) bool {
	_, has := ctx.Deadline()
	return has
}

// isRefusal reports whether the server has rejected the call for a reason that does not
// pass by itself.
func isRefusal(err error) bool {
	var server mongo.ServerError
	if !errors.As(err, &server) || mongo.IsNetworkError(err) || mongo.IsTimeout(err) {
		return false
	}
	for _, label := range []string{"RetryableWriteError", "RetryableError", "SystemOverloadedError", "TransientTransactionError"} {
		if server.HasErrorLabel(label) {
			return false
		}
	}
	// A write that too few members acknowledged has still happened on the primary.
	var one mongo.WriteException
	var bulk mongo.BulkWriteException
	if errors.As(err, &one) && one.WriteConcernError != nil || errors.As(err, &bulk) && bulk.WriteConcernError != nil {
		return false
	}
	return !slices.ContainsFunc(server.ErrorCodes(), isPassing)
}
