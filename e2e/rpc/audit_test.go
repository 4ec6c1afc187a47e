package rpc_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/internal/clients"
	"github.com/waybook/waybook/internal/waybooktest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
	storev1 "github.com/waybook/waybook/proto/gen/waybook/store/v1"
)

// journal is a log in JSON that may be written concurrently.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(line []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(line)
}

// take returns the lines of the audit log since the last call, without their time.
func (j *journal) take(t *testing.T) (lines []map[string]any) {
	t.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	for text := range strings.Lines(j.text.String()) {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if line["log"] == "audit" {
			delete(line, "time")
			lines = append(lines, line)
		}
	}
	j.text.Reset()
	return lines
}

// audited is a secured Waybook with the log that it writes.
type audited struct {
	*secured
	journal *journal
}

func startAudited(t *testing.T, options ...waybooktest.Option) *audited {
	t.Helper()
	written := &journal{}
	// An audit line is written whatever the level of the log.
	log := slog.New(slog.NewJSONHandler(written, &slog.HandlerOptions{Level: slog.LevelError + 1}))
	return &audited{startSecured(t, log, append([]waybooktest.Option{waybooktest.Flags("-audit-log=true", "-registration=open")}, options...)...), written}
}

// caller has the clients of a connection.
type caller struct {
	clients.Clients
	store storev1.StoreServiceClient
}

func callerOver(connection grpc.ClientConnInterface) caller {
	return caller{clients.Of(connection, connection, connection, connection), storev1.NewStoreServiceClient(connection)}
}

const (
	accounts = "/waybook.account.v1.AccountService/"
	albums   = "/waybook.album.v1.AlbumService/"
)

// hashOf returns what an audit line shows of an address.
func hashOf(email string) string {
	sum := sha256.Sum256([]byte(email))
	return hex.EncodeToString(sum[:8])
}

// event is an expected line: the event, its outcome, reason, caller and method, and then names
// and values of other fields.
func event(name, outcome, reason, caller, method string, others ...any) map[string]any {
	level := "INFO"
	if name == "call_refused" {
		level = "WARN"
	}
	line := map[string]any{
		"level": level, "msg": "audit", "log": "audit", "event": name, "outcome": outcome, "caller": caller, "method": method,
	}
	if reason != "" {
		line["reason"] = reason
	}
	for i := 0; i < len(others); i += 2 {
		line[others[i].(string)] = others[i+1]
	}
	return line
}

func TestEachEventIsOneLineOfTheAuditLogWithItsFields(t *testing.T) {
	t.Parallel()
	s := startAudited(t)
	operator, edge, poi := callerOver(s.dial(t, "operator")), callerOver(s.dial(t, "edge")), callerOver(s.dial(t, "poi"))
	ctx := t.Context()
	const address, password = "Ann@waybook.example", "password of ann"
	ann := must(operator.Account.CreateUser(ctx, &accountv1.CreateUserRequest{Name: "Ann", Email: address, Password: password}))(t).GetUser().GetUserId()
	bo := must(operator.Account.CreateUser(ctx, &accountv1.CreateUserRequest{Name: "Bo"}))(t).GetUser().GetUserId()
	album := must(edge.Album.CreateAlbum(ctx, &albumv1.CreateAlbumRequest{OwnerId: ann, Title: "t", Category: 1, Location: taipei}))(t)
	token := must(operator.Account.OpenSession(ctx, &accountv1.OpenSessionRequest{UserId: ann}))(t).GetToken()
	s.journal.take(t)

	logIn := func(email, password string) error {
		return failed(edge.Account.Authenticate(ctx, &accountv1.AuthenticateRequest{Email: email, Password: password, ClientAddress: "192.0.2.7"}))
	}
	annHash := hashOf("ann@waybook.example")
	user := float64(ann)
	seen := map[string]bool{}
	for _, c := range []struct {
		what string
		call func(context.Context) error
		want map[string]any // nil for no line
	}{
		{"a new user", calling(operator.Account.CreateUser, &accountv1.CreateUserRequest{RequestId: requestID(1), Name: "Cy"}), event("user_created", "ok", "", "operator", accounts+"CreateUser")},
		{"a user with the address of another", calling(operator.Account.CreateUser, &accountv1.CreateUserRequest{Name: "Di", Email: address}), event("user_created", "refused", "EMAIL_TAKEN", "operator", accounts+"CreateUser", "email_hash", annHash)},
		{"a new name", calling(operator.Account.UpdateUser, &accountv1.UpdateUserRequest{UserId: ann, Name: new("Anna")}), event("user_changed", "ok", "", "operator", accounts+"UpdateUser", "user_id", user)},
		{"a new password", calling(operator.Account.UpdateUser, &accountv1.UpdateUserRequest{UserId: ann, Password: new(password)}), event("password_set", "ok", "", "operator", accounts+"UpdateUser", "user_id", user)},
		{"a stranger", calling(edge.Account.RegisterUser, &accountv1.RegisterUserRequest{Name: "Ed", Email: "ed@waybook.example", Password: password, ClientAddress: "192.0.2.7"}),
			event("user_registered", "ok", "", "edge", accounts+"RegisterUser", "client_address", "192.0.2.7", "email_hash", hashOf("ed@waybook.example"))},
		{"a stranger with the address of another", calling(edge.Account.RegisterUser, &accountv1.RegisterUserRequest{Name: "Ed", Email: address, Password: password}),
			event("user_registered", "refused", "EMAIL_TAKEN", "edge", accounts+"RegisterUser", "email_hash", annHash)},
		{"an invitation that nobody needs", calling(operator.Account.CreateInvitation, &accountv1.CreateInvitationRequest{}),
			event("invitation_created", "refused", "INVITATIONS_OFF", "operator", accounts+"CreateInvitation")},
		{"a new profile", calling(edge.Account.UpdateProfile, &accountv1.UpdateProfileRequest{ActorId: ann, Name: new("Anne")}), event("user_changed", "ok", "", "edge", accounts+"UpdateProfile", "user_id", user)},
		{"a new password by a session that ended", calling(edge.Account.ChangePassword, &accountv1.ChangePasswordRequest{ActorId: ann, Token: token, OldPassword: password, NewPassword: password}),
			event("password_changed", "refused", "LOGIN_REQUIRED", "edge", accounts+"ChangePassword", "user_id", user)},
		{"a login", func(ctx context.Context) error { return logIn(address, password) },
			event("login", "ok", "", "edge", accounts+"Authenticate", "user_id", user, "client_address", "192.0.2.7", "email_hash", annHash)},
		{"a wrong password", func(ctx context.Context) error { return logIn(address, "wrong") },
			event("login", "refused", "PASSWORD_INCORRECT", "edge", accounts+"Authenticate", "client_address", "192.0.2.7", "email_hash", annHash)},
		{"a password in the wrong field", func(ctx context.Context) error { return logIn(password, password) },
			event("login", "refused", "PASSWORD_INCORRECT", "edge", accounts+"Authenticate", "client_address", "192.0.2.7")},
		{"a login without a password", func(ctx context.Context) error { return logIn(address, "") }, nil},
		{"a new session", calling(operator.Account.OpenSession, &accountv1.OpenSessionRequest{UserId: bo}), event("session_opened", "ok", "", "operator", accounts+"OpenSession", "user_id", float64(bo))},
		{"a use of a session", calling(edge.Account.VerifySession, &accountv1.VerifySessionRequest{UserId: bo, Token: token}), nil},
		{"a closed session", calling(edge.Account.CloseSession, &accountv1.CloseSessionRequest{UserId: ann, Token: token}), event("session_closed", "ok", "", "edge", accounts+"CloseSession", "user_id", user)},
		{"all sessions closed", calling(operator.Account.CloseAllSessions, &accountv1.CloseAllSessionsRequest{UserId: ann}), event("sessions_closed", "ok", "", "operator", accounts+"CloseAllSessions", "user_id", user)},
		{"a read by the operator", calling(operator.Account.GetUser, &accountv1.GetUserRequest{UserId: ann}), nil},
		{"a change by an owner", calling(edge.Album.UpdateAlbum, &albumv1.UpdateAlbumRequest{ActorId: ann, AlbumId: album.GetAlbum().GetAlbumId(), Title: new("u")}), nil},
		{"a change by another user", calling(edge.Album.UpdateAlbum, &albumv1.UpdateAlbumRequest{ActorId: bo, AlbumId: album.GetAlbum().GetAlbumId(), Title: new("v")}), event("owner_mismatch", "refused", "NOT_OWNER", "edge", albums+"UpdateAlbum", "user_id", float64(bo))},
		{"a user of an old service", calling(operator.MoveIn.MoveIn, &moveinv1.MoveInRequest{Records: []*moveinv1.Record{record(&moveinv1.User{Id: 123456, Name: "x"})}}), event("records_moved_in", "ok", "", "operator", "/waybook.movein.v1.MoveInService/MoveIn")},
		{"a deletion too early", calling(operator.Account.DeleteUser, &accountv1.DeleteUserRequest{UserId: 123456}), event("user_deleted", "refused", "USER_NOT_DISABLED", "operator", accounts+"DeleteUser", "user_id", float64(123456))},
		{"a disabled user", calling(operator.Account.UpdateUser, &accountv1.UpdateUserRequest{UserId: 123456, Disabled: new(true)}), event("user_changed", "ok", "", "operator", accounts+"UpdateUser", "user_id", float64(123456))},
		{"a deletion", calling(operator.Account.DeleteUser, &accountv1.DeleteUserRequest{UserId: 123456}), event("user_deleted", "ok", "", "operator", accounts+"DeleteUser", "user_id", float64(123456))},
		{"a search by the operator", calling(operator.Account.ListUsers, &accountv1.ListUsersRequest{Prefix: &accountv1.ListUsersRequest_EmailPrefix{EmailPrefix: "ann"}}), nil},
		{"a change by the operator", calling(operator.Album.UpdateAlbum, &albumv1.UpdateAlbumRequest{ActorId: ann, AlbumId: album.GetAlbum().GetAlbumId(), Title: new("w")}), event("operator_call", "ok", "", "operator", albums+"UpdateAlbum", "user_id", user)},
		{"an import by the operator", func(ctx context.Context) error {
			return failed(operator.Poi.ImportPois(ctx, batchOf(ann, importedPoi("a", "a"))))
		}, event("operator_call", "ok", "", "operator", "/waybook.poi.v1.PoiService/ImportPois", "user_id", user)},
		{"the comments of an author, removed by the operator", calling(operator.Comment.RemoveCommentsByAuthor, &commentv1.RemoveCommentsByAuthorRequest{AuthorId: bo, On: &commentv1.RemoveCommentsByAuthorRequest_Kind{Kind: anAlbum}}), event("comments_removed", "ok", "", "operator", "/waybook.comment.v1.CommentService/RemoveCommentsByAuthor", "user_id", float64(bo))},
		{"a copy of the store", func(ctx context.Context) error {
			return failed(collect(operator.store.Backup(ctx, &storev1.BackupRequest{})))
		}, event("store_copied", "ok", "", "operator", "/waybook.store.v1.StoreService/Backup")},
		{"an edge that opens a session without a password", calling(edge.Account.OpenSession, &accountv1.OpenSessionRequest{UserId: ann}), event("call_refused", "refused", "CLIENT_NOT_ALLOWED", "edge", accounts+"OpenSession", "user_id", user)},
		{"a service that copies the store", func(ctx context.Context) error {
			return failed(collect(poi.store.Backup(ctx, &storev1.BackupRequest{})))
		}, event("call_refused", "refused", "CLIENT_NOT_ALLOWED", "poi", "/waybook.store.v1.StoreService/Backup")},
	} {
		err := c.call(ctx)
		if isRefused := c.want != nil && c.want["outcome"] == "refused"; isRefused && err == nil || c.want["outcome"] == "ok" && err != nil {
			t.Errorf("%s: %v", c.what, err)
		}
		lines := s.journal.take(t)
		if c.want == nil {
			if len(lines) > 0 {
				t.Errorf("%s: logged %v", c.what, lines)
			}
			continue
		}
		seen[c.want["event"].(string)] = true
		if (c.what == "a new user" || c.what == "a stranger") && len(lines) == 1 { // its identifier is not known before
			delete(lines[0], "user_id")
		}
		if len(lines) != 1 || !maps.Equal(lines[0], c.want) {
			t.Errorf("%s: logged\n%v, want\n%v", c.what, lines, c.want)
		}
	}
	for _, declared := range declarations(t) {
		for _, name := range []string{declared.GetEvent(), declared.GetPasswordEvent()} {
			if name != "" && !seen[name] {
				t.Errorf("no case for the event %s", name)
			}
		}
	}
}

func TestALoginAboveALimitIsRecordedAsLimited(t *testing.T) {
	t.Parallel()
	s := startAudited(t)
	edge := callerOver(s.dial(t, "edge"))
	var err error
	for n := 0; n < 200 && status.Code(err) != codes.ResourceExhausted; n++ {
		s.journal.take(t)
		err = failed(edge.Account.Authenticate(t.Context(), &accountv1.AuthenticateRequest{Email: "x@waybook.example", Password: "wrong"}))
	}
	want := event("login", "limited", "TOO_MANY_ATTEMPTS", "edge", accounts+"Authenticate", "email_hash", hashOf("x@waybook.example"))
	if lines := s.journal.take(t); len(lines) != 1 || !maps.Equal(lines[0], want) {
		t.Errorf("%v is logged as %v", err, lines)
	}
}
