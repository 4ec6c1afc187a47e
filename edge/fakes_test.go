package edge

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/edge/operation"
	"github.com/waybook/waybook/internal/clients"
	"github.com/waybook/waybook/internal/platform/rules"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	recommendationv1 "github.com/waybook/waybook/proto/gen/waybook/recommendation/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// The open session of the fakes, as a cookie.
const (
	demoUser   = 7
	demoToken  = "0123456789abcdef0123456789abcdef"
	demoCookie = "id=7; idrand=" + demoToken
	// lateToken gets no answer.
	lateToken = "ffffffffffffffffffffffffffffffff"
	// demoSessionTime is how long the session is still open.
	demoSessionTime = 90 * time.Minute
)

// fakes are the four services. They validate requests with the rules of the contract. The end-to-end
// tests use the real services.
type fakes struct {
	// answer gets every request except VerifySession, and the lists below.
	answer func(ctx context.Context, request proto.Message) (proto.Message, error)
	// albums and pois, unless nil, list summaries. Everybody has the same two entries.
	albums func(context.Context, *albumv1.ListAlbumsRequest) (*albumv1.ListAlbumsResponse, error)
	pois   func(context.Context, *poiv1.ListPoisRequest) (*poiv1.ListPoisResponse, error)

	// photos has the streams of photos.
	photos *uploads
	// icons are those that were uploaded: the user, the nickname and the file of each.
	icons []string

	mu       sync.Mutex
	requests []proto.Message // all except VerifySession, in order
}

type fakeAccount struct {
	accountv1.UnimplementedAccountServiceServer
	icons *[]string
}

func (fakeAccount) VerifySession(ctx context.Context, r *accountv1.VerifySessionRequest) (*accountv1.VerifySessionResponse, error) {
	if r.GetToken() == lateToken {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if r.GetUserId() != demoUser || r.GetToken() != demoToken {
		return nil, refusedFor(codes.Unauthenticated, "LOGIN_REQUIRED")
	}
	return &accountv1.VerifySessionResponse{
		Session: &accountv1.Session{UserId: demoUser, ExpireTime: timestamppb.New(time.Now().Add(demoSessionTime))},
	}, nil
}

func (fakeAccount) GetRegistration(context.Context, *accountv1.GetRegistrationRequest) (*accountv1.GetRegistrationResponse, error) {
	return &accountv1.GetRegistrationResponse{Registration: accountv1.Registration_REGISTRATION_INVITE}, nil
}

// intercept answers for the services.
func (f *fakes) intercept(ctx context.Context, request any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	if strings.HasSuffix(info.FullMethod, "/VerifySession") || strings.HasSuffix(info.FullMethod, "/GetRegistration") || strings.HasSuffix(info.FullMethod, "/ResolveOldIds") {
		return next(ctx, request)
	}
	message := request.(proto.Message)
	if err := f.accept(message); err != nil {
		return nil, err
	}
	switch r := message.(type) {
	case *albumv1.ListAlbumsRequest:
		if f.albums != nil {
			return f.albums(ctx, r)
		}
	case *poiv1.ListPoisRequest:
		if f.pois != nil {
			return f.pois(ctx, r)
		}
	case *blogv1.ListBlogsRequest:
		if r.GetView() == typev1.View_VIEW_SUMMARY {
			return &blogv1.ListBlogsResponse{Summaries: []*typev1.Summary{{Id: 1, Title: "a"}, {Id: 2, Title: "b"}}}, nil
		}
	}
	return f.answer(ctx, message)
}

// accept records a request and validates it with the rules of the contract.
func (f *fakes) accept(request proto.Message) error {
	f.mu.Lock()
	f.requests = append(f.requests, request)
	f.mu.Unlock()
	violations := rules.Violations(request)
	if len(violations) == 0 {
		return nil
	}
	details := &errdetails.BadRequest{}
	for _, v := range violations {
		details.FieldViolations = append(details.FieldViolations, &errdetails.BadRequest_FieldViolation{Field: v.Field, Description: v.Message})
	}
	return statusWith(codes.InvalidArgument, details)
}

// called returns the requests so far and forgets them.
func (f *fakes) called() []proto.Message {
	f.mu.Lock()
	defer f.mu.Unlock()
	requests := f.requests
	f.requests = nil
	return requests
}

// refusedFor returns an error with a stable reason, as the services return it.
func refusedFor(code codes.Code, reason string) error {
	return statusWith(code, &errdetails.ErrorInfo{Reason: reason, Domain: operation.ReasonDomain})
}

func statusWith(code codes.Code, detail protoadapt.MessageV1) error {
	answer, err := status.New(code, "private text").WithDetails(detail)
	if err != nil {
		panic(err)
	}
	return answer.Err()
}

// newEdge serves the fakes in memory and returns the edge in front of them.
func newEdge(tb testing.TB, f *fakes, changes ...func(*Config)) http.Handler {
	tb.Helper()
	listener := bufconn.Listen(1 << 20)
	server := grpc.NewServer(grpc.UnaryInterceptor(f.intercept))
	accountv1.RegisterAccountServiceServer(server, fakeAccount{icons: &f.icons})
	albumv1.RegisterAlbumServiceServer(server, albumv1.UnimplementedAlbumServiceServer{})
	blogv1.RegisterBlogServiceServer(server, blogv1.UnimplementedBlogServiceServer{})
	poiv1.RegisterPoiServiceServer(server, poiv1.UnimplementedPoiServiceServer{})
	commentv1.RegisterCommentServiceServer(server, commentv1.UnimplementedCommentServiceServer{})
	var photos photov1.PhotoServiceServer = photov1.UnimplementedPhotoServiceServer{}
	if f.photos != nil {
		photos = f.photos
	}
	photov1.RegisterPhotoServiceServer(server, photos)
	recommendationv1.RegisterRecommendationServiceServer(server, recommendationv1.UnimplementedRecommendationServiceServer{})
	go server.Serve(listener)
	tb.Cleanup(server.Stop)

	connection, err := grpc.NewClient("passthrough:///fakes",
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { connection.Close() })

	services := NamedCalls(connection)
	config := Config{
		Clients: clients.Of(services, services, services, services),
		Zone:    time.FixedZone("Taipei", 8*60*60),
		Log:     slog.New(slog.DiscardHandler),
	}
	for _, change := range changes {
		change(&config)
	}
	return New(config)
}

// post sends a form with the cookie of the open session.
func post(h http.Handler, form string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, Path, strings.NewReader(form))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Cookie", demoCookie)
	return record(h, r)
}

func get(h http.Handler, form string) *httptest.ResponseRecorder {
	return record(h, httptest.NewRequest(http.MethodGet, Path+"?"+form, nil))
}

func record(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// xmlBody returns a whole reply with the given elements.
func xmlBody(elements string) string {
	return `<?xml version="1.0" encoding="UTF-8"?>` + "\n<response>" + elements + "</response>"
}

func failed(info string) string {
	return xmlBody("<status>FAILED</status><info>" + info + "</info>")
}

// always answers every call with the same result.
func always(answer proto.Message, err error) func(context.Context, proto.Message) (proto.Message, error) {
	return func(context.Context, proto.Message) (proto.Message, error) { return answer, err }
}

func readAll(tb testing.TB, r io.Reader) string {
	tb.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		tb.Fatal(err)
	}
	return string(b)
}

// uploads is a PhotoService that keeps what a call has sent when the call ends without an error, and has files.
type uploads struct {
	photov1.UnimplementedPhotoServiceServer
	// refuse, unless nil, may end a call before its chunks are read.
	refuse func(*photov1.UploadStart) error
	// download answers for the files; breaksAt, unless 0, is where a file ends early.
	download func(*photov1.DownloadRequest) (content string, err error)
	breaksAt int

	mu     sync.Mutex
	starts []*photov1.UploadStart
	kept   []upload
	ended  chan error
	asked  []*photov1.DownloadRequest
}

// upload is what a call has sent.
type upload struct {
	start *photov1.UploadStart
	size  int
	sum   [sha256.Size]byte
}

func newUploads() *uploads { return &uploads{ended: make(chan error, 100)} }

func (u *uploads) Upload(stream grpc.ClientStreamingServer[photov1.UploadRequest, photov1.UploadResponse]) (err error) {
	defer func() {
		select {
		case u.ended <- err:
		default: // nobody counts them
		}
	}()
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	u.mu.Lock()
	u.starts = append(u.starts, first.GetStart())
	u.mu.Unlock()
	if u.refuse != nil {
		if err := u.refuse(first.GetStart()); err != nil {
			return err
		}
	}
	size, sum := 0, sha256.New()
	for {
		message, err := stream.Recv()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if n := len(message.GetChunk()); n == 0 || n > 262144 {
			return fmt.Errorf("a chunk of %d bytes", n)
		}
		size += len(message.GetChunk())
		sum.Write(message.GetChunk())
	}
	u.mu.Lock()
	u.kept = append(u.kept, upload{first.GetStart(), size, [sha256.Size]byte(sum.Sum(nil))})
	id := int64(len(u.kept))
	u.mu.Unlock()
	return stream.SendAndClose(&photov1.UploadResponse{Photo: &photov1.Photo{PhotoId: id}})
}

func (u *uploads) Download(r *photov1.DownloadRequest, stream grpc.ServerStreamingServer[photov1.DownloadResponse]) error {
	u.mu.Lock()
	u.asked = append(u.asked, r)
	u.mu.Unlock()
	content, err := u.download(r)
	if err != nil {
		return err
	}
	file := &photov1.DownloadFile{ContentType: "image/png", SizeBytes: int64(len(content))}
	if r.GetSize() != photov1.PhotoSize_PHOTO_SIZE_ORIGINAL {
		file.ContentType = "image/jpeg"
	}
	if err := stream.Send(&photov1.DownloadResponse{Part: &photov1.DownloadResponse_File{File: file}}); err != nil {
		return err
	}
	if u.breaksAt > 0 {
		content = content[:u.breaksAt]
	}
	for chunk := range slices.Chunk([]byte(content[r.GetOffset():]), 262144) {
		if err := stream.Send(&photov1.DownloadResponse{Part: &photov1.DownloadResponse_Chunk{Chunk: chunk}}); err != nil {
			return err
		}
	}
	return nil
}

// asks returns the requests for files so far and forgets them.
func (u *uploads) asks() []*photov1.DownloadRequest {
	u.mu.Lock()
	defer u.mu.Unlock()
	asked := u.asked
	u.asked = nil
	return asked
}

// taken returns what was kept, and forgets it.
func (u *uploads) taken() []upload {
	u.mu.Lock()
	defer u.mu.Unlock()
	kept := u.kept
	u.kept = nil
	return kept
}
