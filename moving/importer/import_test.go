package importer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/internal/parent"
	"github.com/waybook/waybook/moving/format"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
)

// stored are the records of the four services of a test, which follow the contract.
type stored struct {
	mu      sync.Mutex
	records map[string]*moveinv1.Record
	deleted map[string]bool
	calls   int
	// fail may fail a call before it stores anything, and after may fail one that has stored everything.
	fail, after func(call int, first format.Kind) error
}

// service takes their records.
type service struct {
	moveinv1.MoveInServiceClient
	*stored
}

func kindOf(record *moveinv1.Record) format.Kind {
	m := record.ProtoReflect()
	return format.Kind(m.WhichOneof(m.Descriptor().Oneofs().Get(0)).Name())
}

// nameOf returns what identifies a record among all.
func nameOf(record *moveinv1.Record) string {
	of := format.SubjectOf(record)
	return fmt.Sprint(kindOf(record), of.Parent, " ", of.ID)
}

// MoveIn stores what is not there.
func (s service) MoveIn(ctx context.Context, request *moveinv1.MoveInRequest, _ ...grpc.CallOption) (*moveinv1.MoveInResponse, error) {
	if ctx.Err() != nil {
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	if s.fail != nil {
		if err := s.fail(s.calls, kindOf(request.GetRecords()[0])); err != nil {
			return nil, err
		}
	}
	if n := len(request.GetRecords()); n < 1 || n > maxRecords || n > 1 && proto.Size(request) > maxBytes+8 {
		return nil, status.Errorf(codes.InvalidArgument, "%d records of %d bytes", n, proto.Size(request))
	}
	reply := &moveinv1.MoveInResponse{}
	added := map[string]*moveinv1.Record{}
	first, _ := parent.OfRecord(request.GetRecords()[0])
	for _, record := range request.GetRecords() {
		if kind, _ := parent.OfRecord(record); kind != first {
			return nil, status.Errorf(codes.InvalidArgument, "a %s with a %s", kind, first)
		}
		reply.Results = append(reply.Results, s.moveIn(record, added))
	}
	if !request.GetValidateOnly() {
		maps.Copy(s.records, added)
	}
	if s.after != nil {
		return reply, s.after(s.calls, kindOf(request.GetRecords()[0]))
	}
	return reply, nil
}

func (s service) moveIn(record *moveinv1.Record, added map[string]*moveinv1.Record) *moveinv1.Result {
	name := nameOf(record)
	if s.deleted[name] {
		return &moveinv1.Result{Outcome: moveinv1.Outcome_OUTCOME_DELETED}
	}
	if there := s.records[name]; there != nil {
		if !proto.Equal(there, record) {
			return &moveinv1.Result{Outcome: moveinv1.Outcome_OUTCOME_DIFFERENT, Fields: []string{"title", "lat"}}
		}
		return &moveinv1.Result{Outcome: moveinv1.Outcome_OUTCOME_UNCHANGED}
	}
	var needed []string
	if of := format.SubjectOf(record); of.Parent != "" {
		needed = append(needed, string(of.Parent)+" "+of.ParentID)
	}
	for _, id := range []int64{record.GetAlbum().GetOwnerId(), record.GetLandmark().GetOwnerId(), record.GetEntry().GetAuthorId(), record.GetSession().GetUserId()} {
		if id != 0 {
			needed = append(needed, fmt.Sprint("user ", id))
		}
	}
	if quoted := record.GetEntry().GetQuotedId(); quoted != "" {
		needed = append(needed, "entry "+quoted)
	}
	for _, each := range needed {
		if s.records[each] == nil && added[each] == nil {
			return &moveinv1.Result{Outcome: moveinv1.Outcome_OUTCOME_REFUSED, Reason: "NOT_FOUND", Message: "no " + each}
		}
	}
	added[name] = record
	return &moveinv1.Result{Outcome: moveinv1.Outcome_OUTCOME_INSERTED}
}

func newStored() *stored {
	return &stored{records: map[string]*moveinv1.Record{}, deleted: map[string]bool{}}
}

// options returns those of an import of files into the services.
func (s *stored) options(t *testing.T, paths ...string) (Options, *strings.Builder) {
	in, problems := input(t, false, paths...)
	return Options{Input: in, Service: service{stored: s}, Workers: 4}, problems
}

// many returns lines of many kinds, whose entries quote each other.
func many(users int) (all []string) {
	var content, children []string
	for n := 1; n <= users; n++ {
		id := fmt.Sprint(n)
		all = append(all, with(user, "id", id, "email", ""), with(reward, "id", id, "user_id", id))
		quoted := ""
		if n > 1 {
			quoted = fmt.Sprint(n - 1)
		}
		content = append(content, with(album, "id", id, "owner_id", id), with(entry, "id", id, "author_id", id, "quoted_id", quoted), with(landmark, "id", id, "owner_id", id))
		children = append(children, with(photo, "id", id, "album_id", id), with(comment, "id", id, "entry_id", id, "author_id", id),
			with(ballot, "entry_id", id, "user_id", id), with(praise, "landmark_id", id, "user_id", id))
	}
	end := fmt.Sprintf(`{"kind":"end","user":%[1]d,"reward":%[1]d,"album":%[1]d,"entry":%[1]d,"landmark":%[1]d,"photo":%[1]d,"comment":%[1]d,"ballot":%[1]d,"recommendation":%[1]d}`, users)
	return append(slices.Concat(all, content, children), end)
}

func TestWhatServicesHaveIsInsertedOnceAndReported(t *testing.T) {
	s := newStored()
	path := write(t, many(1500)...)
	for n, want := range []Counts{{"inserted": 1500}, {"unchanged": 1500}} {
		options, problems := s.options(t, path)
		options.Verify = n == 1
		report, err := Import(t.Context(), options, quiet())
		if err != nil || problems.Len() > 0 || len(s.records) != 9*1500 {
			t.Fatalf("%v, %d records, %s", err, len(s.records), problems)
		}
		for kind, counts := range report.Counts {
			for _, column := range Columns()[2:] {
				if counts[column] != want[column] {
					t.Errorf("run %d, %s: %v", n, kind, counts)
				}
			}
		}
	}
	delete(s.records, "photoalbum 7")
	s.records["album 8"].GetAlbum().Title = "new"
	s.deleted["entry 9"] = true
	delete(s.records, "entry 9")
	delete(s.records, "commententry 9")
	options, problems := s.options(t, path)
	options.Verify = true
	if report, err := Import(t.Context(), options, quiet()); err != nil || report.Unmended() != 4 || len(s.records) != 9*1500-3 {
		t.Errorf("%v, %v, %d records", report, err, len(s.records))
	}
	want := []string{
		"3008 entry 9 deleted", "3004 album 8 different title,lat", "7525 photo 7 absent", "7534 comment 9 refused",
	}
	got := lines(t, problems.String())
	for n := range got {
		_, got[n], _ = strings.Cut(got[n], " ")
		_, want[n], _ = strings.Cut(want[n], " ")
	}
	if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		t.Errorf("%s", problems)
	}
}

func TestARequestIsOneMebibyteAtMost(t *testing.T) {
	all := []string{user}
	for n := range 30 {
		all = append(all, with(entry, "id", fmt.Sprint(n+1), "content", `"`+strings.Repeat("x", 99_000)+`"`))
	}
	s := newStored()
	options, _ := s.options(t, write(t, append(all, `{"kind":"end","user":1,"entry":30}`)...))
	if report, err := Import(t.Context(), options, quiet()); err != nil || report.Unmended() > 0 || len(s.records) != 31 || s.calls != 4 {
		t.Errorf("%v, %v, %d records in %d calls", report, err, len(s.records), s.calls)
	}
}

func TestAFailedImportIsRepeated(t *testing.T) {
	whole := newStored()
	path := write(t, many(40)...)
	options, _ := whole.options(t, path)
	if _, err := Import(t.Context(), options, quiet()); err != nil {
		t.Fatal(err)
	}
	killed, inserted := newStored(), int64(0)
	for n := range 3*whole.calls + 1 {
		killed.calls = 0
		// Every other call stores everything before it fails.
		failed := func(call int, _ format.Kind) error {
			if call == n/2 {
				return status.Error(codes.Internal, "killed")
			}
			return nil
		}
		if killed.fail, killed.after = failed, nil; n%2 == 1 {
			killed.fail, killed.after = nil, failed
		}
		options, _ := killed.options(t, path)
		report, err := Import(t.Context(), options, quiet())
		if report == nil || (err == nil) != (n/2 == 0 || n/2 > whole.calls) {
			t.Fatalf("run %d: %v, %v", n, report, err)
		}
		for _, counts := range report.Counts {
			inserted += counts["inserted"]
		}
	}
	if inserted > 9*40 || !maps.EqualFunc(killed.records, whole.records, func(a, b *moveinv1.Record) bool { return proto.Equal(a, b) }) {
		t.Errorf("%d and %d records, %d inserted", len(killed.records), len(whole.records), inserted)
	}
}

// What needs a record waits until that is acknowledged, and not only sent.
func TestAServiceThatIsAwayIsAskedAgain(t *testing.T) {
	s, wasAway := newStored(), map[format.Kind]bool{}
	s.fail = func(_ int, first format.Kind) error {
		if wasAway[first] {
			return nil
		}
		wasAway[first] = true
		return status.Error(codes.Unavailable, "away")
	}
	s.after = func(call int, _ format.Kind) error {
		return map[int]error{3: status.Error(codes.Aborted, "again"), 6: status.Error(codes.DeadlineExceeded, "late")}[call]
	}
	const users = 1100
	options, problems := s.options(t, write(t, many(users)...))
	if report, err := Import(t.Context(), options, quiet()); err != nil || report.Unmended() > 0 || len(s.records) != 9*users {
		t.Errorf("%v, %d records, %.1000s", err, len(s.records), problems)
	}
}

func TestRepairedRecordsAreSent(t *testing.T) {
	s := newStored()
	options, problems := s.options(t, write(t, user, with(user, "id", "13"), with(album, "create_time", `"0000-00-00 00:00:00"`), with(entry, "quoted_id", "7"),
		with(comment, "entry_id", "", "album_id", "5", "create_time", "", "author_id", "99"), `{"kind":"end","user":2,"album":1,"entry":1,"comment":1}`))
	options.Input.Repair = true
	report, err := Import(t.Context(), options, quiet())
	if err != nil || report.Unmended() > 0 || len(s.records) != 5 || strings.Count(problems.String(), "\n") != 5 {
		t.Fatalf("%v, %d records, %s", err, len(s.records), problems)
	}
	created := time.Date(2006, 3, 5, 9, 7, 31, 0, time.UTC) // the user's
	c := s.records["commentalbum 77"].GetComment()
	if got := s.records["album 5"].GetAlbum().GetCreateTime().AsTime(); !got.Equal(created) || !c.GetCreateTime().AsTime().Equal(created) {
		t.Errorf("%v and %v", got, c.GetCreateTime().AsTime())
	}
	if second := s.records["user 13"].GetUser(); second.GetEmail() != "" || second.GetPasswordHash() != "" {
		t.Errorf("two users have one address: %v", second)
	}
	if quoted := s.records["entry 8"].GetEntry().GetQuotedId(); quoted != "" || c.GetAuthorId() != 99 {
		t.Errorf("quotes %q; by %d", quoted, c.GetAuthorId())
	}
}

// A test of what must not be sent: nothing is, and the error says why.
func TestNothingIsImported(t *testing.T) {
	folder := t.TempDir()
	pipe := filepath.Join(folder, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	packed := filepath.Join(folder, "broken.gz")
	if err := os.WriteFile(packed, []byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"), 0o600); err != nil {
		t.Fatal(err)
	}
	whole := write(t, all()...)
	for what, test := range map[string]struct {
		paths []string
		want  string
	}{
		"standard input":           {[]string{whole, "-"}, "no regular file"},
		"a pipe":                   {[]string{whole, pipe}, pipe + " is no regular file"},
		"a folder":                 {[]string{whole, folder}, "no regular file"},
		"no file":                  {[]string{whole, folder + "/none"}, "no such file"},
		"a file without its end":   {[]string{whole, packed}, "unexpected EOF"},
		"no end record":            {[]string{write(t, user)}, ErrIncomplete.Error()},
		"an end record of another": {[]string{whole, write(t, with(user, "id", "3", "email", ""))}, ErrIncomplete.Error()},
	} {
		s := newStored()
		options, _ := s.options(t, test.paths...)
		if _, err := Import(t.Context(), options, quiet()); err == nil || !strings.Contains(err.Error(), test.want) || s.calls > 0 {
			t.Errorf("%s: %v, %d calls", what, err, s.calls)
		}
	}
	s := newStored()
	options, _ := s.options(t, write(t, user))
	options.IsWhole = true
	if report, err := Import(t.Context(), options, quiet()); err != nil || report.Unmended() > 0 || len(s.records) != 1 {
		t.Errorf("%v, %v", report, err)
	}
}

func TestAFileThatChangesBetweenItsReadingsIsReported(t *testing.T) {
	path := write(t, all()...)
	s := newStored()
	s.fail = func(int, format.Kind) error { return os.Chtimes(path, time.Time{}, time.Unix(1, 0)) }
	options, _ := s.options(t, path)
	if _, err := Import(t.Context(), options, quiet()); err == nil || !strings.Contains(err.Error(), "changed while they were read") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.fail = func(int, format.Kind) error { cancel(); return nil }
	if _, err := Import(ctx, options, quiet()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
