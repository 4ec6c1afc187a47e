package mongo

// isPassing reports whether an error code of the server stands for a temporary condition.
// Any other code is a refusal, which a repetition of the call would get again.
//
// Codes, names and categories are those of MongoDB's src/mongo/base/error_codes.yml, up to
// version 8. Codes of the category InternalOnly never reach a client and are left out.
func isPassing(code int) bool {
	return leavesOutcomeOpen(code) || passesBefore(code)
}

// leavesOutcomeOpen reports whether a write may have happened although the server answered
// with this code.
func leavesOutcomeOpen(code int) bool {
	switch code {
	// NetworkError, NetworkTimeoutError: the router got no reply from the shard.
	case 6, // HostUnreachable
		7,    // HostNotFound
		89,   // NetworkTimeout
		202,  // NetworkInterfaceExceededTimeLimit
		9001: // SocketException
		return true
	// NotPrimaryError, ShutdownError: the server lost its role during the command.
	case 91, // ShutdownInProgress
		189,   // PrimarySteppedDown
		10058, // LegacyNotPrimary
		10107, // NotWritablePrimary
		11600, // InterruptedAtShutdown
		11602, // InterruptedDueToReplStateChange
		13435, // NotPrimaryNoSecondaryOk
		13436: // NotPrimaryOrSecondary
		return true
	// Interruption, ExceededTimeLimitError, CancellationError: the server stopped the command.
	// A command for several documents stops between two of them.
	case 24, // LockTimeout
		50,       // MaxTimeMSExpired
		90,       // CallbackCanceled
		237,      // CursorKilled
		262,      // ExceededTimeLimit
		279,      // ClientDisconnect
		281,      // TransactionCoordinatorSteppingDown
		282,      // TransactionCoordinatorReachedAbortDecision
		290,      // TransactionExceededLifetimeLimitSeconds
		310,      // PeriodicJobIsStopped
		355,      // InterruptedDueToStorageChange
		453,      // InterruptedDueToReshardingCriticalSection
		11601,    // Interrupted
		46841,    // ClientMarkedKilled
		91331,    // RetriableRemoteCommandFailure
		10045600: // InterruptedDueToFCVChange
		return true
	// CursorInvalidatedError: a plan stopped half way, for example because an index was dropped.
	case 43, // CursorNotFound
		96,  // OperationFailed
		175, // QueryPlanKilled
		314: // ObjectIsBusy
		return true
	// WriteConcernError: the primary has the write, a majority has not acknowledged it.
	case 64, // WriteConcernTimeout
		75,  // WriteConcernLegacyOK
		79,  // UnknownReplWriteConcern
		100: // UnsatisfiableWriteConcern
		return true
	// No category, but the server cannot say what happened.
	case 8, // UnknownError: a router got a reply that it could not read
		65,  // MultipleErrorsOccurred: shards failed for different reasons
		83,  // RemoteResultsUnavailable: a shard's reply is lost
		145, // PooledConnectionsDropped: a router closed its connections to the shard
		217, // IncompleteTransactionHistory: a retry, and the record of the first try is gone
		412: // UpdatesStillPending: a router's multi-document write continues elsewhere
		return true
	}
	return false
}

// passesBefore reports whether this code means that the server could not do the write yet.
func passesBefore(code int) bool {
	switch code {
	// RetriableError, SystemOverloadedError: the server asks for another try.
	case 134, // ReadConcernMajorityNotAvailableYet
		358,   // InternalTransactionNotSupported
		402,   // ResourceExhausted
		406,   // MigrationBlockingOperationCoordinatorCleaningUp
		407,   // PooledConnectionAcquisitionExceededTimeLimit
		433,   // AdmissionQueueOverflow
		449,   // RateLimitExceeded
		450,   // PooledConnectionAcquisitionRejected
		462,   // IngressRequestRateLimitExceeded
		50915: // BackupCursorOpenConflictWithCheckpoint
		return true
	// StaleShardVersionError, NeedRetargettingError: the router asked the wrong shard.
	case 150, // StaleEpoch
		249,   // StaleDbVersion
		13388: // StaleConfig
		return true
	// SnapshotError: the point in time of the read is gone, or the data is being moved.
	case 239, // SnapshotTooOld
		246, // SnapshotUnavailable
		250, // StaleChunkHistory
		272: // MigrationConflict
		return true
	// No category. Something else is under way, which ends.
	case 46, // LockBusy: another operation on the catalog
		70,    // ShardNotFound: the router has not learned of a new shard
		107,   // LockFailed
		109,   // ConfigurationInProgress
		112,   // WriteConflict: the storage engine gave up after many tries
		117,   // ConflictingOperationInProgress
		133,   // FailedToSatisfyReadPreference: the router knows no primary
		149,   // NoConfigPrimary
		187,   // LinearizableReadConcernError: no majority has confirmed the primary
		194,   // BalancerInterrupted
		199,   // ReplicaSetMonitorRemoved: the router forgets a shard that is removed
		200,   // ChunkRangeCleanupPending
		203,   // ShardingStateNotInitialized
		208,   // TooManyLocks
		211,   // KeyNotFound: the server has not got the key of the cluster time
		215,   // DatabaseDropPending
		216,   // ElectionInProgress
		264,   // TooManyFilesOpen
		267,   // PreparedTransactionInProgress
		276,   // IndexBuildAborted: by a step-down, or by an operator
		285,   // IndexBuildAlreadyInProgress
		319,   // MovePrimaryInProgress
		338,   // ReshardCollectionInProgress
		342,   // ReshardingCriticalSectionTimeout
		343,   // ShardCannotRefreshDueToLocksHeld
		363,   // RetryableTransactionInProgress
		365,   // TemporarilyUnavailable: the cache of the storage engine is full
		371,   // UserWritesBlocked: by an operator, during a migration of the cluster
		414,   // AddOrRemoveShardInProgress
		12586, // BackgroundOperationInProgressForDatabase
		12587, // BackgroundOperationInProgressForNamespace
		56846: // ConfigServerUnreachable
		return true
	}
	return false
}
