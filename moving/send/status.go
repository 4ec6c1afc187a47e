package send

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/waybook/waybook/moving/movefile"
	"github.com/waybook/waybook/waybookctl/atomicfile"
	"github.com/waybook/waybook/waybookctl/progress"
)

// Status is how far an import is, or what became of the last one. It has no content of the files.
type Status struct {
	// Began is when the import began, or was resumed, and Updated when it was last seen.
	Began   time.Time `json:"began"`
	Updated time.Time `json:"updated"`
	// HasEnded is false while it runs, and if it was killed. Failure says why it failed.
	HasEnded bool   `json:"has_ended"`
	Failure  string `json:"failure,omitempty"`
	// Stage is as in progress.Reporter. Done and Total are its units, and PerSecond is its rate.
	Stage     string `json:"stage"`
	Unit      string `json:"unit"`
	Done      int64  `json:"done"`
	Total     int64  `json:"total"`
	PerSecond int64  `json:"per_second"`
	// Note is the last event of the stage, such as the reason for a delay.
	Note string `json:"note,omitempty"`
	// Kinds has the users and the contents with what belongs to them.
	Kinds []KindStatus `json:"kinds"`
	// Problems counts those in the files, and Refusals what a service refused.
	Problems      int64 `json:"problems"`
	Refusals      int64 `json:"refusals"`
	QuotesMissing int64 `json:"quotes_missing"`
}

// KindStatus counts the roots of a kind: those in the files, and those that were handled, by their outcome.
type KindStatus struct {
	Kind     movefile.Kind    `json:"kind"`
	Total    int64            `json:"total"`
	Done     int64            `json:"done"`
	Outcomes map[string]int64 `json:"outcomes"`
}

const (
	// statusEvery is the shortest time between two writes of a status within a stage.
	statusEvery = 2 * time.Second
	// maxStatusBytes and maxStatusText bound the file and its texts.
	maxStatusBytes = 64 << 10
	maxStatusText  = 1000
)

// statusPath returns the path of the status of the import in a folder. It stays when the folder is removed.
func statusPath(folder string) string { return filepath.Clean(folder) + ".status.json" }

// ReadStatus returns the status of the last import whose folder is or was there, and nil if there is none.
func ReadStatus(folder string) (*Status, error) {
	path := statusPath(folder)
	file, err := os.Open(path) // #nosec G304 -- the operator names it
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var found Status
	err = json.NewDecoder(io.LimitReader(file, maxStatusBytes)).Decode(&found)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("%s is not the status of an import: %w", path, err)
	}
	return &found, nil
}

// statusKeeper is a reporter that keeps the status of an import in a file, too. Only one goroutine may use it.
type statusKeeper struct {
	progress.Reporter
	path   string
	status Status
	// first and from are what was done when the stage was first measured, and when that was.
	first int64
	from  time.Time
	// failed is the first failure to write the file, which does not end the import.
	failed error
}

// keepStatus returns a reporter that keeps the status of the import in a folder.
func keepStatus(folder string, to progress.Reporter) *statusKeeper {
	return &statusKeeper{Reporter: to, path: statusPath(folder), status: Status{Began: time.Now(), Kinds: []KindStatus{}}}
}

// Start begins a stage.
func (k *statusKeeper) Start(stage string, unit progress.Unit, total int64) {
	k.Reporter.Start(stage, unit, total)
	k.status.Stage, k.status.Unit, k.status.Total, k.status.Done, k.status.PerSecond, k.status.Note = stage, unit.String(), total, 0, 0, ""
	k.from = time.Time{}
	k.write()
}

// Reach reports how much of the stage is done. What an import that is resumed has done before is no part of the rate.
func (k *statusKeeper) Reach(done int64) {
	k.Reporter.Reach(done)
	now := time.Now()
	if done > k.status.Done { // what delayed it is over
		k.status.Note = ""
	}
	if k.status.Done = done; k.from.IsZero() {
		k.first, k.from = done, now
	}
	if now.Sub(k.status.Updated) >= statusEvery {
		k.status.PerSecond = int64(float64(done-k.first) / max(now.Sub(k.from), time.Millisecond).Seconds())
		k.write()
	}
}

// Note reports an event.
func (k *statusKeeper) Note(text string) {
	k.Reporter.Note(text)
	k.status.Note = text[:min(len(text), maxStatusText)]
	k.write()
}

// count takes over the numbers of a summary.
func (k *statusKeeper) count(s *Summary) {
	k.status.Kinds = k.status.Kinds[:0]
	for _, kind := range []movefile.Kind{movefile.KindUser, movefile.KindAlbum, movefile.KindEntry, movefile.KindLandmark} {
		each := KindStatus{Kind: kind, Total: s.Report.Records[kind], Outcomes: map[string]int64{}}
		if each.Total == 0 {
			continue
		}
		for outcome, n := range s.Outcomes[kind] {
			if each.Done += n; n > 0 {
				each.Outcomes[Outcome(outcome).String()] = n
			}
		}
		k.status.Kinds = append(k.status.Kinds, each)
	}
	k.status.Problems, k.status.Refusals, k.status.QuotesMissing = s.Report.Problems(), s.RefusalCount, s.QuotesMissing
}

// end notes that the import has ended, and reports why its status could not be kept.
func (k *statusKeeper) end(err error) {
	if k == nil {
		return
	}
	if k.status.HasEnded = true; err != nil {
		k.status.Failure = err.Error()[:min(len(err.Error()), maxStatusText)]
	}
	k.write()
	if k.failed != nil {
		k.Reporter.Note(fmt.Sprintf("%s was not kept: %v", k.path, k.failed))
	}
}

func (k *statusKeeper) write() {
	k.status.Updated = time.Now()
	err := atomicfile.Write(k.path, 0o600, func(file io.Writer) error { return json.NewEncoder(file).Encode(k.status) })
	if k.failed == nil {
		k.failed = err
	}
}
