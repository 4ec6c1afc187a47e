package mongo

import (
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/waybook/waybook/internal/docstore"
)

func TestAFailureThatPassesIsUnavailableAndARefusalIsNot(t *testing.T) {
	for code, c := range map[int]struct {
		name   string
		passes bool
	}{
		// The server says that these may be retried, or that it stopped half way.
		24:       {"LockTimeout", true},
		46:       {"LockBusy", true},
		50:       {"MaxTimeMSExpired", true},
		70:       {"ShardNotFound", true},
		145:      {"PooledConnectionsDropped", true},
		175:      {"QueryPlanKilled", true},
		187:      {"LinearizableReadConcernError", true},
		194:      {"BalancerInterrupted", true},
		199:      {"ReplicaSetMonitorRemoved", true},
		200:      {"ChunkRangeCleanupPending", true},
		202:      {"NetworkInterfaceExceededTimeLimit", true},
		211:      {"KeyNotFound", true},
		217:      {"IncompleteTransactionHistory", true},
		246:      {"SnapshotUnavailable", true},
		249:      {"StaleDbVersion", true},
		272:      {"MigrationConflict", true},
		279:      {"ClientDisconnect", true},
		285:      {"IndexBuildAlreadyInProgress", true},
		290:      {"TransactionExceededLifetimeLimitSeconds", true},
		314:      {"ObjectIsBusy", true},
		355:      {"InterruptedDueToStorageChange", true},
		365:      {"TemporarilyUnavailable", true},
		402:      {"ResourceExhausted", true},
		406:      {"MigrationBlockingOperationCoordinatorCleaningUp", true},
		407:      {"PooledConnectionAcquisitionExceededTimeLimit", true},
		412:      {"UpdatesStillPending", true},
		414:      {"AddOrRemoveShardInProgress", true},
		433:      {"AdmissionQueueOverflow", true},
		449:      {"RateLimitExceeded", true},
		462:      {"IngressRequestRateLimitExceeded", true},
		10107:    {"NotWritablePrimary", true},
		13388:    {"StaleConfig", true},
		91331:    {"RetriableRemoteCommandFailure", true},
		10045600: {"InterruptedDueToFCVChange", true},
		// A repetition of these calls ends the same way.
		2:     {"BadValue", false},
		9:     {"FailedToParse", false},
		13:    {"Unauthorized", false},
		18:    {"AuthenticationFailed", false},
		26:    {"NamespaceNotFound", false},
		66:    {"ImmutableField", false},
		85:    {"IndexOptionsConflict", false},
		86:    {"IndexKeySpecsConflict", false},
		121:   {"DocumentValidationFailure", false},
		10334: {"BSONObjectTooLarge", false},
		11000: {"DuplicateKey", false},
	} {
		for place, err := range map[string]error{
			"command":   mongo.CommandError{Code: int32(code), Name: c.name},
			"one write": mongo.WriteException{WriteErrors: mongo.WriteErrors{{Code: code, Message: c.name}}},
		} {
			if got := portError(t.Context(), err); errors.Is(got, docstore.ErrUnavailable) != c.passes {
				t.Errorf("%d %s of a %s: got %v", code, c.name, place, got)
			}
		}
		if c.passes != isPassing(code) {
			t.Errorf("%d %s of one of several writes: got %v", code, c.name, !c.passes)
		}
	}
}
