package send

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"github.com/waybook/waybook/moving/movefile"
	"github.com/waybook/waybook/waybookctl/atomicfile"
	"github.com/waybook/waybook/waybookctl/progress"
)

// passName names a pass over the buckets.
type passName string

const (
	// passSurvey asks the services what they would do. It is made again when an import is resumed.
	passSurvey  passName = "survey"
	passRecords passName = "records"
	passQuotes  passName = "quotes"
)

// finished is what became of a bucket; the journal has a line for each.
type finished struct {
	Pass          passName                   `json:"pass"`
	Bucket        int                        `json:"bucket"`
	Records       int64                      `json:"records"`
	Outcomes      map[movefile.Kind]Outcomes `json:"outcomes,omitempty"`
	Removed       Counts                     `json:"removed,omitempty"`
	Deleted       Counts                     `json:"deleted,omitempty"`
	Refusals      []Refusal                  `json:"refusals,omitempty"`
	RefusalCount  int64                      `json:"refusal_count,omitempty"`
	QuotesMissing int64                      `json:"quotes_missing,omitempty"`
	Repeated      int64                      `json:"repeated,omitempty"`
}

// journal knows which buckets are finished.
type journal struct {
	folder   string
	file     *os.File
	lock     *os.File // nil in a dry run
	finished []*finished
}

// plan says what an import does. An import with another plan begins anew.
type plan struct {
	Place    string           `json:"place"`
	Update   bool             `json:"update"`
	Revive   bool             `json:"revive"`
	Zone     string           `json:"zone"`
	Allowed  movefile.Allowed `json:"allowed"`
	NewOwner movefile.ID      `json:"new_owner,omitempty"`
	Files    []inputFile      `json:"files"`
}

// inputFile identifies a file as it was read.
type inputFile struct {
	Path     string    `json:"path"`
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
}

// sorted is what the intake found, beside the records.
type sorted struct {
	Plan   plan     `json:"plan"`
	Report Report   `json:"report"`
	Marks  []marked `json:"marks"`
	// Bytes is the size of the sorted records.
	Bytes int64 `json:"bytes"`
}

type marked struct {
	At   movefile.Position `json:"at"`
	Mark mark              `json:"mark"`
}

const (
	sortedName  = "sorted.json"
	journalName = "journal"
)

// begin reads the files, or finds them read, and opens the journal.
func begin(ctx context.Context, options ImportOptions, report progress.Reporter) (j *journal, in *intake, err error) {
	j = &journal{folder: options.Input.Folder}
	if !options.DryRun {
		if j.lock, err = claim(j.folder); err != nil {
			return nil, nil, err
		}
	}
	if in, err = j.begin(ctx, options, report); err == nil {
		err = j.open()
	}
	if err != nil {
		return nil, nil, errors.Join(err, j.close())
	}
	return j, in, nil
}

func (j *journal) begin(ctx context.Context, options ImportOptions, report progress.Reporter) (*intake, error) {
	now, canResume, err := planOf(options)
	if err != nil {
		return nil, err
	}
	if canResume {
		in, err := resume(options.Input, now)
		if err != nil {
			return nil, err
		}
		if in != nil {
			report.Start("importing", progress.Records, in.findings.report.Lines)
			report.Note("going on with the import that ended early; its journal is in " + j.folder)
			report.Finish()
			return in, nil
		}
	}
	if !options.DryRun {
		if err := empty(j.folder); err != nil {
			return nil, err
		}
	}
	in, err := read(ctx, options.Input, keepRecords, report)
	if err != nil || !canResume {
		return in, err
	}
	found := sorted{Plan: now, Report: in.findings.report}
	if found.Bytes, err = in.roots.sync(); err != nil {
		return nil, err
	}
	for at, mark := range in.findings.marks {
		found.Marks = append(found.Marks, marked{at, mark})
	}
	return in, atomicfile.Write(filepath.Join(j.folder, sortedName), 0o600, func(file io.Writer) error { return json.NewEncoder(file).Encode(found) })
}

// planOf returns the plan of an import. Standard input cannot be recognised, and a dry run does not
// resume.
func planOf(options ImportOptions) (p plan, canResume bool, err error) {
	p = plan{
		Place: options.Place, Update: options.Update, Revive: options.Revive, Zone: options.Input.Zone.String(),
		Allowed: options.Input.Allowed, NewOwner: options.Input.NewOwner,
	}
	canResume = !options.DryRun
	for _, path := range options.Input.Files {
		if path == "-" {
			canResume = false
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			return p, false, err
		}
		absolute, err := filepath.Abs(path)
		if err != nil {
			return p, false, err
		}
		canResume = canResume && info.Mode().IsRegular()
		p.Files = append(p.Files, inputFile{absolute, info.Size(), info.ModTime().UTC()})
	}
	return p, canResume, nil
}

// resume returns what an earlier import has read, and nil if there is none of this plan.
func resume(input Input, now plan) (*intake, error) {
	text, err := os.ReadFile(filepath.Join(input.Folder, sortedName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var found sorted
	if err := json.Unmarshal(text, &found); err != nil || !reflect.DeepEqual(found.Plan, now) {
		return nil, nil
	}
	in := &intake{
		input: input, decoder: movefile.NewDecoder(movefile.Options{Zone: input.Zone, Allowed: input.Allowed}),
		roots: &partition{filepath.Join(input.Folder, recordsName), make([]bucket, userBuckets+contentBuckets)},
	}
	if size, err := in.roots.size(); err != nil || size != found.Bytes {
		return nil, nil // records are lost; the files still have them
	}
	if in.findings, err = newFindings(input); err != nil {
		return nil, err
	}
	in.findings.report = found.Report
	in.findings.report.Files = input.Files
	for _, each := range found.Marks {
		in.findings.marks[each.At] = each.Mark
	}
	return in, nil
}

// open reads the journal, and opens it for more. A line that a crash cut off does not count.
func (j *journal) open() error {
	path := filepath.Join(j.folder, journalName)
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	j.file = file
	lines, whole := bufio.NewReader(file), int64(0)
	for {
		line, err := lines.ReadBytes('\n')
		var each finished
		if err != nil || json.Unmarshal(line, &each) != nil {
			break
		}
		whole += int64(len(line))
		j.keep(&each)
	}
	if err := file.Truncate(whole); err != nil {
		return err
	}
	_, err = file.Seek(whole, io.SeekStart)
	return err
}

// isFinished reports whether a pass over a bucket is finished. There is nothing to survey after it.
func (j *journal) isFinished(pass passName, bucket int) bool {
	if pass == passSurvey {
		pass = passRecords
	}
	return slices.ContainsFunc(j.finished, func(f *finished) bool { return f.Pass == pass && f.Bucket == bucket })
}

// newest returns the bucket that finished last, of those with users or with contents; found is false if
// there is none.
func (j *journal) newest(isUsers bool) (bucket int, found bool) {
	for _, each := range slices.Backward(j.finished) {
		if each.Pass == passRecords && each.Records > 0 && (each.Bucket < userBuckets) == isUsers {
			return each.Bucket, true
		}
	}
	return 0, false
}

// forget begins anew: no bucket is finished.
func (j *journal) forget() error {
	j.finished = nil
	if err := j.file.Truncate(0); err != nil {
		return err
	}
	_, err := j.file.Seek(0, io.SeekStart)
	return err
}

// withoutQuotes returns the buckets in which quotes were missing in the first pass.
func (j *journal) withoutQuotes() (buckets []int) {
	for _, each := range j.finished {
		if each.Pass == passRecords && each.QuotesMissing > 0 {
			buckets = append(buckets, each.Bucket)
		}
	}
	return buckets
}

// keep keeps what became of a bucket, with its first refusals.
func (j *journal) keep(f *finished) {
	f.Refusals = f.Refusals[:min(len(f.Refusals), maxRefusals)]
	j.finished = append(j.finished, f)
}

// finish notes that a bucket is finished. The services have stored it, so that the line may be lost.
func (j *journal) finish(f *finished) error {
	line, err := json.Marshal(f) // #nosec G117 -- a pass through the files, no password
	if err != nil {
		return err
	}
	j.keep(f)
	_, err = j.file.Write(append(line, '\n'))
	return err
}

// refusals calls do for everything that a service refused.
func (j *journal) refusals(do func(Refusal) error) error {
	if _, err := j.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	for lines := json.NewDecoder(bufio.NewReader(j.file)); ; {
		var each finished
		if err := lines.Decode(&each); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		for _, refusal := range each.Refusals {
			if err := do(refusal); err != nil {
				return err
			}
		}
	}
}

// close closes the files, and lets another import have the folder.
func (j *journal) close() (err error) {
	for _, file := range []*os.File{j.file, j.lock} {
		if file != nil {
			err = errors.Join(err, file.Close())
		}
	}
	return err
}
