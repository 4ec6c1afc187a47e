package rpc_test

import (
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
)

const md5OfHashcat = "8743b52063cd84097a65d1633f5c74f5"

// oldUser returns the records of a user whose password is "hashcat", with a session and rewards.
func oldUser(hash string) []*moveinv1.Record {
	return []*moveinv1.Record{
		record(&moveinv1.User{Id: 123456, Name: "安", Email: "Ann@waybook.example", PasswordHash: hash, CreateTime: longAgo(0)}),
		record(&moveinv1.Session{UserId: 123456, Idrand: oldSession().GetToken()}),
		record(&moveinv1.Reward{Id: "1", UserId: 123456, Amount: 10}),
		record(&moveinv1.Reward{Id: "2", UserId: 123456, Amount: 20}),
	}
}

func oldSession() *accountv1.VerifySessionRequest {
	return &accountv1.VerifySessionRequest{UserId: 123456, Token: strings.Repeat("ab", 16)}
}

func TestAUserOfAnOldServiceLogsInWithTheOldPasswordAndHasANewHashThenOnEachStore(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, p *parts) {
		moved := oldUser(md5OfHashcat)
		expect := func(outcome moveinv1.Outcome) {
			t.Helper()
			dry := must(p.MoveIn.MoveIn(t.Context(), &moveinv1.MoveInRequest{Records: moved, ValidateOnly: true}))(t)
			expectAll(t, dry.GetResults(), outcome)
			expectAll(t, p.moveRecords(moved...), outcome)
		}
		expect(inserted)
		other := p.moveRecords(record(&moveinv1.User{Id: 8, Name: "Bo", Email: "ANN@waybook.example"}))
		expectAll(t, other, rejected)
		expectForm := func(form accountv1.PasswordForm) {
			t.Helper()
			u := must(p.Account.GetUser(t.Context(), &accountv1.GetUserRequest{UserId: 123456}))(t).GetUser()
			if u.GetPasswordForm() != form || !proto.Equal(u.GetCreateTime(), longAgo(0)) {
				t.Errorf("the user is %v", u)
			}
		}
		expectForm(accountv1.PasswordForm_PASSWORD_FORM_MD5)
		must(p.Account.VerifySession(t.Context(), oldSession()))(t)
		browser := p.newBrowser(t, p.Account, "192.0.2.1")
		browser.expectLogin("a wrong password", "ann@waybook.example", "hashcats", "PASSWORD_INCORRECT")
		for _, when := range []string{"with the old hash", "with the new one", "after another move"} {
			browser.expectLogin(when, "ann@waybook.example", "hashcat", "")
			expectForm(accountv1.PasswordForm_PASSWORD_FORM_ARGON2ID)
			expect(equal)
		}
		must(p.Account.VerifySession(t.Context(), oldSession()))(t)
		p.expectRewards(123456, 30, 2)
		_, err := p.MoveIn.MoveIn(t.Context(), &moveinv1.MoveInRequest{Records: append(moved, &moveinv1.Record{})})
		expectFault(t, err, codes.InvalidArgument, "INVALID_PARAMETER", "records[4]")
	})
}

// A comment of a user who is gone has no name once caches forget it (rule 4.4).
func TestADeletedUserFreesTheAddressAndLeavesCommentsToOthersOnEachStore(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, p *parts) {
		expectAll(t, p.moveRecords(oldUser(md5OfHashcat)...), inserted)
		owner := p.newUser("b")
		id := must(p.Album.CreateAlbum(t.Context(), &albumv1.CreateAlbumRequest{
			OwnerId: owner, Title: "x", Category: albumv1.AlbumCategory_ALBUM_CATEGORY_FOOD, Location: taipei,
		}))(t).GetAlbum().GetAlbumId()
		must(p.Comment.AddComment(t.Context(), &commentv1.AddCommentRequest{AuthorId: 123456, Parent: &commentv1.AddCommentRequest_AlbumId{AlbumId: id}, Text: "nice"}))(t)
		expectFault(t, failed(p.Account.DeleteUser(t.Context(), &accountv1.DeleteUserRequest{UserId: 123456})), codes.FailedPrecondition, "USER_NOT_DISABLED")
		must(p.Account.UpdateUser(t.Context(), &accountv1.UpdateUserRequest{UserId: 123456, Disabled: proto.Bool(true)}))(t)
		expectFault(t, failed(p.Account.VerifySession(t.Context(), oldSession())), codes.Unauthenticated, "LOGIN_REQUIRED")
		for range 2 {
			must(p.Account.DeleteUser(t.Context(), &accountv1.DeleteUserRequest{UserId: 123456}))(t)
		}
		expectFault(t, failed(p.Account.GetUser(t.Context(), &accountv1.GetUserRequest{UserId: 123456})), codes.NotFound, "USER_NOT_FOUND")
		// The address is free.
		must(p.Account.CreateUser(t.Context(), &accountv1.CreateUserRequest{Name: "c", Email: "ANN@waybook.example"}))(t)
		comments := must(p.Comment.ListComments(t.Context(), &commentv1.ListCommentsRequest{Parent: &commentv1.ListCommentsRequest_AlbumId{AlbumId: id}}))(t)
		if listed := comments.GetComments(); len(listed) != 1 || listed[0].GetText() != "nice" || listed[0].GetAuthor().GetUserId() != 123456 {
			t.Errorf("the comments are %v", listed)
		}
	})
}
