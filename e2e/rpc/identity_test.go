package rpc_test

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/internal/waybooktest"
	"github.com/waybook/waybook/proto/descriptors"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// leastOfAccount says who may call the methods of AccountService, besides the operator. It
// repeats the contract by hand: a method that more callers may call than they need is a way
// to take over accounts.
var leastOfAccount = map[string][]string{
	"Authenticate": {"edge"}, "VerifySession": {"edge"}, "CloseSession": {"edge"}, "CloseAllSessions": {"edge"}, "ListSessions": {"edge"},
	"RegisterUser": {"edge"}, "UpdateProfile": {"edge"}, "UploadIcon": {"edge"}, "GetIcon": {"edge"}, "ChangePassword": {"edge"},
	"BatchGetUsers": {"album", "blog", "poi"}, "ListHiddenUsers": {"album", "blog", "poi"}, "GrantRewards": {"blog"},
}

// secured is a running Waybook whose port needs certificates.
type secured struct {
	*waybook
	certificates *launch.Certificates
}

// startSecured starts Waybook with a certificate. Log may be nil.
func startSecured(t *testing.T, log *slog.Logger, options ...waybooktest.Option) *secured {
	t.Helper()
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	certificates := launch.NewCertificates(t)
	transport := must(process.TransportFlags{Files: certificates.Files("waybook")}.Load(log))(t)
	return &secured{start(t, append(options, waybooktest.Log(log), waybooktest.Secured(transport))...), certificates}
}

// dial connects with a certificate for a name.
func (s *secured) dial(t *testing.T, name string) *grpc.ClientConn {
	t.Helper()
	connection, err := grpc.NewClient(s.GRPC, grpc.WithTransportCredentials(s.certificates.Client(name)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := connection.Close(); err != nil {
			t.Error(err)
		}
	})
	return connection
}

// callEmpty calls a method with an empty request and returns its status. The test's timeout
// bounds a stream.
func callEmpty(t *testing.T, connection *grpc.ClientConn, method string, isStream bool) *status.Status {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if !isStream {
		return status.Convert(connection.Invoke(ctx, method, &emptypb.Empty{}, &emptypb.Empty{}))
	}
	stream, err := connection.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, method)
	if err != nil {
		t.Fatal(err)
	}
	_ = stream.SendMsg(&emptypb.Empty{}) // fails if the server has refused already; RecvMsg returns the status
	_ = stream.CloseSend()
	if err := stream.RecvMsg(&emptypb.Empty{}); err != nil && err != io.EOF {
		return status.Convert(err)
	}
	return status.New(codes.OK, "") // a watch would go on for minutes
}

func TestEachIdentityCallsTheMethodsOfItsColumnAndNoOther(t *testing.T) {
	t.Parallel()
	s := startSecured(t, nil, settleFast)
	methods := must(descriptors.Methods())(t)
	declared := declarations(t)
	var refusal *status.Status
	for _, identity := range []string{"edge", "account", "album", "blog", "poi", "operator", "stranger", "localhost", "waybook"} {
		connection := s.dial(t, identity)
		for _, method := range methods {
			name := method.FullName
			access, ok := declared[name]
			callers := access.GetCallers()
			if strings.HasPrefix(name, "/waybook.account.") {
				callers, ok = leastOfAccount[method.GetName()], true
			}
			if !ok {
				t.Fatalf("no expectation for %s", name)
			}
			may := identity == "operator" || slices.Contains(callers, identity)
			answer := callEmpty(t, connection, name, method.GetClientStreaming() || method.GetServerStreaming())
			if (answer.Code() == codes.PermissionDenied) == may {
				t.Errorf("%s calls %s: %v", identity, name, answer)
			}
			if may || answer.Code() != codes.PermissionDenied {
				continue
			}
			if refusal == nil {
				refusal = answer
			}
			if !proto.Equal(answer.Proto(), refusal.Proto()) {
				t.Errorf("%s calls %s and is refused with %v, others with %v", identity, name, answer.Proto(), refusal.Proto())
			}
		}
	}
	if refusal.Message() != "this client may not call this method" {
		t.Errorf("the refusal reports %q", refusal.Message())
	}
}

// Health checks and reflection tell which services run. No process of Waybook uses them here;
// probes use the admin port.
func TestOnlyTheOperatorChecksHealthAndReadsTheContracts(t *testing.T) {
	t.Parallel()
	s := startSecured(t, nil)
	for method, isStream := range map[string]bool{
		"/grpc.health.v1.Health/Check":                                   false,
		"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo":      true,
		"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": true,
	} {
		for identity, may := range map[string]bool{"operator": true, "edge": false, "album": false, "stranger": false} {
			if answer := callEmpty(t, s.dial(t, identity), method, isStream); (answer.Code() == codes.PermissionDenied) == may {
				t.Errorf("%s calls %s: %v", identity, method, answer)
			}
		}
	}
}

func TestAnOperatorsOwnServiceIsAdmittedToTheMethodsOfItsGrant(t *testing.T) {
	t.Parallel()
	s := startSecured(t, nil, waybooktest.Flags("-clients",
		"reports=/waybook.album.v1.AlbumService/List*,reports=/waybook.account.v1.AccountService/BatchGetUsers,"+
			"gateway=edge,logins=/waybook.account.v1.AccountService/OpenSession,sre=operator,probe=/grpc.health.v1.Health/Check"))
	const accounts, albums = "/waybook.account.v1.AccountService/", "/waybook.album.v1.AlbumService/"
	for _, c := range []struct {
		identity, method string
		may              bool
	}{
		{"reports", albums + "ListAlbums", true},
		{"reports", albums + "ListPhotos", true},
		{"reports", accounts + "BatchGetUsers", true},
		{"reports", albums + "GetAlbum", false},
		{"reports", albums + "DeleteAlbum", false},
		{"reports", accounts + "OpenSession", false},
		{"gateway", accounts + "Authenticate", true},
		{"gateway", accounts + "OpenSession", false},
		{"logins", accounts + "OpenSession", true},
		{"logins", accounts + "Authenticate", false},
		{"gateway", albums + "DeleteAlbum", true},
		{"gateway", albums + "BatchGetAlbums", false},
		{"gateway", accounts + "UpdateUser", false},
		{"edge", accounts + "OpenSession", false},
		{"sre", accounts + "UpdateUser", true},
		{"sre", "/grpc.health.v1.Health/Check", true},
		{"probe", "/grpc.health.v1.Health/Check", true},
		{"probe", accounts + "GetUser", false},
		{"stranger", albums + "ListAlbums", false},
	} {
		if answer := callEmpty(t, s.dial(t, c.identity), c.method, false); (answer.Code() == codes.PermissionDenied) == c.may {
			t.Errorf("%s calls %s: %v", c.identity, c.method, answer)
		}
	}
}

// Whoever steals the edge's certificate still needs the password of each user.
func TestTheEdgesCertificateOpensASessionOnlyWithThePassword(t *testing.T) {
	t.Parallel()
	s := startSecured(t, nil)
	operator, edge := callerOver(s.dial(t, "operator")), callerOver(s.dial(t, "edge"))
	user := must(operator.Account.CreateUser(t.Context(), &accountv1.CreateUserRequest{
		Name: "Ann", Email: "a@waybook.example", Password: "the password",
	}))(t).GetUser().GetUserId()
	open := func() int {
		return len(must(operator.Account.ListSessions(t.Context(), &accountv1.ListSessionsRequest{UserId: user}))(t).GetSessions())
	}
	expectFault(t, failed(edge.Account.OpenSession(t.Context(), &accountv1.OpenSessionRequest{UserId: user})), codes.PermissionDenied, "CLIENT_NOT_ALLOWED")
	login := &accountv1.AuthenticateRequest{Email: "a@waybook.example", Password: "a guess"}
	expectFault(t, failed(edge.Account.Authenticate(t.Context(), login)), codes.Unauthenticated, "PASSWORD_INCORRECT")
	if n := open(); n != 0 {
		t.Errorf("%d sessions are open without the password", n)
	}
	login.Password = "the password"
	opened := must(edge.Account.Authenticate(t.Context(), login))(t)
	must(edge.Account.VerifySession(t.Context(), &accountv1.VerifySessionRequest{UserId: user, Token: opened.GetToken()}))(t)
	if n := open(); n != 1 || !opened.GetSession().GetExpireTime().IsValid() {
		t.Errorf("%d sessions are open, the reply has %v", n, opened.GetSession())
	}
}
