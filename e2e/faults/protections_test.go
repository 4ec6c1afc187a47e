//go:build linux

package faults

import "github.com/waybook/waybook/e2e/faults/history"

// protection is something that keeps a fault from doing harm.
type protection struct {
	// against is the fault that happens to a shape, or the step of the clock that a unit
	// test makes.
	against string
	shape   shape
	// off tells what is so when it is switched off. changes make it so.
	off     string
	changes []change
	// finds is what has to be found then: a rule, or that a program does not start.
	finds string
	// seed is of a run that hits what is unprotected, where most hit something else; runs, 1
	// when it is 0, is how many are tried from there on, where a hit is a matter of time too.
	seed uint64
	runs int
	// outageSeconds are by outageVariable, unless they are 0.
	outageSeconds int
	// isCheap puts it into the short form.
	isCheap bool
}

// change is made to a source file of the workspace or, when module is not empty, of that
// module.
type change struct{ module, file, old, new string }

const doesNotStart = "the program is not ready"

// protections are at least one for each fault. What is not its fault's alone, such as the
// name of a request, is named for the one that needs it most.
func protections() []protection {
	const (
		committer, engine = "internal/docstore/embedded/committer.go", "internal/docstore/embedded/engine.go"
		database          = "internal/docstore/mongo/"
		edge              = "edge/"
	)
	isLate := "ctx.Err() == context.DeadlineExceeded"
	impatient := change{"", edge + "edge.go", "DefaultCallTimeout = 10 * time.Second", "DefaultCallTimeout = 50 * time.Millisecond"}
	mute := []change{impatient, {"", edge + "operation/run.go", "cancel()\n\t\tif err != nil {", "cancel()\n\t\tif err != nil && callCtx.Err() != context.DeadlineExceeded {"}}
	anyEnd := change{"", edge + "operation/run.go",
		"if err != nil {\n\t\t\t\treturn causeOr(ctx, err)\n\t\t\t}\n\t\t\tif position", "if err != nil {\n\t\t\t\tbreak\n\t\t\t}\n\t\t\tif position"}
	unnamed := []change{{"", edge + "operation/requestid.go", "return uuid.NewString()", "return uuid.NewString()[:0]"}}
	unnoticed := []change{{"", committer, "return false, c.commitFailed(id, err)", "_ = c.commitFailed(id, err)\n\t\treturn false, nil"}}
	return []protection{
		{against: "disk full", shape: standalone, off: "a commit that failed is acknowledged", changes: unnoticed, finds: history.Lost + ": ", isCheap: true},
		{against: "a clock that steps back", off: "identifiers follow the clock", changes: []change{
			{"", "internal/id/id.go", "if drawn <= s.last {", "if drawn < 0 {"},
		}, finds: "TestAClockThatStepsBackDoesNotLowerIdentifiers", isCheap: true},
		{against: "a clock that steps forward", off: "an identifier below the last one is drawn as soon as the clock is right again", changes: []change{
			{"", "internal/id/id.go", "s.last = drawn\n", "s.last = s.now().Sub(epoch).Milliseconds() << randomBits\n"},
		}, finds: "TestAClockThatStepsBackDoesNotLowerIdentifiers"},

		{against: "kill", shape: standalone, off: "the file is written twice a second, not before a write is acknowledged", changes: []change{
			{"", engine, "bolt.Open(path, 0o600, &options)", "openWrittenBack(path, &options)"},
			{"", engine, "// makeDirectory makes the store's", writeBack + "\n// makeDirectory makes the store's"},
		}, finds: history.Lost + ": "},
		{against: "sync fails", shape: standalone, off: "commits that failed are acknowledged, and others follow",
			changes: append(unnoticed, change{"", committer, "visible || !isLackOfSpace(cause)", "false"}), finds: history.Lost + ": ", isCheap: true},
		{against: "torn tail", shape: standalone, off: "the checksum of a meta page is not looked at", changes: []change{
			{"go.etcd.io/bbolt", "internal/common/meta.go", "m.checksum != m.Sum64()", "m.checksum == 0"},
		}, finds: doesNotStart},

		{against: "pause", shape: processes, off: "a service that is late has nothing to say, which is shown",
			changes: mute, finds: history.Lost + ": "},
		{against: "cut", seed: 193, shape: processes, off: "a connection that could not be made is tried again after minutes", changes: []change{
			{"", "internal/platform/serve/transport.go", "BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 3 * time.Second",
				"BaseDelay: 5 * time.Minute, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 5 * time.Minute"},
		}, finds: history.Late + ": "},
		{against: "delay", seed: 77, shape: processes, off: "a session that can't be asked for in time counts as closed", changes: []change{
			impatient,
			{"", edge + "session.go", "\treturn session.User, err\n}", "\tif " + isLate + " {\n\t\terr = failure.New(\"LOGIN_REQUIRED\")\n\t}\n\treturn session.User, err\n}"},
		}, finds: history.Lost + ": "},
		{against: "throttle", seed: 4, shape: processes, off: "a service that is late has nothing to say, which is shown",
			changes: mute, finds: history.Lost + ": "},
		{against: "reset half way", seed: 2194587, runs: 8, shape: processes, off: "a list that breaks off ends like a whole one",
			changes: []change{anyEnd}, finds: history.Lost + ": "},
		{against: "reply lost", seed: 697, shape: processes, off: "the edge gives creations no request id", changes: unnamed, finds: history.Twice + ": "},

		{against: "store gone", shape: onMongoDB, off: "what is in a store that can't be reached is not there", changes: []change{
			{"", database + "failure.go", "fmt.Errorf(\"%w: no server can take it\", docstore.ErrUnavailable)",
				"fmt.Errorf(\"%w: no server can take it\", docstore.ErrNotFound)"},
		}, finds: history.Lost + ": ", outageSeconds: 15},
		{against: "reply of the store lost", seed: 191, shape: onMongoDB, off: "the edge gives creations no request id", changes: unnamed, finds: history.Twice + ": "},
		{against: "way to the store cut half way", seed: 92966, shape: onMongoDB, off: "a query that broke off is not repeated, and has found nothing", changes: []change{
			{"", database + "engine.go", "SetRetryReads(true)", "SetRetryReads(false)"},
			{"", database + "table.go", "if err != nil {\n\t\treturn nil, err\n\t}\n\tvar documents", "if err != nil {\n\t\treturn nil, nil\n\t}\n\tvar documents"},
		}, finds: history.Lost + ": "},
	}
}

// writeBack opens a store whose file is written now and then.
const writeBack = `func openWrittenBack(path string, options *bolt.Options) (*bolt.DB, error) {
	work := path + ".work"
	_ = os.Remove(work)
	if content, err := os.ReadFile(path); err == nil {
		_ = os.WriteFile(work, content, 0o600)
	}
	db, err := bolt.Open(work, 0o600, options)
	if err != nil {
		return nil, err
	}
	go func() {
		for {
			time.Sleep(500 * time.Millisecond)
			if db.View(func(tx *bolt.Tx) error { return tx.CopyFile(path+".copy", 0o600) }) == nil {
				_ = os.Rename(path+".copy", path)
			}
		}
	}()
	return db, nil
}
`
