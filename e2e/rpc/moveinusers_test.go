package rpc_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// movedAnn is a user of an old service whose password is "hashcat".
func movedAnn(hash string) *accountv1.MovedUser {
	return &accountv1.MovedUser{
		UserId: 123456, Name: "安", Email: "Ann@waybook.example", PasswordHash: hash,
		CreateTime: timestamppb.New(time.Date(2009, 3, 1, 10, 0, 0, 0, time.UTC)),
		Sessions:   &accountv1.MovedSessions{Sessions: []*accountv1.MovedSession{{Token: strings.Repeat("ab", 16)}}},
		Rewards:    []*accountv1.MovedReward{{OldId: "1", Amount: 10}, {OldId: "2", Amount: 20}},
	}
}

func (w *waybook) moveIn(options *typev1.MoveOptions, users ...*accountv1.MovedUser) (outcomes []typev1.MoveOutcome) {
	w.t.Helper()
	reply := must(w.Account.MoveInUsers(w.t.Context(), &accountv1.MoveInUsersRequest{Options: options, Users: users}))(w.t)
	for _, result := range reply.GetResults() {
		outcomes = append(outcomes, result.GetOutcome())
	}
	return outcomes
}

func TestAUserOfAnOldServiceLogsInWithTheOldPasswordAndHasANewHashThenOnEachStore(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, p *parts) {
		logsInWithTheOldPassword(t, p, "8743b52063cd84097a65d1633f5c74f5", accountv1.PasswordForm_PASSWORD_FORM_MD5)
	})
}

func TestAUserWithABcryptHashOfAnOldServiceLogsInAndHasANewHashThenOnEachStore(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, p *parts) {
		logsInWithTheOldPassword(t, p, "$2a$05$LhayLxezLhK1LhWvKxCyLOj0j1u.Kj0jZ0pEmm134uzrQlFvQJLF6", accountv1.PasswordForm_PASSWORD_FORM_BCRYPT)
	})
}

func logsInWithTheOldPassword(t *testing.T, p *parts, hash string, form accountv1.PasswordForm) {
	t.Helper()
	moved := movedAnn(hash)
	if got := p.moveIn(nil, moved); got[0] != typev1.MoveOutcome_MOVE_OUTCOME_CREATED {
		t.Fatalf("got %v", got)
	}
	shown := func() *accountv1.User {
		return must(p.Account.GetUser(t.Context(), &accountv1.GetUserRequest{UserId: 123456}))(t).GetUser()
	}
	if u := shown(); u.GetPasswordForm() != form || !u.GetCreateTime().AsTime().Equal(moved.GetCreateTime().AsTime()) {
		t.Errorf("moved in %v", u)
	}
	session := &accountv1.VerifySessionRequest{UserId: 123456, Token: strings.Repeat("ab", 16)}
	must(p.Account.VerifySession(t.Context(), session))(t)
	browser := p.newBrowser(t, p.Account, "192.0.2.1")
	browser.expectLogin("a wrong password", "ann@waybook.example", "hashcats", "PASSWORD_INCORRECT")
	browser.expectLogin("the old password", "ann@waybook.example", "hashcat", "")
	if u := shown(); u.GetPasswordForm() != accountv1.PasswordForm_PASSWORD_FORM_ARGON2ID {
		t.Errorf("after the login %v", u)
	}
	browser.expectLogin("with the new hash", "ann@waybook.example", "hashcat", "")
	must(p.Account.VerifySession(t.Context(), session))(t)
	total := must(p.Account.GetRewardTotal(t.Context(), &accountv1.GetRewardTotalRequest{UserId: 123456}))(t)
	if total := total; total.GetTotal() != 30 || total.GetRewardCount() != 2 {
		t.Errorf("rewards %v", total)
	}
	for _, options := range []*typev1.MoveOptions{nil, {Update: true}} {
		if outcomes := p.moveIn(options, moved); outcomes[0] != typev1.MoveOutcome_MOVE_OUTCOME_UNCHANGED {
			t.Errorf("again: %v", outcomes)
		}
	}
	browser.expectLogin("after another move", "ann@waybook.example", "hashcat", "")
}

func TestAUserWithoutAnEmailAddressLogsInWithTheOldLoginName(t *testing.T) {
	t.Parallel()
	w := start(t)
	named, reserved := movedAnn("8743b52063cd84097a65d1633f5c74f5"), movedAnn("8743b52063cd84097a65d1633f5c74f5")
	named.Email, named.Sessions = "小 明", nil
	// This would be the key of another user without an address.
	reserved.UserId, reserved.Email, reserved.Sessions = 4712, "#4711", nil
	want := []typev1.MoveOutcome{typev1.MoveOutcome_MOVE_OUTCOME_CREATED, typev1.MoveOutcome_MOVE_OUTCOME_REFUSED}
	widened := &typev1.MoveOptions{Widen: []typev1.Limit{typev1.Limit_LIMIT_EMAIL}}
	if outcomes := w.moveIn(widened, named, reserved); !slices.Equal(outcomes, want) {
		t.Errorf("got %v", outcomes)
	}
	browser := w.newBrowser(t, w.Account, "192.0.2.1")
	browser.expectLogin("the login name", "小 明", "hashcat", "")
	browser.expectLogin("a reserved one", "#4711", "hashcat", "PASSWORD_INCORRECT")
}

// A comment of a user who is gone has no name once caches forget it (rule 4.4).
func TestADeletedUserFreesTheAddressAndLeavesCommentsToOthersOnEachStore(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, p *parts) {
		p.moveIn(nil, movedAnn("8743b52063cd84097a65d1633f5c74f5"))
		owner := p.newUser("b")
		id := must(p.Album.CreateAlbum(t.Context(), &albumv1.CreateAlbumRequest{
			OwnerId: owner, Title: "x", Category: albumv1.AlbumCategory_ALBUM_CATEGORY_FOOD, Location: taipei,
		}))(t).GetAlbum().GetAlbumId()
		must(p.Album.AddComment(t.Context(), &albumv1.AddCommentRequest{AuthorId: 123456, AlbumId: id, Text: "nice"}))(t)
		expectFault(t, failed(p.Account.DeleteUser(t.Context(), &accountv1.DeleteUserRequest{UserId: 123456})), codes.FailedPrecondition, "USER_NOT_DISABLED")
		must(p.Account.UpdateUser(t.Context(), &accountv1.UpdateUserRequest{UserId: 123456, Disabled: proto.Bool(true)}))(t)
		expectFault(t, failed(p.Account.VerifySession(t.Context(), &accountv1.VerifySessionRequest{UserId: 123456, Token: strings.Repeat("ab", 16)})), codes.Unauthenticated, "LOGIN_REQUIRED")
		for range 2 {
			must(p.Account.DeleteUser(t.Context(), &accountv1.DeleteUserRequest{UserId: 123456}))(t)
		}
		expectFault(t, failed(p.Account.GetUser(t.Context(), &accountv1.GetUserRequest{UserId: 123456})), codes.NotFound, "USER_NOT_FOUND")
		// The address is free.
		must(p.Account.CreateUser(t.Context(), &accountv1.CreateUserRequest{Name: "c", Email: "ANN@waybook.example"}))(t)
		comments := must(p.Album.ListComments(t.Context(), &albumv1.ListCommentsRequest{AlbumId: id}))(t)
		if listed := comments.GetComments(); len(listed) != 1 || listed[0].GetText() != "nice" || listed[0].GetAuthor().GetUserId() != 123456 {
			t.Errorf("the comments are %v", listed)
		}
	})
}

func TestADeletedUserIsMovedInAgainOnlyByIntent(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, p *parts) {
		ann := movedAnn("8743b52063cd84097a65d1633f5c74f5")
		expectRefusal := func() {
			t.Helper()
			results := must(p.Account.MoveInUsers(t.Context(), &accountv1.MoveInUsersRequest{Users: []*accountv1.MovedUser{ann}}))(t).GetResults()
			expectProblem(t, results[0], "", "DELETED")
			if results[0].GetOutcome() != refused {
				t.Errorf("the user was moved in: %v", results)
			}
		}
		p.moveIn(nil, ann)
		must(p.Account.UpdateUser(t.Context(), &accountv1.UpdateUserRequest{UserId: 123456, Disabled: proto.Bool(true)}))(t)
		must(p.Account.DeleteUser(t.Context(), &accountv1.DeleteUserRequest{UserId: 123456}))(t)
		expectRefusal()
		p.Sweep()
		expectRefusal()
		p.store.clock.advance(10 * time.Minute) // no source draws 123456, and a deletion is kept for a nanosecond
		p.Sweep()
		for range 2 { // the deletion is forgotten, and stays
			p.store.clock.advance(90 * 24 * time.Hour)
			p.Sweep()
			expectRefusal()
		}
		for n, want := range []typev1.MoveOutcome{created, unchanged} {
			if outcomes := p.moveIn(&typev1.MoveOptions{Revive: n == 0}, ann); outcomes[0] != want {
				t.Errorf("revived: %v, want %v", outcomes, want)
			}
			p.Sweep()
		}
		must(p.Account.VerifySession(t.Context(), &accountv1.VerifySessionRequest{UserId: 123456, Token: strings.Repeat("ab", 16)}))(t)
	})
}
