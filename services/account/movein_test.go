package account

import (
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/platform/smallids"
	"github.com/waybook/waybook/internal/storetest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
)

var oldTime = timestamppb.New(time.Date(2009, 3, 1, 10, 0, 0, 0, time.UTC))

// oldAnn is a user with all fields, whose password is "hashcat".
func oldAnn() *moveinv1.User {
	return &moveinv1.User{Id: 7, Name: "Ann", IconUrl: "a.jpg", Email: "Ann@waybook.example", PasswordHash: md5OfHashcat, CreateTime: oldTime}
}

func oldSession(userID int64, name string) *moveinv1.Session {
	return &moveinv1.Session{
		UserId: userID, Idrand: tokenNamed(name), CreateTime: oldTime, ExpireTime: timestamppb.New(time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)),
	}
}

func oldReward(userID int64) *moveinv1.Reward {
	return &moveinv1.Reward{Id: "x", UserId: userID, Amount: 5}
}

// stranger is a user with the same password.
func stranger() *moveinv1.User {
	return &moveinv1.User{Id: 9, Name: "Ann", Email: "other@waybook.example", PasswordHash: md5OfHashcat}
}

// with returns a message that is changed.
func with[T proto.Message](message T, change func(T)) T {
	change(message)
	return message
}

// requestOf returns the request of users, sessions and rewards.
func requestOf(isDry bool, messages ...proto.Message) *moveinv1.MoveInRequest {
	request := &moveinv1.MoveInRequest{ValidateOnly: isDry}
	for _, each := range messages {
		record := (&moveinv1.Record{}).ProtoReflect()
		for n, fields := 0, record.Descriptor().Fields(); n < fields.Len(); n++ {
			if fields.Get(n).Message() == each.ProtoReflect().Descriptor() {
				record.Set(fields.Get(n), protoreflect.ValueOfMessage(each.ProtoReflect()))
			}
		}
		request.Records = append(request.Records, record.Interface().(*moveinv1.Record))
	}
	return request
}

// resultsOf moves records in. A result is its outcome with its reason and fields.
func (s *server) resultsOf(t testing.TB, isDry bool, messages ...proto.Message) string {
	t.Helper()
	var results []string
	request := requestOf(isDry, messages...)
	reply, err := s.MoveIn(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	for n, result := range reply.GetResults() {
		outcome := strings.TrimPrefix(result.GetOutcome().String(), "OUTCOME_")
		id := request.GetRecords()[n].GetUser().GetId()
		if outcome == "DELETED" || outcome == "REFUSED" {
			id = 0
		}
		if result.GetId() != id || (result.GetMessage() != "") != (outcome == "REFUSED") {
			t.Errorf("record %d: %v", n, result)
		}
		if field, _, isField := strings.Cut(result.GetMessage(), ": "); isField {
			result.Fields = append(result.Fields, field[strings.Index(field, ".")+1:])
		}
		results = append(results, strings.Join(strings.Fields(outcome+" "+result.GetReason()+" "+strings.Join(result.GetFields(), ",")), " "))
	}
	return strings.Join(results, ", ")
}

func (s *server) wantResults(t testing.TB, want string, messages ...proto.Message) {
	t.Helper()
	if got := s.resultsOf(t, false, messages...); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Each field of the contract is stored and compared, and each field of a document is filled. A field that this test does
// not know fails it.
func TestNoFieldOfAMovedRecordIsForgotten(t *testing.T) {
	others := map[protoreflect.Name]any{
		"name": "Bo", "icon_url": "b.jpg", "email": "bo@waybook.example", "password_hash": md5OfPassword, "id": "y", "idrand": tokenNamed("2"),
		"user_id": int64(8), "amount": int64(6), "create_time": timestamppb.Now().ProtoReflect(), "expire_time": timestamppb.New(oldTime.AsTime().AddDate(18, 0, 0)).ProtoReflect(),
	}
	for _, c := range []struct {
		// timeless is the record without times.
		record, timeless proto.Message
		stored           func(s *server) (any, error)
		// isZero are the fields of the stored document without a value, and results those other than "DIFFERENT field".
		isZero  []string
		results map[protoreflect.Name]string
	}{
		{
			oldAnn(), with(oldAnn(), func(u *moveinv1.User) { u.CreateTime = nil }), func(s *server) (any, error) { return s.users.Get(t.Context(), 7) }, []string{"Icon", "IsDisabled", "Hidden", "CredentialGeneration", "KeptSession"},
			map[protoreflect.Name]string{"id": "REFUSED EMAIL_TAKEN"},
		},
		{
			oldSession(7, "1"), &moveinv1.Session{UserId: 7, Idrand: tokenNamed("1")}, func(s *server) (any, error) { return s.sessions.Get(t.Context(), tokenID(tokenNamed("1"))) }, []string{"CredentialGeneration"},
			map[protoreflect.Name]string{"idrand": "INSERTED", "user_id": "REFUSED ID_TAKEN", "expire_time": "UNCHANGED", "create_time": "UNCHANGED"},
		},
		{
			oldReward(7), oldReward(7), func(s *server) (any, error) { return s.rewards.Get(t.Context(), rewardID(7, "old/x")) }, nil,
			map[protoreflect.Name]string{"id": "INSERTED", "user_id": "INSERTED"},
		},
	} {
		s := newBench(t).newServer(t)
		s.wantResults(t, "INSERTED, INSERTED", oldAnn(), &moveinv1.User{Id: 8, Name: "Bob"})
		s.resultsOf(t, false, c.record)
		s.wantResults(t, "UNCHANGED", c.record)
		s.wantResults(t, "UNCHANGED", c.timeless)
		stored, err := c.stored(s)
		if err != nil {
			t.Fatal(err)
		}
		for n := range reflect.TypeOf(stored).NumField() {
			name := reflect.TypeOf(stored).Field(n).Name
			if reflect.ValueOf(stored).Field(n).IsZero() != slices.Contains(c.isZero, name) {
				t.Errorf("%T: field %s is %v", stored, name, reflect.ValueOf(stored).Field(n))
			}
		}
		fields := c.record.ProtoReflect().Descriptor().Fields()
		for n := range fields.Len() {
			field, changed := fields.Get(n), proto.Clone(c.record).ProtoReflect()
			other := others[field.Name()]
			if field.Name() == "id" && field.Kind() == protoreflect.Int64Kind {
				other = int64(9)
			}
			if other == nil || !changed.Has(field) {
				t.Fatalf("%s: give the record and others a value", field.FullName())
			}
			changed.Set(field, protoreflect.ValueOf(other))
			want := c.results[field.Name()]
			if want == "" {
				want = "DIFFERENT " + string(field.Name())
			}
			if got := s.resultsOf(t, false, changed.Interface()); got != want {
				t.Errorf("%s: got %s, want %s", field.FullName(), got, want)
			}
			if again, err := c.stored(s); err != nil || again != stored {
				t.Errorf("%s: %v became %v, %v", field.FullName(), stored, again, err)
			}
		}
	}
}

func TestAMovedUserStaysAsTheUserIsHere(t *testing.T) {
	update := func(request *accountv1.UpdateUserRequest) func(*server, *bench, int64) error {
		return func(s *server, _ *bench, id int64) error {
			request.UserId = id
			_, err := s.UpdateUser(t.Context(), request)
			return err
		}
	}
	for name, c := range map[string]struct {
		change func(*server, *bench, int64) error
		want   string // of the user, a session and a reward
	}{
		"a new password": {update(&accountv1.UpdateUserRequest{Password: proto.String("a new password")}), "UNCHANGED, DELETED, INSERTED"},
		"a new name":     {update(&accountv1.UpdateUserRequest{Name: proto.String("Anna")}), "DIFFERENT name, INSERTED, INSERTED"},
		"a login with the old password": {func(s *server, _ *bench, _ int64) error {
			return s.logIn(t.Context(), "ann@waybook.example", "hashcat", "")
		}, "UNCHANGED, INSERTED, INSERTED"},
		"all sessions closed": {func(s *server, _ *bench, id int64) error {
			_, err := s.CloseAllSessions(t.Context(), &accountv1.CloseAllSessionsRequest{UserId: id})
			return err
		}, "UNCHANGED, DELETED, INSERTED"},
		"a deletion": {func(s *server, _ *bench, id int64) error { return s.delete(t, id) }, "DELETED, DELETED, DELETED"},
		"a deletion long ago": {func(s *server, b *bench, id int64) error {
			err := s.delete(t, id)
			for range 3 {
				b.advance(90 * 24 * time.Hour)
				err = errors.Join(err, s.Sweep(t.Context()))
			}
			if gone, _ := s.users.Deleted(t.Context(), []int64{id}); len(gone) > 0 {
				t.Error("the deletion is not forgotten")
			}
			return err
		}, "DELETED, DELETED, DELETED"},
	} {
		for _, id := range []int64{7, 1 << 40} { // small, and as large as those that are drawn
			t.Run(fmt.Sprint(name, " ", id), func(t *testing.T) {
				b := newBench(t)
				s := b.newServer(t)
				ann := with(oldAnn(), func(u *moveinv1.User) { u.Id = id })
				s.wantResults(t, "INSERTED", ann)
				if err := c.change(s, b, id); err != nil {
					t.Fatal(err)
				}
				opened := oldSession(id, "1")
				opened.ExpireTime = nil
				for _, isDry := range []bool{true, false} {
					if got := s.resultsOf(t, isDry, ann, opened, oldReward(id)); got != c.want {
						t.Errorf("dry %t: got %s, want %s", isDry, got, c.want)
					}
				}
				if _, err := s.users.Get(t.Context(), id); (err == nil) == strings.HasPrefix(c.want, "DELETED") {
					t.Errorf("the user: %v", err)
				}
			})
		}
	}
}

func (s *server) delete(t testing.TB, id int64) error {
	t.Helper()
	s.disable(t, id, true)
	_, err := s.DeleteUser(t.Context(), &accountv1.DeleteUserRequest{UserId: id})
	return err
}

func TestAMovedSessionThatIsClosedIsNeverOpenAgain(t *testing.T) {
	b := newBench(t)
	s := b.newServer(t)
	open, long, ended, endless := oldSession(7, "1"), oldSession(7, "2"), oldSession(7, "3"), oldSession(7, "4")
	long.ExpireTime, ended.ExpireTime = timestamppb.New(b.clock().AddDate(10, 0, 0)), timestamppb.New(b.clock())
	endless.ExpireTime = nil
	records := []proto.Message{open, long, endless, ended, oldAnn()}
	s.wantResults(t, "INSERTED, INSERTED, INSERTED, DELETED, INSERTED", records...)
	s.wantResults(t, "UNCHANGED, UNCHANGED, UNCHANGED, DELETED, UNCHANGED", records...)
	if got, err := s.sessions.Get(t.Context(), tokenID(tokenNamed("2"))); err != nil || got.ExpireMillis != b.clock().Add(400*24*time.Hour).UnixMilli() {
		t.Errorf("a long session is %v, %v", got, err)
	}
	for _, name := range []string{"1", "2", "4"} {
		if err := s.verifySession(t, &accountv1.VerifySessionRequest{UserId: 7, Token: tokenNamed(name)}); err != nil {
			t.Error(err)
		}
		if _, err := s.CloseSession(t.Context(), &accountv1.CloseSessionRequest{UserId: 7, Token: tokenNamed(name)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, wait := range []time.Duration{0, time.Hour, 400 * 24 * time.Hour, 400 * 24 * time.Hour} { // the ends that sessions have
		b.advance(wait)
		if err := s.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.wantResults(t, "DELETED, DELETED, DELETED, DELETED, UNCHANGED", records...)
		for _, name := range []string{"1", "2", "4"} {
			wantFault(t, s.verifySession(t, &accountv1.VerifySessionRequest{UserId: 7, Token: tokenNamed(name)}), codes.Unauthenticated, "LOGIN_REQUIRED")
		}
	}
}

func TestARecordThatCannotBeStoredIsRefusedAndNoOtherIs(t *testing.T) {
	wrongTime := &timestamppb.Timestamp{Seconds: 1 << 60}
	const local = 1 << 50 // stands for a user who is created here
	for name, c := range map[string]struct {
		record proto.Message
		want   string
	}{
		"no identifier":           {with(stranger(), func(u *moveinv1.User) { u.Id = 0 }), "INVALID_PARAMETER id"},
		"a blank name":            {with(stranger(), func(u *moveinv1.User) { u.Name = "\u200b " }), "INVALID_PARAMETER name"},
		"no XML":                  {with(stranger(), func(u *moveinv1.User) { u.Name = "a\x01" }), "INVALID_PARAMETER name"},
		"no address":              {with(stranger(), func(u *moveinv1.User) { u.Email = "#12" }), "INVALID_PARAMETER email"},
		"a password only":         {with(stranger(), func(u *moveinv1.User) { u.Email = "" }), "INVALID_PARAMETER password_hash"},
		"an unknown hash":         {with(stranger(), func(u *moveinv1.User) { u.PasswordHash = "plain text" }), "INVALID_PARAMETER password_hash"},
		"a wrong time":            {with(stranger(), func(u *moveinv1.User) { u.CreateTime = wrongTime }), "INVALID_PARAMETER create_time"},
		"a wrong end":             {with(oldSession(7, "9"), func(s *moveinv1.Session) { s.ExpireTime = wrongTime }), "INVALID_PARAMETER expire_time"},
		"a wrong beginning":       {with(oldSession(7, "9"), func(s *moveinv1.Session) { s.CreateTime = wrongTime }), "INVALID_PARAMETER create_time"},
		"a wrong secret":          {with(oldSession(7, "9"), func(s *moveinv1.Session) { s.Idrand = "X" }), "INVALID_PARAMETER idrand"},
		"a debt":                  {&moveinv1.Reward{Id: "1", UserId: 7, Amount: -1}, "INVALID_PARAMETER amount"},
		"an address of another":   {with(stranger(), func(u *moveinv1.User) { u.Email = "ANN@waybook.example" }), "EMAIL_TAKEN"},
		"a user made here":        {with(stranger(), func(u *moveinv1.User) { u.Id = local }), "ID_TAKEN"},
		"a session of nobody":     {oldSession(6, "2"), "USER_NOT_FOUND"},
		"a session of a new user": {oldSession(local, "2"), "USER_NOT_FOUND"},
		"a session of another":    {oldSession(8, "1"), "ID_TAKEN"},
		"a reward of nobody":      {oldReward(6), "USER_NOT_FOUND"},
		"a reward of a new user":  {oldReward(local), "USER_NOT_FOUND"},
	} {
		s := newBench(t).newServer(t)
		if err := s.users.Insert(t.Context(), user{ID: local, RequestKey: "x", EmailKey: noEmailKey(local), NameKey: "="}); err != nil {
			t.Fatal(err)
		}
		s.wantResults(t, "INSERTED, INSERTED", oldAnn(), oldSession(7, "1"))
		before := s.state(t)
		for _, isDry := range []bool{true, false} {
			if !slices.Equal(s.state(t), before) {
				t.Errorf("%s: a dry run stored %v", name, s.state(t))
			}
			if got, want := s.resultsOf(t, isDry, c.record, &moveinv1.User{Id: 8, Name: "Bob"}), "REFUSED "+c.want+", INSERTED"; got != want {
				t.Errorf("%s, dry %t: got %s, want %s", name, isDry, got, want)
			}
		}
	}
}

func TestARequestMayMixRecordsAndRepeatThem(t *testing.T) {
	b := newBench(t)
	deps := service.NewDeps(b.store, slog.New(slog.DiscardHandler))
	deps.Now, deps.Small = b.clock, smallids.New(1000, b.clock, func(string, float64) {})
	opened, err := New(t.Context(), deps, Config{Sessions: SessionLife{Total: time.Hour}})
	if err != nil {
		t.Fatal(err)
	}
	s := opened.(*server)
	records := []proto.Message{
		oldSession(7, "1"), oldAnn(), oldReward(7), &moveinv1.User{Id: 7, Name: "again"}, oldSession(8, "1"), oldReward(7), oldReward(8),
		&moveinv1.User{Id: 8, Name: "Bob", Email: "bo@waybook.example"}, &moveinv1.User{Id: 9, Name: "Bo", Email: "BO@waybook.example"}, oldReward(9),
		&moveinv1.User{Id: 1000, Name: "a user to come"}, oldSession(1000, "2"), &moveinv1.User{Id: 10, Name: "without an address"},
	}
	const want = "INSERTED, INSERTED, INSERTED, REFUSED REPEATED, REFUSED REPEATED, REFUSED REPEATED, INSERTED, " +
		"INSERTED, REFUSED EMAIL_TAKEN, REFUSED USER_NOT_FOUND, REFUSED ID_NOT_SMALL, REFUSED USER_NOT_FOUND, INSERTED"
	for _, isDry := range []bool{true, false} {
		if got := s.resultsOf(t, isDry, records...); got != want {
			t.Errorf("dry %t: got %s, want %s", isDry, got, want)
		}
	}
}

// someRecords are of the user oldAnn, and of another one.
func someRecords() []proto.Message {
	return []proto.Message{oldAnn(), oldSession(7, "1"), oldReward(7), &moveinv1.User{Id: 8, Name: "Bob"}, oldSession(8, "2"), oldReward(8)}
}

// wantMoved fails unless the next call makes of what is stored what one call stores. After a success it is that already.
func (s *server) wantMoved(t *testing.T, wasDone bool) {
	t.Helper()
	whole := newBench(t).newServer(t)
	whole.wantResults(t, strings.Repeat("INSERTED, ", 5)+"INSERTED", someRecords()...)
	want := whole.state(t)
	if got := s.state(t); wasDone && !slices.Equal(got, want) {
		t.Errorf("after success:\n%v\nwant\n%v", got, want)
	}
	s.resultsOf(t, false, someRecords()...)
	if got := s.state(t); !slices.Equal(got, want) {
		t.Errorf("after the next:\n%v\nwant\n%v", got, want)
	}
	s.wantResults(t, strings.Repeat("UNCHANGED, ", 5)+"UNCHANGED", someRecords()...)
}

func TestACrashBetweenAnyTwoWritesOfAnInsertionIsMendedByTheNext(t *testing.T) {
	for _, outcome := range []storetest.Outcome{storetest.NotHappened, storetest.Happened} {
		writes := 0
		for isOver := false; !isOver; writes++ {
			b := newBench(t)
			s := b.newServer(t)
			s.wantResults(t, "INSERTED", oldAnn())
			store, process := storetest.NewMortal(b.store, writes, outcome)
			_, err := (&bench{store: store, now: b.now}).newServer(t).MoveIn(t.Context(), requestOf(false, someRecords()...))
			if isOver = !process.Died(); isOver != (err == nil) {
				t.Fatalf("after %d writes: %v", writes, err)
			}
			s.wantMoved(t, isOver)
		}
		if writes < 4 { // a user, sessions, rewards
			t.Errorf("only %d writes", writes)
		}
	}
}
