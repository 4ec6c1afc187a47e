// Package smallids draws identifiers for clients that keep them in 32 bits. What Waybook makes
// gets the next number of its kind, and the identifier that follows from that number as from one
// of an old service: see id.OfOld. So one space has the numbers of before and those of new
// content, and replies show both with -ids old.
//
// Each kind has a counter in the store. A number is taken from it by one write before anything is
// stored under it, so no crash gives it twice. A process takes as many as its callers wait for, so
// numbers are in the order in which they are drawn, by whatever process; a process that has the
// store alone takes more at a time.
package smallids

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/platform/apierror"
)

// Max is the highest number: 31 bits.
const Max = 1<<31 - 1

// Flag is the name of the setting.
const Flag = "small-ids-from"

// A store that was put back, in whatever way, does not know which numbers were given from a later
// state of it. So numbers have a schedule, which is stored with the counter: no number is given
// before its time, and a start leaves out all whose time has come. Two lives of one state have the
// same schedule, and the later one begins where the earlier one can't have been yet, however often
// either was started.
var (
	// allowed bounds the numbers that are given.
	allowed = growth{perSecond: 128, burst: 1 << 13}
	// spare bounds those that are left out, so starts and wrong clocks don't use up all. A start
	// leaves out half of it at most, so the next one can leave out some too.
	spare = growth{perSecond: 8, burst: 1 << 25}
)

// maxLeftOut bounds what a start leaves out if its clock is wrong: a thirty-second of all numbers.
const maxLeftOut = 1 << 26

// maxAhead is how far a counter may be ahead of its schedule. If it is further at a start, the
// clock was put back, and the schedule begins anew: otherwise no start would leave out a number
// until the clock is again where it was.
const maxAhead = 10 * time.Second

// taken is how many numbers a process that has the store alone takes ahead.
const taken = 64

// Check reports a setting out of its range; 0 is off.
func Check(from int64) error {
	if from < 0 || from > Max {
		return fmt.Errorf("-%s is %d; it must be from 1 to %d, or 0 for none", Flag, from, Max)
	}
	return nil
}

// counter is the stored form of a counter. Its id is the name of the collection.
type counter struct {
	Collection string `bson:"_id"`
	// From is the first number, and Last the highest that was taken; From - 1 before the first.
	From int64 `bson:"from"`
	Last int64 `bson:"last"`
	// Allowed is the highest number whose time has come, and Spare how many may be left out. Both
	// are what they were at the Unix epoch if they have grown ever since.
	Allowed int64 `bson:"allowed"`
	Spare   int64 `bson:"spare"`
}

func (c *counter) isUsed() bool { return c.Last >= c.From }

// Spec declares the counters of a service.
func Spec(service string) docstore.Spec {
	return docstore.Spec{Name: service + "_small_ids", ID: docstore.String}
}

// maxCounters bounds how many counters are read. A service has fewer collections.
const maxCounters = 100

// Setting is the setting of a program. It may be used concurrently. A nil Setting is off, and
// looks at no store.
type Setting struct {
	from int64
	used func(collection string, share float64)
	// startedAt is the time of the clock when the program started, and started the moment. A clock
	// that is put forward or back later moves no schedule.
	startedAt, started time.Time

	mu     sync.Mutex
	opened []*Counter
}

// New returns the setting that numbers begin with from; 0 is off. used is called with the share of
// all numbers that a collection has used.
func New(from int64, now func() time.Time, used func(collection string, share float64)) *Setting {
	return &Setting{from: from, used: used, startedAt: now(), started: time.Now()}
}

func (s *Setting) now() time.Time { return s.startedAt.Add(time.Since(s.started)) }

// IsOn reports whether there are small identifiers.
func (s *Setting) IsOn() bool { return s != nil && s.from != 0 }

// counters are the stored ones. Who knows the fields of Counter does not compile the methods of
// the collection again, because it is behind an interface (docs/decisions/repository.md).
type counters interface {
	Insert(ctx context.Context, documents ...counter) error
	Update(ctx context.Context, collection string, change func(*counter) error) (counter, error)
	Modify(ctx context.Context, collection string, how docstore.Edit) (counter, error)
}

// refuseUsed returns an error if a service has a counter that was used. It changes nothing.
func refuseUsed(ctx context.Context, store docstore.Engine, service string) error {
	inspection, err := store.Inspect(ctx, Spec(service))
	if err != nil || !inspection.Exists {
		return err
	}
	documents, _, err := inspection.Table.Scan(ctx,
		docstore.Scan{Where: docstore.All(docstore.IDIndex), Limit: maxCounters})
	if err != nil {
		return err
	}
	for _, document := range documents {
		from, _ := document.Lookup("from").Int64OK()
		if last, _ := document.Lookup("last").Int64OK(); last >= from {
			return fmt.Errorf("the store has small identifiers from %d on: start the program with -%s %d", from, Flag,
				from)
		}
	}
	return nil
}

// Counter draws the numbers of one collection. It may be used concurrently. A nil Counter says
// that the setting is off.
type Counter struct {
	setting    *Setting
	all        counters
	collection string
	// ahead is how many numbers are taken beyond those that calls want.
	ahead int64

	// wanted is how many numbers all calls want.
	wanted atomic.Int64
	// turn is a semaphore of one, held by the call that draws. It guards the fields below.
	turn chan struct{}
	// next and end bound the numbers that were taken ahead.
	next, end int64
	isUsedUp  bool
	// allowed is counter.Allowed.
	allowed int64
}

// Counter opens the counter of a collection of a service; nil if the setting is off. Then the
// store must have none that was used. hasFrom reports whether the collection has an identifier
// that is not below the one of a number. Until the first number is drawn, it must have none.
func (s *Setting) Counter(
	ctx context.Context, store docstore.Engine, service, collection string,
	hasFrom func(ctx context.Context, number int64) (bool, error),
) (*Counter, error) {
	switch {
	case s == nil:
		return nil, nil
	case s.from == 0:
		return nil, refuseUsed(ctx, store, service)
	}
	all, err := docstore.Open[string, counter](ctx, store, Spec(service))
	if err != nil {
		return nil, err
	}
	c := &Counter{setting: s, all: all, collection: collection, turn: make(chan struct{}, 1)}
	if store.IsLocal() {
		c.ahead = taken
	}
	stored, isNew, err := c.stored(ctx)
	if err != nil {
		return nil, err
	}
	if stored.isUsed() && stored.From != s.from {
		return nil, fmt.Errorf("the small identifiers of %s begin with %d: start the program with -%s %d", collection,
			stored.From, Flag, stored.From)
	}
	if !stored.isUsed() {
		switch has, err := hasFrom(ctx, s.from); {
		case err != nil:
			return nil, err
		case has:
			return nil, fmt.Errorf("%s has identifiers from %d on, or larger ones that Waybook drew: -%s is for a "+
				"store without them", collection, s.from, Flag)
		}
	}
	if !isNew {
		if stored, err = c.begin(ctx); err != nil {
			return nil, err
		}
	}
	c.report(stored.Last)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened = append(s.opened, c)
	return c, nil
}

// stored returns the stored counter. It stores one if there is none, or if that of another setting
// was not used. One that was not used may be that of a state that was put back, so only a new one
// is like none.
func (c *Counter) stored(ctx context.Context) (stored counter, isNew bool, err error) {
	now := c.setting.now()
	fresh := counter{
		Collection: c.collection, From: c.setting.from, Last: c.setting.from - 1,
		Allowed: c.setting.from + allowed.burst - allowed.by(now), Spare: spare.burst - spare.by(now),
	}
	taken, err := docstore.Taken(c.all.Insert(ctx, fresh))
	if err != nil || len(taken) == 0 {
		return fresh, err == nil, err
	}
	stored, err = c.all.Update(ctx, c.collection, func(stored *counter) error {
		if isNew = !stored.isUsed() && stored.From != c.setting.from; isNew {
			*stored = fresh
		}
		return nil
	})
	return stored, isNew, err
}

// begin leaves out the numbers that a later state of the store may have given.
func (c *Counter) begin(ctx context.Context) (counter, error) {
	now := c.setting.now()
	return c.all.Update(ctx, c.collection, func(stored *counter) error {
		left := max(0, stored.Spare+spare.by(now)) // below 0 if the clock was put back
		leftOut := max(0, min(stored.Allowed+allowed.by(now)-stored.Last, left/2, maxLeftOut))
		stored.Last += leftOut
		if stored.Last-stored.Allowed > allowed.by(now.Add(maxAhead)) {
			stored.Allowed = stored.Last - allowed.by(now)
		}
		stored.Spare = left - leftOut - spare.by(now)
		stored.bound(now)
		return nil
	})
}

// bound takes from the allowances what exceeds their bursts.
func (c *counter) bound(now time.Time) {
	c.Allowed = min(c.Allowed, c.Last+allowed.burst-allowed.by(now))
	c.Spare = min(c.Spare, spare.burst-spare.by(now))
}

// advance takes numbers from the store, and notes their schedule.
func (c *Counter) advance(ctx context.Context, by int64) (before int64, err error) {
	stored, err := c.all.Modify(ctx, c.collection, docstore.Edit{
		Set: map[string]any{"last": docstore.Plus(by)}, Fields: []string{"last", "allowed"},
	})
	if err == nil {
		c.allowed = stored.Allowed
	}
	return stored.Last, err
}

func (c *Counter) report(last int64) { c.setting.used(c.collection, float64(min(last, Max))/Max) }

// Name is the name of the sweeper.
func (s *Setting) Name() string { return "small identifiers" }

// Sweep bounds what a start would leave out because the counters were open and little used.
func (s *Setting) Sweep(ctx context.Context) error {
	s.mu.Lock()
	opened := slices.Clone(s.opened)
	s.mu.Unlock()
	var failed []error
	for _, c := range opened {
		_, err := c.all.Update(ctx, c.collection, func(stored *counter) error {
			stored.bound(s.now())
			return nil
		})
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// Has reports whether an identifier follows from a number that Waybook draws, and not from one of
// an old service.
func (c *Counter) Has(identifier int64) bool {
	number, isNumber := id.Old(identifier)
	return c != nil && isNumber && number >= c.setting.from
}

// Admits reports whether content may be moved in with an old identifier: a number below those that
// Waybook draws.
func (c *Counter) Admits(oldID string) bool {
	number, isNumber := id.ParseOld(oldID)
	return c == nil || isNumber && number < c.setting.from
}

// NotAdmitted says which old identifiers Admits.
func (c *Counter) NotAdmitted() string {
	return "with -" + Flag + " " + strconv.FormatInt(c.setting.from, 10) + ", an old identifier is a number below that"
}

func errUsedUp() error {
	return apierror.New(codes.FailedPrecondition, "IDENTIFIERS_USED_UP", "all identifiers of 31 bits are used up")
}

// HasFrom reports whether a collection has an identifier that is at least from.
func HasFrom[T any](ctx context.Context, documents *docstore.Collection[int64, T], from int64) (bool, error) {
	found, err := documents.Page(ctx, docstore.Query{Where: docstore.All(docstore.IDIndex).FromID(from).Everywhere(),
		Limit: 1})
	return len(found.Documents) > 0, err
}
