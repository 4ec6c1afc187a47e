package account

import (
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

func TestARecordOutsideTheRulesIsRefusedWithItsFieldsAndNoOtherIs(t *testing.T) {
	long := strings.Repeat("長", 101)
	for name, c := range map[string]struct {
		change func(*accountv1.MovedUser)
		field  string
		// widen is the limit that lets the record in; 0 if none does.
		widen typev1.Limit
	}{
		"no identifier":   {func(u *accountv1.MovedUser) { u.UserId = 0 }, "user_id", 0},
		"a large one":     {func(u *accountv1.MovedUser) { u.UserId = 1 << 53 }, "user_id", 0},
		"no name":         {func(u *accountv1.MovedUser) { u.Name = "" }, "name", typev1.Limit_LIMIT_EMPTY},
		"a blank name":    {func(u *accountv1.MovedUser) { u.Name = "\u200b " }, "name", typev1.Limit_LIMIT_EMPTY},
		"a long name":     {func(u *accountv1.MovedUser) { u.Name = long }, "name", typev1.Limit_LIMIT_TITLE},
		"no XML":          {func(u *accountv1.MovedUser) { u.Name = "a\x01" }, "name", 0},
		"a longer name":   {func(u *accountv1.MovedUser) { u.Name = strings.Repeat("長", 2001) }, "name", 0},
		"a long icon":     {func(u *accountv1.MovedUser) { u.IconUrl = strings.Repeat("a", 2001) }, "icon_url", typev1.Limit_LIMIT_ADDRESS},
		"no address":      {func(u *accountv1.MovedUser) { u.Email = "ann" }, "email", typev1.Limit_LIMIT_EMAIL},
		"a reserved one":  {func(u *accountv1.MovedUser) { u.Email = "#12" }, "email", 0},
		"a password only": {func(u *accountv1.MovedUser) { u.Email = "" }, "password_hash", 0},
		"an unknown hash": {func(u *accountv1.MovedUser) { u.PasswordHash = "plain text" }, "password_hash", 0},
		"a wrong secret":  {func(u *accountv1.MovedUser) { u.Sessions = sessionsNamed("1", "X") }, "sessions.sessions[1].token", 0},
		"a wrong time": {func(u *accountv1.MovedUser) {
			u.Sessions.Sessions[0].ExpireTime = &timestamppb.Timestamp{Seconds: 1 << 60}
		}, "sessions.sessions[0].expire_time", 0},
		"no such time":    {func(u *accountv1.MovedUser) { u.CreateTime = &timestamppb.Timestamp{Nanos: -1} }, "create_time", 0},
		"a debt":          {func(u *accountv1.MovedUser) { u.Rewards[1].Amount = -1 }, "rewards[1].amount", 0},
		"a source of 101": {func(u *accountv1.MovedUser) { u.Rewards[0].OldId = strings.Repeat("1", 101) }, "rewards[0].old_id", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newBench(t).newServer(t)
			wrong := ann()
			wrong.UserId, wrong.Email = 9, "other@waybook.example"
			c.change(wrong)
			var others []typev1.Limit
			for limit := range typev1.Limit_name {
				if limit != 0 && typev1.Limit(limit) != c.widen {
					others = append(others, typev1.Limit(limit))
				}
			}
			reply, err := s.MoveInUsers(t.Context(), &accountv1.MoveInUsersRequest{
				Options: &typev1.MoveOptions{Widen: others}, Users: []*accountv1.MovedUser{wrong, ann()},
			})
			if err != nil {
				t.Fatal(err)
			}
			result := reply.GetResults()[0]
			if result.GetOutcome() != refused || result.GetId() != 0 || len(result.GetProblems()) != 1 ||
				result.GetProblems()[0].GetField() != c.field || result.GetProblems()[0].GetReason() != "INVALID_PARAMETER" {
				t.Errorf("got %v, want a problem of %s", result, c.field)
			}
			if reply.GetResults()[1].GetOutcome() != created {
				t.Errorf("the other record: %v", reply.GetResults()[1])
			}
			if c.widen != 0 {
				wantOutcomes(t, s.moveIn(t, &typev1.MoveOptions{Widen: []typev1.Limit{c.widen}}, wrong), created)
			}
		})
	}
}

// TestADryRunSaysWhatTheCallDoes compares its results with those of the call, and stores nothing.
func TestADryRunSaysWhatTheCallDoes(t *testing.T) {
	for name, isUpdate := range map[string]bool{"without update": false, "with update": true} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s := b.newServer(t)
			local := s.newUser(t, "local@waybook.example", "a password")
			fewer := &accountv1.MovedUser{UserId: 2, Name: "b", Email: "b@waybook.example"}
			wantOutcomes(t, s.moveIn(t, nil, ann(), fewer, &accountv1.MovedUser{UserId: 3, Name: "c"}), created, created, created)
			renamed, richer, other := ann(), ann(), ann()
			renamed.Name = "Anna"
			richer.UserId, richer.Name, richer.Email, richer.PasswordHash = 3, "c", "", ""
			richer.IconUrl, richer.CreateTime, richer.Sessions = "", nil, sessionsNamed("5")
			other.UserId = 11 // with the address of 7
			other.Sessions = nil
			records := []*accountv1.MovedUser{
				renamed, fewer, richer, other,
				{UserId: 12, Name: "new", Email: "NEW@waybook.example", Rewards: []*accountv1.MovedReward{{OldId: "1"}}},
				{UserId: 13, Name: "another", Email: "new@waybook.example"},
				{UserId: 13, Name: "again"},
				{UserId: local, Name: "not the local one"},
				{UserId: 14, Name: ""},
				{UserId: 2, Name: "b"},
			}
			before := s.state(t)
			dry, err := s.MoveInUsers(t.Context(), &accountv1.MoveInUsersRequest{Users: records, Options: &typev1.MoveOptions{Update: isUpdate, ValidateOnly: true}})
			if err != nil {
				t.Fatal(err)
			}
			if after := s.state(t); !slices.Equal(after, before) {
				t.Errorf("a dry run left\n%v\nof\n%v", after, before)
			}
			wet, err := s.MoveInUsers(t.Context(), &accountv1.MoveInUsersRequest{Users: records, Options: &typev1.MoveOptions{Update: isUpdate}})
			if err != nil {
				t.Fatal(err)
			}
			for i := range records {
				if got, want := dry.GetResults()[i].String(), wet.GetResults()[i].String(); got != want {
					t.Errorf("record %d: the dry run said %s, the call %s", i, got, want)
				}
			}
			first, added := different, created
			if isUpdate {
				first, added = updated, updated
			}
			var outcomes []typev1.MoveOutcome
			for _, result := range wet.GetResults() {
				outcomes = append(outcomes, result.GetOutcome())
			}
			wantOutcomes(t, outcomes, first, unchanged, added, refused, created, refused, refused, refused, refused, refused)
			for i, want := range map[int]string{3: "EMAIL_TAKEN", 5: "EMAIL_TAKEN", 6: "REPEATED", 7: "ID_TAKEN", 9: "REPEATED"} {
				if got := wet.GetResults()[i].GetProblems(); len(got) != 1 || got[0].GetReason() != want {
					t.Errorf("record %d: %v, want %s", i, got, want)
				}
			}
		})
	}
}

func TestASessionLastsAtMost400Days(t *testing.T) {
	b := newBench(t)
	s := b.newServer(t)
	moved := ann()
	moved.Sessions.Sessions[0].ExpireTime = timestamppb.New(b.clock().Add(10 * 365 * 24 * time.Hour))
	s.moveIn(t, nil, moved)
	listed := s.list(t, 7)
	if len(listed) != 1 || !listed[0].GetExpireTime().AsTime().Equal(b.clock().Add(400*24*time.Hour)) {
		t.Errorf("listed %v", listed)
	}
}
