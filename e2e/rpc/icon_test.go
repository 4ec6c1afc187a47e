package rpc_test

import (
	"bytes"
	"errors"
	"fmt"
	"image/jpeg"
	"io"
	"slices"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/internal/waybooktest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// uploadIcon makes a file the icon of a user.
func (w *waybook) uploadIcon(begin *accountv1.UploadIconStart, file []byte) (*accountv1.User, error) {
	w.t.Helper()
	stream, err := w.Account.UploadIcon(w.t.Context())
	if err != nil {
		return nil, err
	}
	err = stream.Send(&accountv1.UploadIconRequest{Part: &accountv1.UploadIconRequest_Start{Start: begin}})
	for chunk := range slices.Chunk(file, 1000) {
		if err == nil {
			err = stream.Send(&accountv1.UploadIconRequest{Part: &accountv1.UploadIconRequest_Chunk{Chunk: chunk}})
		}
	}
	if err != nil && !errors.Is(err, io.EOF) { // the reply says why
		return nil, err
	}
	reply, err := stream.CloseAndRecv()
	return reply.GetUser(), err
}

// iconAt returns the request for the icon at an address.
func iconAt(t *testing.T, url string) *accountv1.GetIconRequest {
	t.Helper()
	request := &accountv1.GetIconRequest{}
	if _, err := fmt.Sscanf(url, "upload/user/%d/%d-icon.jpg", &request.UserId, &request.Icon); err != nil {
		t.Fatalf("%s is no address of an icon: %v", url, err)
	}
	return request
}

func TestAnUploadedIconIsShownUntilThereIsAnotherOne(t *testing.T) {
	t.Parallel()
	onBothStores(t, func(t *testing.T, w *waybook) {
		w.t = t
		user := w.newUser("owner")
		first := must(w.uploadIcon(&accountv1.UploadIconStart{ActorId: user, Name: proto.String("小旅人")}, jpegOf(t, 800, 400, 1)))(t)
		icon := iconAt(t, first.GetIconUrl())
		if icon.GetUserId() != user || first.GetName() != "小旅人" {
			t.Errorf("the user is %v", first)
		}
		content := must(w.Account.GetIcon(t.Context(), icon))(t).GetJpeg()
		if m := must(jpeg.Decode(bytes.NewReader(content)))(t); m.Bounds().Dx() != 320 || m.Bounds().Dy() != 160 {
			t.Errorf("the icon is %v", m.Bounds())
		}
		shown := must(w.Account.BatchGetUsers(t.Context(), &accountv1.BatchGetUsersRequest{UserIds: []int64{user}}))(t).GetUsers()
		if len(shown) != 1 || shown[0].GetIconUrl() != first.GetIconUrl() {
			t.Errorf("others see %v", shown)
		}
		second := must(w.uploadIcon(&accountv1.UploadIconStart{ActorId: user}, pngOf(t, 40, 30)))(t)
		if second.GetIconUrl() == first.GetIconUrl() || second.GetName() != "小旅人" {
			t.Errorf("the user is %v", second)
		}
		expectFault(t, failed(w.Account.GetIcon(t.Context(), icon)), codes.NotFound, "ICON_NOT_FOUND")
		icon = iconAt(t, second.GetIconUrl())
		for name, hide := range map[string]func(){
			"with another address": func() {
				must(w.Account.UpdateUser(t.Context(), &accountv1.UpdateUserRequest{UserId: user, IconUrl: proto.String("x.jpg")}))(t)
			},
			"of a hidden user": func() {
				must(w.Account.UpdateUser(t.Context(), &accountv1.UpdateUserRequest{UserId: user, Hidden: proto.Bool(true)}))(t)
			},
			"of a deleted user": func() {
				must(w.Account.UpdateUser(t.Context(), &accountv1.UpdateUserRequest{UserId: user, Disabled: proto.Bool(true)}))(t)
				must(w.Account.DeleteUser(t.Context(), &accountv1.DeleteUserRequest{UserId: user}))(t)
			},
		} {
			user = w.newUser(name)
			shown := must(w.uploadIcon(&accountv1.UploadIconStart{ActorId: user}, pngOf(t, 40, 30)))(t)
			icon := iconAt(t, shown.GetIconUrl())
			must(w.Account.GetIcon(t.Context(), icon))(t)
			hide()
			t.Run(name, func(t *testing.T) {
				expectFault(t, failed(w.Account.GetIcon(t.Context(), icon)), codes.NotFound, "ICON_NOT_FOUND")
			})
		}
		must(w.Account.GetIcon(t.Context(), icon))(t)
		icon.UserId = user + 1<<16
		expectFault(t, failed(w.Account.GetIcon(t.Context(), icon)), codes.NotFound, "ICON_NOT_FOUND")
	})
}

func TestAnIconThatIsRefusedChangesNothing(t *testing.T) {
	t.Parallel()
	w := start(t, waybooktest.Flags("-max-photo-bytes=50000", "-photo-memory=8000000"))
	user, valid := w.newUser("owner"), jpegOf(t, 400, 300, 1)
	for name, refused := range map[string]struct {
		begin  *accountv1.UploadIconStart
		file   []byte
		code   codes.Code
		reason string
		fields []string
	}{
		"no picture":       {&accountv1.UploadIconStart{ActorId: user}, []byte("<svg></svg>"), codes.InvalidArgument, "PHOTO_NOT_SUPPORTED", nil},
		"half a picture":   {&accountv1.UploadIconStart{ActorId: user}, valid[:len(valid)/2], codes.InvalidArgument, "PHOTO_DAMAGED", nil},
		"too many bytes":   {&accountv1.UploadIconStart{ActorId: user}, make([]byte, 50_001), codes.InvalidArgument, "PHOTO_TOO_LARGE", nil},
		"too many pixels":  {&accountv1.UploadIconStart{ActorId: user}, pngOf(t, 4000, 3000), codes.InvalidArgument, "PHOTO_TOO_LARGE", nil},
		"no user":          {&accountv1.UploadIconStart{ActorId: user + 1<<16}, valid, codes.NotFound, "USER_NOT_FOUND", nil},
		"a disguised name": {&accountv1.UploadIconStart{ActorId: user, Name: proto.String(" owner")}, valid, codes.InvalidArgument, "INVALID_PARAMETER", []string{"name"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := w.uploadIcon(refused.begin, refused.file)
			expectFault(t, err, refused.code, refused.reason, refused.fields...)
		})
	}
	shown := must(w.Account.GetUser(t.Context(), &accountv1.GetUserRequest{UserId: user}))(t).GetUser()
	if shown.GetIconUrl() != "owner.jpg" || shown.GetName() != "owner" {
		t.Errorf("the user is %v", shown)
	}
	off := start(t, waybooktest.Flags("-max-photo-bytes=0"))
	_, err := off.uploadIcon(&accountv1.UploadIconStart{ActorId: off.newUser("owner")}, valid)
	expectFault(t, err, codes.FailedPrecondition, "UPLOADS_OFF")
}
