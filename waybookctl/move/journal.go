package move

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"github.com/waybook/waybook/waybookctl/atomicfile"
	"github.com/waybook/waybook/waybookctl/movefile"
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
	Removed       map[movefile.Kind]int64    `json:"removed,omitempty"`
	Refusals      []Refusal                  `json:"refusals,omitempty"`
	RefusalCount  int64                      `json:"refusal_count,omitempty"`
	QuotesMissing int64                      `json:"quotes_missing,omitempty"`
	Repeated      int64                      `json:"repeated,omitempty"`
}

// journal knows which buckets are finished.
type journal struct {
	folder   string
	file     *os.File // nil in a dry run
	finished []*finished
}

// plan says what an import does. An import with another plan begins anew.
type plan struct {
	Place   string           `json:"place"`
	Update  bool             `json:"update"`
	Zone    string           `json:"zone"`
	Allowed movefile.Allowed `json:"allowed"`
	Files   []inputFile      `json:"files"`
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
}

type marked struct {
	At   movefile.Position `json:"at"`
	Mark mark              `json:"mark"`
}

const (
	sortedName  = "sorted.json"
	journalName = "journal"
	// markName is the file that marks a folder as that of an import.
	markName = "waybook-import"
)

// begin reads the files, or finds them read, and opens the journal.
func begin(ctx context.Context, options ImportOptions, report progress.Reporter) (*journal, *intake, error) {
	folder := options.Input.Folder
	j := &journal{folder: folder}
	now, canResume, err := planOf(options)
	if err != nil {
		return nil, nil, err
	}
	if canResume {
		in, err := resume(options.Input, now)
		if err != nil {
			return nil, nil, err
		}
		if in != nil {
			report.Start("importing", progress.Records, in.findings.report.Lines)
			report.Note("going on with the import that ended early; its journal is in " + folder)
			report.Finish()
			return j, in, j.open()
		}
	}
	if err := empty(folder); err != nil {
		return nil, nil, err
	}
	in, err := read(ctx, options.Input, keepRecords, report)
	if err != nil || !canResume {
		return j, in, err
	}
	found := sorted{Plan: now, Report: in.findings.report}
	for at, mark := range in.findings.marks {
		found.Marks = append(found.Marks, marked{at, mark})
	}
	err = atomicfile.Write(filepath.Join(folder, sortedName), 0o600, func(file io.Writer) error { return json.NewEncoder(file).Encode(found) })
	if err != nil {
		return nil, nil, err
	}
	return j, in, j.open()
}

// planOf returns the plan of an import. Standard input cannot be recognised, and a dry run does not
// resume.
func planOf(options ImportOptions) (p plan, canResume bool, err error) {
	p = plan{Place: options.Place, Update: options.Update, Zone: options.Input.Zone.String(), Allowed: options.Input.Allowed}
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
		input: input, findings: newFindings(input.Files),
		decoder: movefile.NewDecoder(movefile.Options{Zone: input.Zone, Allowed: input.Allowed}),
		roots:   &partition{folder: filepath.Join(input.Folder, recordsName)},
	}
	in.findings.report = found.Report
	in.findings.report.Files = input.Files
	for _, each := range found.Marks {
		in.findings.marks[each.At] = each.Mark
	}
	return in, nil
}

// empty makes a folder that of an import: it removes what an earlier import left there, and marks the
// folder. If anything there is not of an import, it removes nothing and returns an error.
func empty(folder string) error {
	if err := clearFolder(folder); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, markName), nil, 0o600)
}

// clearFolder removes what an import left in a folder, the mark last.
func clearFolder(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	isMarked := slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == markName })
	parts := []string{sortedName, journalName, identitiesName, recordsName, markName}
	for _, entry := range entries {
		if !isMarked || !slices.Contains(parts, entry.Name()) {
			return fmt.Errorf("%s holds %s, which no import made; name another folder", folder, entry.Name())
		}
	}
	for _, name := range parts {
		if err := os.RemoveAll(filepath.Join(folder, name)); err != nil {
			return err
		}
	}
	return nil
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
		j.finished = append(j.finished, &each)
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

// withoutQuotes returns the buckets in which quotes were missing in the first pass.
func (j *journal) withoutQuotes() (buckets []int) {
	for _, each := range j.finished {
		if each.Pass == passRecords && each.QuotesMissing > 0 {
			buckets = append(buckets, each.Bucket)
		}
	}
	return buckets
}

// finish notes that a bucket is finished. The services have stored it, so that the line may be lost.
func (j *journal) finish(f *finished) error {
	j.finished = append(j.finished, f)
	if j.file == nil {
		return nil
	}
	line, err := json.Marshal(f) // #nosec G117 -- a pass through the files, no password
	if err != nil {
		return err
	}
	_, err = j.file.Write(append(line, '\n'))
	return err
}

func (j *journal) close() error {
	if j.file == nil {
		return nil
	}
	return j.file.Close()
}

// remove removes what an import left in its folder, and the folder.
func remove(folder string) error {
	if err := clearFolder(folder); err != nil {
		return err
	}
	return os.Remove(folder)
}
