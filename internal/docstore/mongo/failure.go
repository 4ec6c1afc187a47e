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

// errMisfit marks what Open itself finds wrong with the documents that are there.
var errMisfit = errors.New("stored documents do not fit the declaration")

// errNoServer says that no server could take a call for as long as it waits for one.
var errNoServer = fmt.Errorf("%w: no server can take it", docstore.ErrUnavailable)

// portError says an error of the driver in the port's terms. The driver's text is
// kept for the log, its types are not. Only the server's own refusal proves that
// nothing has happened; whatever else went wrong may have done so after the server
// had got the write.
func portError(ctx context.Context, err error) error {
	var duplicate *docstore.DuplicateError
	var noServer topology.ServerSelectionError
	switch {
	case err == nil, errors.As(err, &duplicate),
		errors.Is(err, docstore.ErrNotFound), errors.Is(err, docstore.ErrConflict),
		errors.Is(err, errMisfit) && ctx.Err() == nil:
		return err
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %v", ctx.Err(), err)
	case errors.As(err, &noServer):
		// Its cause is a deadline too, of the waiting and not the caller's.
		return fmt.Errorf("%w: %v", errNoServer, err)
	case hasDeadline(ctx) && errors.Is(err, context.DeadlineExceeded):
		// The driver gives up a little early when no round trip fits in what is left.
		return fmt.Errorf("%w: %v", context.DeadlineExceeded, err)
	case isRefusal(err):
		return fmt.Errorf("refused by the server: %v", err)
	}
	return fmt.Errorf("%w: %v", docstore.ErrUnavailable, err)
}

func hasDeadline(ctx context.Context) bool {
	_, has := ctx.Deadline()
	return has
}

// isRefusal tells whether the server has answered that it won't do it, and will not
// do it later either.
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
	// A write that too few members have acknowledged has happened on the primary.
	var one mongo.WriteException
	var bulk mongo.BulkWriteException
	if errors.As(err, &one) && one.WriteConcernError != nil || errors.As(err, &bulk) && bulk.WriteConcernError != nil {
		return false
	}
	return !slices.ContainsFunc(server.ErrorCodes(), isPassing)
}

// isPassing knows the codes of MongoDB's error_codes.yml that pass by themselves.
func isPassing(code int) bool {
	switch code {
	case 6, 7, 89, 9001: // HostUnreachable, HostNotFound, NetworkTimeout, SocketException
		return true
	case 10107, 13435, 13436, 10058: // NotWritablePrimary and its kin
		return true
	case 91, 189, 11600, 11602: // shutting down, stepping down, interrupted by either
		return true
	case 43, 237, 11601, 112: // cursor lost or killed, operation killed, write conflict
		return true
	case 64, 100, 50, 262: // write concern not met (in time), time limits
		return true
	case 133, 134: // FailedToSatisfyReadPreference, ReadConcernMajorityNotAvailableYet
		return true
	}
	return false
}
