package audit_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/internal/platform/access"
	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/platform/audit"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

const (
	authenticate = "/waybook.account.v1.AccountService/Authenticate"
	updateUser   = "/waybook.account.v1.AccountService/UpdateUser"
	getAlbum     = "/waybook.album.v1.AlbumService/GetAlbum"
	createAlbum  = "/waybook.album.v1.AlbumService/CreateAlbum"
)

// record returns the line of a call, without its time.
func record(t *testing.T, call audit.Call) string {
	t.Helper()
	rules, err := access.Contracts()
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	log := slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelError})).With("program", "account")
	audit.New(rules, true, log, prometheus.NewRegistry()).Record(t.Context(), &call)
	_, line, _ := strings.Cut(text.String(), " ")
	return line
}

func fault(kind codes.Code, reason string) *apierror.Error {
	return apierror.New(kind, reason, "private")
}

func TestTheOutcomeOfAnEventFollowsFromItsFailure(t *testing.T) {
	for _, c := range []struct {
		failure *apierror.Error
		want    string
	}{
		{nil, "outcome=ok caller="},
		{fault(codes.Unauthenticated, "PASSWORD_INCORRECT"), "outcome=refused reason=PASSWORD_INCORRECT caller="},
		{fault(codes.NotFound, "USER_NOT_FOUND"), "outcome=refused reason=USER_NOT_FOUND caller="},
		{fault(codes.ResourceExhausted, "TOO_MANY_ATTEMPTS"), "outcome=limited reason=TOO_MANY_ATTEMPTS caller="},
		{fault(codes.Unavailable, "STORE_UNAVAILABLE"), "outcome=failed reason=STORE_UNAVAILABLE caller="},
		{apierror.From(context.Canceled), "outcome=failed reason=CANCELED caller="},
		{apierror.From(errors.New("private")), "outcome=failed reason=INTERNAL caller="},
	} {
		line := record(t, audit.Call{Method: authenticate, Caller: access.Caller{Name: "edge"}, Failure: c.failure})
		if !strings.Contains(line, "event=login "+c.want+"edge method="+authenticate) || strings.Contains(line, "private") {
			t.Errorf("%v: %s", c.failure, line)
		}
	}
}

func TestACallIsAnEventIfItsMethodOrItsFailureOrItsCallerMakesItOne(t *testing.T) {
	edge, operator := access.Caller{Name: "edge"}, access.Caller{Name: "sre", IsOperator: true}
	for what, c := range map[string]struct {
		call audit.Call
		want string // "" for no line
	}{
		"a read":                         {audit.Call{Method: getAlbum, Caller: operator}, ""},
		"a write by the edge":            {audit.Call{Method: createAlbum, Caller: edge}, ""},
		"a write by the operator":        {audit.Call{Method: createAlbum, Caller: operator}, "operator_call"},
		"a failed write by the operator": {audit.Call{Method: createAlbum, Caller: operator, Failure: fault(codes.NotFound, "USER_NOT_FOUND")}, "operator_call"},
		"a write of somebody else's":     {audit.Call{Method: createAlbum, Caller: operator, Failure: apierror.NotOwner("no")}, "owner_mismatch"},
		"a refused client":               {audit.Call{Method: getAlbum, Failure: apierror.NotAllowed()}, "call_refused"},
		"a refused health check":         {audit.Call{Method: "/grpc.health.v1.Health/Check", Failure: apierror.NotAllowed()}, "call_refused"},
		"a health check":                 {audit.Call{Method: "/grpc.health.v1.Health/Check", Caller: operator}, ""},
		"an invalid request":             {audit.Call{Method: authenticate, Caller: edge, Failure: apierror.Invalid("INVALID_PARAMETER")}, ""},
		"a new name":                     {audit.Call{Method: updateUser, Caller: operator, Request: &accountv1.UpdateUserRequest{UserId: 7, Name: proto.String("x")}}, "user_changed"},
		"a new password":                 {audit.Call{Method: updateUser, Caller: operator, Request: &accountv1.UpdateUserRequest{UserId: 7, Password: proto.String("x")}}, "password_set"},
		"a request of another type":      {audit.Call{Method: createAlbum, Caller: operator, Request: "text", Reply: (*albumv1.CreateAlbumResponse)(nil)}, "operator_call"},
	} {
		line := record(t, c.call)
		if c.want == "" && line != "" || c.want != "" && !strings.Contains(line, " event="+c.want+" ") {
			t.Errorf("%s: logged %q, want the event %q", what, line, c.want)
		}
		if n := strings.Count(line, "\n"); n > 1 {
			t.Errorf("%s: %d lines", what, n)
		}
	}
}

func TestALineShowsNoSecretAndNoTextOfAUser(t *testing.T) {
	const secret = "s3cr3t"
	for _, call := range []audit.Call{
		{Method: authenticate, Request: &accountv1.AuthenticateRequest{Email: secret + "@example.com", Password: secret}},
		{Method: authenticate, Request: &accountv1.AuthenticateRequest{Email: secret, Password: secret}, Failure: fault(codes.Unauthenticated, "PASSWORD_INCORRECT")},
		{Method: "/waybook.account.v1.AccountService/CreateUser", Request: &accountv1.CreateUserRequest{Name: secret, Email: secret + "@x", Password: secret, IconUrl: secret},
			Reply: &accountv1.CreateUserResponse{User: &accountv1.User{UserId: 7, Name: secret, Email: secret, IconUrl: secret}}},
		{Method: updateUser, Request: &accountv1.UpdateUserRequest{UserId: 7, Name: proto.String(secret), Email: proto.String(secret), Password: proto.String(secret)}},
		{Method: "/waybook.account.v1.AccountService/OpenSession", Request: &accountv1.OpenSessionRequest{UserId: 7}, Reply: &accountv1.OpenSessionResponse{Token: secret}},
		{Method: "/waybook.account.v1.AccountService/CloseSession", Request: &accountv1.CloseSessionRequest{UserId: 7, Token: secret}},
		{Method: createAlbum, Caller: access.Caller{Name: "operator", IsOperator: true}, Request: &albumv1.CreateAlbumRequest{OwnerId: 7, Title: secret}},
	} {
		line := record(t, call)
		if !strings.Contains(line, "log=audit") || strings.Contains(line, secret) {
			t.Errorf("%s: logged %q", call.Method, line)
		}
	}
}

func TestTextsOfClientsForgeNoLine(t *testing.T) {
	line := record(t, audit.Call{Method: authenticate, Request: &accountv1.AuthenticateRequest{ClientAddress: "x\nlevel=ERROR msg=forged"}})
	if strings.Count(line, "\n") != 1 || !strings.Contains(line, `client_address="x\nlevel=ERROR msg=forged"`) {
		t.Errorf("logged %q", line)
	}
}

func TestANilLogRecordsNothing(t *testing.T) {
	var none *audit.Log
	none.Record(t.Context(), &audit.Call{Method: authenticate})
}
