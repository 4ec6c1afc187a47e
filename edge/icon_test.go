package edge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/internal/platform/admission"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

func (a fakeAccount) UploadIcon(stream grpc.ClientStreamingServer[accountv1.UploadIconRequest, accountv1.UploadIconResponse]) error {
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	var content strings.Builder
	for {
		message, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		content.Write(message.GetChunk())
	}
	*a.icons = append(*a.icons, fmt.Sprintf("%d %q %s", first.GetStart().GetActorId(), first.GetStart().GetName(), content.String()))
	return stream.SendAndClose(&accountv1.UploadIconResponse{})
}

// withIcon are fakes that have the icon 56 of user 7.
func withIcon(jpeg string) *fakes {
	return &fakes{answer: func(_ context.Context, request proto.Message) (proto.Message, error) {
		asked := request.(*accountv1.GetIconRequest)
		if asked.GetUserId() != 7 || asked.GetIcon() != 56 {
			return nil, refusedFor(codes.NotFound, "ICON_NOT_FOUND")
		}
		return &accountv1.GetIconResponse{Jpeg: []byte(jpeg)}, nil
	}}
}

func TestAnIconIsServedAsAThumbnail(t *testing.T) {
	jpeg := strings.Repeat("0123456789", 60_000)
	h := newEdge(t, withIcon(jpeg))
	w := getFile(h, http.MethodGet, "/upload/user/7/56-icon.jpg")
	if w.Code != 200 || w.Body.String() != jpeg {
		t.Errorf("got %d and %d bytes", w.Code, w.Body.Len())
	}
	for name, want := range map[string]string{
		"Content-Type": "image/jpeg", "Etag": `"56-icon"`, "Cache-Control": immutable, "Content-Security-Policy": filePolicy,
		"X-Content-Type-Options": "nosniff", "Content-Disposition": "",
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if w := getFile(h, http.MethodGet, "/upload/user/7/56-icon.jpg", "Range: bytes=3-5"); w.Code != 206 || w.Body.String() != "345" {
		t.Errorf("a part: got %d %s", w.Code, w.Body)
	}
	if w := getFile(h, http.MethodGet, "/upload/user/7/56-icon.jpg", `If-None-Match: "56-icon"`); w.Code != 304 {
		t.Errorf("a known tag: got %d", w.Code)
	}
	for path, info := range map[string]string{
		"/upload/user/7/57-icon.jpg":   "ICON NOT FOUND",
		"/upload/user/7/56.jpg":        "NOT FOUND",
		"/upload/user/7/56-thumb.jpg":  "NOT FOUND",
		"/upload/user/7/56-original":   "NOT FOUND",
		"/upload/user/0/56-icon.jpg":   "NOT FOUND",
		"/upload/user/7/0-icon.jpg":    "NOT FOUND",
		"/upload/album/12/34-icon.jpg": "NOT FOUND",
	} {
		if w := getFile(h, http.MethodGet, path); w.Code != 404 || w.Body.String() != failed(info) {
			t.Errorf("%s: got %d %s", path, w.Code, w.Body)
		}
	}
}

func TestALargeIconIsALongReply(t *testing.T) {
	load := Load{LongReplyBytes: admission.New(admission.Limits{Slots: 100_000})}
	load.LongReplyBytes.TryEnter(20_000)
	for _, c := range []struct {
		bytes, status int
	}{{60_000, 200}, {70_000, 200}, {90_000, 503}} {
		h := newEdge(t, withIcon(strings.Repeat("x", c.bytes)), func(config *Config) { config.Load = load })
		if w := getFile(h, http.MethodGet, "/upload/user/7/56-icon.jpg"); w.Code != c.status {
			t.Errorf("%d bytes: got %d", c.bytes, w.Code)
		}
	}
}

// A user who sends a file changes the nickname in the same call.
func TestAFileIsAnIcon(t *testing.T) {
	f := &fakes{}
	h := newEdge(t, f, withUploads(100))
	profile := field("func", "updateProfile")
	for _, body := range []string{
		profile + field("nickname", "Mei") + file("icon", "jpeg"), profile + field("icon", "x.jpg") + file("icon", "jpeg"),
	} {
		if w := postAs(h, partsType, Path, body+endOfParts); w.Body.String() != xmlBody("<status>SUCCESS</status>") {
			t.Errorf("got %s", w.Body)
		}
	}
	want := []string{`7 "Mei" jpeg`, `7 "" jpeg`}
	if !slices.Equal(f.icons, want) {
		t.Errorf("got %q, want %q", f.icons, want)
	}
	for body, info := range map[string]string{
		profile + file("icon", strings.Repeat("x", 101)):                          "PHOTO TOO LARGE",
		profile + file("photo", "x"):                                              "FILE NOT ACCEPTED: photo",
		profile + file("icon", "x") + field("nickname", "Mei"):                    "INVALID MULTIPART: send the fields before the file",
		profile + field("nickname", strings.Repeat("x", 101)) + file("icon", "x"): "INVALID PARAMETER: nickname (1 to 100 characters, no blanks at the ends, none invisible)",
	} {
		if w := postAs(h, partsType, Path, body+endOfParts); w.Body.String() != failed(info) {
			t.Errorf("got %s, want %s", w.Body, info)
		}
	}
	if len(f.icons) != 2 {
		t.Errorf("kept %q", f.icons)
	}
}
