// Package send moves the data of an old service into Waybook, and checks it before and after.
package send

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/waybook/waybook/moving/linefile"
	"github.com/waybook/waybook/moving/movefile"
	"github.com/waybook/waybook/waybookctl/progress"
	"github.com/waybook/waybook/waybookctl/workers"
)

// Input says what is read and how.
type Input struct {
	// Files are the paths of the files; "-" is Stdin.
	Files []string
	Stdin io.Reader
	// Zone is the time zone of times that name none. Allowed are the allowances.
	Zone    *time.Location
	Allowed movefile.Allowed
	// NewOwner is the owner of content without one, if Allowed has movefile.NewOwner.
	NewOwner movefile.ID
	// SaveProblems, unless nil, saves a file with all problems, an object in each line.
	SaveProblems func(write func(io.Writer) error) error
	// Folder is where temporary files are, which are as large as the unpacked input.
	Folder string
}

const (
	// identityBuckets, userBuckets and contentBuckets are the parts of the two partitions. They bound the
	// memory: move check of twenty million lines takes 170 MB.
	identityBuckets = 512
	userBuckets     = 64
	contentBuckets  = 1024
	// batchLines is how many lines a worker decodes at a time.
	batchLines = 256
	// maxFiles is the number of files that a position can name.
	maxFiles = 1 << 15

	identitiesName = "identities"
	recordsName    = "records"
)

// keep says what the intake keeps for a later step.
type keep int

const (
	keepNothing keep = iota
	// keepRecords: the records, by their roots.
	keepRecords
)

// intake reads all files once.
type intake struct {
	input      Input
	decoder    *movefile.Decoder
	findings   *findings
	identities *partition // until resolve
	roots      *partition // nil if nothing is kept
}

// read reads the files, and finds everything that is wrong.
func read(ctx context.Context, input Input, keep keep, report progress.Reporter) (_ *intake, err error) {
	if len(input.Files) == 0 || len(input.Files) > maxFiles {
		return nil, fmt.Errorf("%d files; want 1 to %d", len(input.Files), maxFiles)
	}
	in := &intake{input: input, decoder: movefile.NewDecoder(movefile.Options{Zone: input.Zone, Allowed: input.Allowed})}
	if in.findings, err = newFindings(input); err != nil {
		return nil, err
	}
	if in.identities, err = newPartition(filepath.Join(input.Folder, identitiesName), identityBuckets); err != nil {
		return nil, err
	}
	if keep == keepRecords {
		if in.roots, err = newPartition(filepath.Join(input.Folder, recordsName), userBuckets+contentBuckets); err != nil {
			return nil, errors.Join(err, in.identities.close())
		}
	}
	err = in.scan(ctx, report)
	err = errors.Join(err, in.identities.close())
	if in.roots != nil {
		err = errors.Join(err, in.roots.save())
	}
	if err == nil {
		err = in.resolve(ctx)
	}
	if err == nil {
		err = in.compareWithEnd()
	}
	return in, errors.Join(err, in.findings.out.Flush())
}

// compareWithEnd finds whether the files have as many records of each kind as their end records say. Any
// line that cannot be read may be one that is missing.
func (in *intake) compareWithEnd() error {
	if !in.findings.report.HasEnd() {
		return nil
	}
	report, expected := &in.findings.report, in.findings.expected
	unread, missing := report.Lines, int64(0)
	for _, kind := range movefile.Kinds() {
		unread -= report.Records[kind]
		missing += max(0, expected[kind]-report.Records[kind])
	}
	for _, kind := range movefile.Kinds() {
		want, got := expected[kind], report.Records[kind]
		if kind == movefile.KindEnd || got == want || got < want && missing <= unread {
			continue
		}
		if err := in.findings.add(movefile.KindEnd, "", in.findings.end, movefile.Fault{
			Class: movefile.Incomplete, Field: string(kind),
			Text: fmt.Sprintf("the export wrote %d records of kind %s, and the files have %d; export again", want, kind, got),
		}); err != nil {
			return err
		}
	}
	return nil
}

// requireWhole returns an error if the files cannot be imported, because something is missing in
// them. Whether that is so, the owner is asked if no end record says it.
func (in *intake) requireWhole(options ImportOptions) error {
	report := &in.findings.report
	var missing []string
	for _, group := range report.Sorted() {
		if group.Class == movefile.Incomplete {
			missing = append(missing, report.Text(group.First[0]))
		}
	}
	if len(missing) > 0 {
		return &RefusedError{"nothing was changed: " + strings.Join(missing, "; ")}
	}
	if report.HasEnd() || options.DryRun {
		return nil
	}
	isMeant, err := options.Confirm(NoEnd + ". Import them?")
	if err == nil && !isMeant {
		err = &RefusedError{"nothing was changed: " + NoEnd + "; --yes imports them"}
	}
	return err
}

// NoEnd warns of files without an end record.
const NoEnd = "the files have no end record, which would say whether they are whole"

// scan reads the lines and has workers decode them.
func (in *intake) scan(ctx context.Context, report progress.Reporter) error {
	report.Start("reading", progress.Bytes, sizeOf(in.input.Files))
	defer report.Finish()
	return workers.Run(ctx, runtime.GOMAXPROCS(0), func(_ context.Context, put func([]item) error) error {
		var before int64
		for n := range in.input.Files {
			size, err := in.scanFile(n, put, func(done int64) { report.Reach(before + done) })
			if err != nil {
				return err
			}
			before += size
		}
		return nil
	}, in.take)
}

// sizeOf returns the size of all files, and 0 if one has none.
func sizeOf(files []string) (total int64) {
	for _, path := range files {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			return 0
		}
		total += info.Size()
	}
	return total
}

// scanFile reads the lines of a file.
func (in *intake) scanFile(n int, put func([]item) error, reach func(int64)) (size int64, err error) {
	path := in.input.Files[n]
	file, err := linefile.Open(path, in.input.Stdin, movefile.MaxLineBytes)
	if err != nil {
		return 0, err
	}
	defer func() { _ = file.Close() }() // it was only read
	var lines []item
	isEmpty := true
	for {
		line, number, err := file.Next()
		at := movefile.Position{File: n, Line: number}
		switch {
		case errors.Is(err, io.EOF):
			if isEmpty {
				if err := in.findings.add("", "", at, movefile.Fault{Class: movefile.Incomplete, Text: "the file holds no record"}); err != nil {
					return 0, err
				}
			}
			reach(file.Bytes())
			return file.Bytes(), put(lines)
		case errors.Is(err, linefile.ErrLong):
			isEmpty = false
			in.findings.count(nil, at)
			if err := in.findings.add("", "", at, movefile.Fault{Class: movefile.Unreadable, Text: err.Error()}); err != nil {
				return 0, err
			}
			continue
		case err != nil:
			return 0, fmt.Errorf("%s:%d: the file can't be read to its end: %w", path, number, err)
		}
		isEmpty = false
		lines = append(lines, item{at: at, data: bytes.Clone(line)})
		if len(lines) == batchLines {
			reach(file.Bytes())
			if err := put(lines); err != nil {
				return 0, err
			}
			lines = nil
		}
	}
}

// take decodes lines.
func (in *intake) take(_ context.Context, lines []item) error {
	for _, line := range lines {
		record, faults := in.decoder.Decode(line.data)
		var kind movefile.Kind
		if record != nil {
			kind = record.Kind()
		}
		in.findings.count(record, line.at)
		for _, fault := range faults {
			if err := in.findings.add(kind, idOf(record), line.at, fault); err != nil {
				return err
			}
		}
		if record == nil {
			continue
		}
		for _, each := range identitiesOf(record) {
			if err := in.identities.add(bucketOf(string(each.space), each.id, identityBuckets), each.item(line.at, kind, idOf(record))); err != nil {
				return err
			}
		}
		if root := record.Root(); in.roots != nil && root.ID != "" {
			if err := in.roots.add(rootBucket(root), item{line.at, keyOf(string(root.Kind), root.ID), line.data}); err != nil {
				return err
			}
		}
	}
	return nil
}

// runLength is how many identifiers in a row have one bucket. What a request stores is then side by
// side in the store, so that a commit changes few pages.
const runLength = 2048

// rootBucket returns the bucket of a root. The first buckets hold users. Runs of numbers that follow each
// other are in buckets that do: workers send them at the same time, and the store commits them together.
// Numbers that are far apart, as those made from a time are, spread over all buckets.
func rootBucket(root movefile.Root) int {
	first, count := userBuckets, contentBuckets
	if root.Kind == movefile.KindUser {
		first, count = 0, userBuckets
	}
	number, err := strconv.ParseUint(string(root.ID), 10, 64)
	if err != nil {
		return first + bucketOf(string(root.Kind), root.ID, count)
	}
	run := number / runLength
	block := strconv.FormatUint(run/uint64(count), 10)                                                   // #nosec G115 -- a constant
	return first + (bucketOf(string(root.Kind), movefile.ID(block), count)+int(run%uint64(count)))%count // #nosec G115 -- below count
}

// resolve finds duplicates and dangling references. References to users count only if the files have
// users: otherwise, the users are in Waybook already.
func (in *intake) resolve(ctx context.Context) error {
	isKnown := func(to space) bool { return to != users || in.findings.report.Records[movefile.KindUser] > 0 }
	err := workers.Each(ctx, runtime.GOMAXPROCS(0), firstBuckets(identityBuckets), func(_ context.Context, n int) error {
		items, err := in.identities.read(n)
		if err != nil {
			return err
		}
		return resolve(items, isKnown, func(found match, fault movefile.Fault) error {
			fault.IsAllowed = in.input.Allowed.Has(fault.Allow)
			if !fault.IsAllowed && found.kind.IsPart() && in.input.Allowed.Has(movefile.BadParts) {
				fault.Allow, fault.IsAllowed = movefile.BadParts, true
			}
			return in.findings.add(found.kind, found.of, found.at, fault)
		})
	})
	if err != nil {
		return err
	}
	folder := in.identities.folder
	in.identities = nil
	return os.RemoveAll(folder)
}

// Check reads the files and returns what they hold and what is wrong. It fails only if a file cannot
// be read to its end, or if ctx ends.
func Check(ctx context.Context, input Input, report progress.Reporter) (*Report, error) {
	in, err := read(ctx, input, keepNothing, report)
	if err != nil {
		return nil, err
	}
	return &in.findings.report, in.saveProblems(nil)
}
