//go:build linux

package faults

import "github.com/waybook/waybook/e2e/faults/history"

// protection is code that keeps a fault from doing harm.
type protection struct {
	// against is the fault.
	against string
	shape   shape
	// off describes the program without the protection. changes remove the protection.
	off     string
	changes []change
	// finds is the expected finding.
	finds string
	// seed is the seed of a run that hits the missing protection; most seeds do not. runs is the
	// number of runs from that seed, because timing matters too; 0 means 1.
	seed uint64
	runs int
	// outageSeconds overrides outageVariable, unless it is 0.
	outageSeconds int
	// isCheap includes it in the short form.
	isCheap bool
}

// change replaces text in a source file of the workspace.
type change struct{ file, old, new string }

// protections returns at least one protection for each fault. A protection that serves several
// faults, such as the request id, is listed for the fault that needs it most.
func protections() []protection {
	const (
		committer = "internal/docstore/embedded/committer.go"
		database  = "internal/docstore/mongo/"
		edge      = "edge/"
	)
	isLate := "ctx.Err() == context.DeadlineExceeded"
	impatient := change{edge + "edge.go", "DefaultCallTimeout = 10 * time.Second", "DefaultCallTimeout = 50 * time.Millisecond"}
	mute := []change{impatient, {edge + "operation/run.go", "call(callCtx, request)\n\t\tif err != nil {", "call(callCtx, request)\n\t\tif err != nil && callCtx.Err() != context.DeadlineExceeded {"}}
	anyEnd := change{edge + "operation/lists.go",
		"if err != nil {\n\t\t\treturn err\n\t\t}\n\t\tout.EndList(list.Name)\n\t\tend.", "if err != nil && !hasBegun {\n\t\t\treturn err\n\t\t}\n\t\tout.EndList(list.Name)\n\t\tend."}
	unnamed := []change{{edge + "operation/run.go", "return uuid.NewString()", "return uuid.NewString()[:0]"}}
	unnoticed := []change{{committer, "return false, c.commitFailed(id, err)", "_ = c.commitFailed(id, err)\n\t\treturn false, nil"}}
	return []protection{
		{against: "disk full", shape: standalone, off: "a failed commit is acknowledged", changes: unnoticed, finds: history.Lost + ": ", isCheap: true},
		{against: "pause", shape: processes, off: "a reply without the data of a late service counts as complete",
			changes: mute, finds: history.Lost + ": "},
		{against: "cut", seed: 193, shape: processes, off: "a failed connection is retried after minutes", changes: []change{
			{"internal/platform/process/transport.go", "BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 3 * time.Second",
				"BaseDelay: 5 * time.Minute, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 5 * time.Minute"},
		}, finds: history.Late + ": "},
		{against: "delay", seed: 77, shape: processes, off: "a session that can't be verified in time counts as closed", changes: []change{
			impatient,
			{edge + "session.go", "Token: session.Token})\n", "Token: session.Token})\n\tif " + isLate + " {\n\t\treturn 0, failure.New(\"LOGIN_REQUIRED\")\n\t}\n"},
		}, finds: history.Lost + ": "},
		{against: "throttle", seed: 4, shape: processes, off: "a reply without the data of a late service counts as complete",
			changes: mute, finds: history.Lost + ": "},
		{against: "reset half way", seed: 2194587, runs: 8, shape: processes, off: "an incomplete list ends like a complete one",
			changes: []change{anyEnd}, finds: history.Lost + ": "},
		{against: "reply lost", seed: 697, shape: processes, off: "the edge gives creations no request id", changes: unnamed, finds: history.Twice + ": "},

		{against: "store gone", shape: onMongoDB, off: "data in an unreachable store counts as not found", changes: []change{
			{database + "failure.go", "fmt.Errorf(\"%w: no server can take it\", docstore.ErrUnavailable)",
				"fmt.Errorf(\"%w: no server can take it\", docstore.ErrNotFound)"},
		}, finds: history.Lost + ": ", outageSeconds: 15},
		{against: "reply of the store lost", seed: 190, shape: onMongoDB, off: "the driver does not retry writes, and the edge gives creations no request id",
			changes: append(unnamed, change{database + "engine.go", "SetRetryWrites(true)", "SetRetryWrites(false)"}), finds: history.Twice + ": "},
		{against: "way to the store cut half way", seed: 92966, shape: onMongoDB, off: "an interrupted query is not retried and returns nothing", changes: []change{
			{database + "read.go", "if err != nil && mayPass(err) &&", "if err != nil && false &&"},
			{database + "read.go", "cursor, err := t.engine.read(ctx, command)\n\tif err != nil {\n\t\treturn nil, false, err\n\t}",
				"cursor, err := t.engine.read(ctx, command)\n\tif err != nil {\n\t\treturn nil, false, nil\n\t}"},
		}, finds: history.Lost + ": "},
	}
}
