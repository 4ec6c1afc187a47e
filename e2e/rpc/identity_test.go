package rpc_test

import (
	"context"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/clients"
	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/internal/waybooktest"
	"github.com/waybook/waybook/proto/descriptors"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	recommendationv1 "github.com/waybook/waybook/proto/gen/waybook/recommendation/v1"
)

// leastOfAccount says who may call the methods of AccountService, besides the operator. It
// repeats the contract by hand: a method that more callers may call than they need is a way
// to take over accounts.
var leastOfAccount = map[string][]string{
	"Authenticate": {"edge"}, "VerifySession": {"edge"}, "CloseSession": {"edge"}, "CloseAllSessions": {"edge"}, "ListSessions": {"edge"},
	"RegisterUser": {"edge"}, "GetRegistration": {"edge"}, "UpdateProfile": {"edge"}, "UploadIcon": {"edge"}, "GetIcon": {"edge"},
	"ChangePassword": {"edge"},
	"BatchGetUsers":  {"album", "blog", "poi"}, "ListHiddenUsers": {"album", "blog", "poi"}, "GrantRewards": {"blog"},
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

// services are the full names of all services.
var services = []string{
	"waybook.account.v1.AccountService", "waybook.album.v1.AlbumService", "waybook.blog.v1.BlogService", "waybook.poi.v1.PoiService",
	"waybook.comment.v1.CommentService", "waybook.photo.v1.PhotoService", "waybook.recommendation.v1.RecommendationService",
	"waybook.movein.v1.MoveInService", "waybook.store.v1.StoreService",
}

func TestEachServiceIsHealthyAndUnknownOnesAreFaults(t *testing.T) {
	t.Parallel()
	w := start(t)
	client := healthv1.NewHealthClient(w.Connection)
	for _, service := range append([]string{""}, services...) {
		reply := must(client.Check(t.Context(), &healthv1.HealthCheckRequest{Service: service}))(t)
		if reply.GetStatus() != healthv1.HealthCheckResponse_SERVING {
			t.Errorf("%q is %v", service, reply.GetStatus())
		}
	}
	_, err := client.Check(t.Context(), &healthv1.HealthCheckRequest{Service: "waybook.none.v1.NoneService"})
	expectFault(t, err, codes.NotFound, "SERVICE_UNKNOWN")
	for _, method := range []string{"/waybook.album.v1.AlbumService/Fly", "/waybook.none.v1.NoneService/Get"} {
		expectFault(t, w.Connection.Invoke(t.Context(), method, &emptypb.Empty{}, &emptypb.Empty{}), codes.Unimplemented, "METHOD_UNKNOWN")
	}
}

// docs/callers.md lists these. gRPC writes them before a service sees the call, so they have no details.
func TestTheFailuresOfTheTransportAreThoseOfTheGuide(t *testing.T) {
	t.Parallel()
	w := start(t)
	guide := string(must(os.ReadFile("../../docs/callers.md"))(t))
	const get = "/waybook.album.v1.AlbumService/GetAlbum"
	call := func(ctx context.Context, request any, options ...grpc.CallOption) error {
		return w.Connection.Invoke(ctx, get, request, &emptypb.Empty{}, options...)
	}
	for _, test := range []struct {
		err  error
		code codes.Code
		text string
	}{
		{call(t.Context(), make([]byte, 4<<20+1), grpc.ForceCodec(asIs{})), codes.ResourceExhausted, "grpc: received message larger than max"},
		{call(t.Context(), []byte{0x0a, 0xff}, grpc.ForceCodec(asIs{})), codes.Internal, "grpc: failed to unmarshal the received message"},
		{call(metadata.AppendToOutgoingContext(t.Context(), "x-large", strings.Repeat("x", 17<<10)), &emptypb.Empty{}), codes.Internal, "header list size"},
	} {
		if got := status.Convert(test.err); got.Code() != test.code || !strings.Contains(got.Message(), test.text) || len(got.Details()) > 0 {
			t.Errorf("got %v, want %v with %q", test.err, test.code, test.text)
		}
		if !strings.Contains(guide, test.text) {
			t.Errorf("docs/callers.md lacks %q", test.text)
		}
	}
}

// The first attempt of an update may have happened, and another update after it.
func TestAnUpdateIsNotRetriedAndOtherCallsAre(t *testing.T) {
	t.Parallel()
	listener := must(process.Listen(t.Context(), "grpc", "127.0.0.1:0"))(t)
	var attempts atomic.Int64
	server := grpc.NewServer(grpc.UnaryInterceptor(
		func(context.Context, any, *grpc.UnaryServerInfo, grpc.UnaryHandler) (any, error) {
			attempts.Add(1)
			return nil, status.Error(codes.Unavailable, "the reply of the store was lost")
		}))
	albumv1.RegisterAlbumServiceServer(server, albumv1.UnimplementedAlbumServiceServer{})
	commentv1.RegisterCommentServiceServer(server, commentv1.UnimplementedCommentServiceServer{})
	photov1.RegisterPhotoServiceServer(server, photov1.UnimplementedPhotoServiceServer{})
	recommendationv1.RegisterRecommendationServiceServer(server, recommendationv1.UnimplementedRecommendationServiceServer{})
	poiv1.RegisterPoiServiceServer(server, poiv1.UnimplementedPoiServiceServer{})
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	connection := must(process.Transport{}.Dial("album", listener.Addr().String()))(t)
	t.Cleanup(func() {
		if err := connection.Close(); err != nil {
			t.Error(err)
		}
	})
	all := clients.Of(connection, connection, connection, connection)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for name, c := range map[string]struct {
		call     func(context.Context) error
		attempts int64
	}{
		"UpdateAlbum":    {calling(all.Album.UpdateAlbum, &albumv1.UpdateAlbumRequest{}), 1},
		"UpdatePoi":      {calling(all.Poi.UpdatePoi, &poiv1.UpdatePoiRequest{}), 1},
		"UpdatePhoto":    {calling(all.Photo.UpdatePhoto, &photov1.UpdatePhotoRequest{Parent: &photov1.UpdatePhotoRequest_PoiId{PoiId: 1}}), 1},
		"RemovePhoto":    {calling(all.Photo.RemovePhoto, &photov1.RemovePhotoRequest{Parent: &photov1.RemovePhotoRequest_PoiId{PoiId: 1}}), 4},
		"ReplyToComment": {calling(all.Comment.ReplyToComment, &commentv1.ReplyToCommentRequest{Parent: &commentv1.ReplyToCommentRequest_BlogId{BlogId: 1}}), 1},
		"Recommend":      {calling(all.Recommendation.Recommend, &recommendationv1.RecommendRequest{Parent: &recommendationv1.RecommendRequest_BlogId{BlogId: 1}}), 1},
		"Withdraw":       {calling(all.Recommendation.Withdraw, &recommendationv1.WithdrawRequest{Parent: &recommendationv1.WithdrawRequest_BlogId{BlogId: 1}}), 1},
		"CreateAlbum":    {calling(all.Album.CreateAlbum, &albumv1.CreateAlbumRequest{}), 4},
		"GetAlbum":       {calling(all.Album.GetAlbum, &albumv1.GetAlbumRequest{}), 4},
	} {
		attempts.Store(0)
		if err := c.call(ctx); status.Code(err) != codes.Unavailable {
			t.Errorf("%s: %v", name, err)
		}
		if n := attempts.Load(); n != c.attempts {
			t.Errorf("%s was tried %d times, want %d", name, n, c.attempts)
		}
	}
}
