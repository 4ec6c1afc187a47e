package account

import (
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/internal/blob"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/upload"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// icons are the pictures that users have uploaded: the thumbnail of each file. A user is stored
// after the picture that it names, and a sweep deletes those that no user names.
type icons struct {
	// store is nil if there are none.
	store blob.Store
	// receiver receives new ones; nil if there are no uploads.
	receiver *upload.Receiver
	ids      *id.Source
	sweeper  *upload.Sweep
}

// iconOf is the part of a user that names the picture.
type iconOf struct {
	ID   int64 `bson:"_id"`
	Icon int64 `bson:"icon"`
}

func openIcons(ctx context.Context, deps service.Deps,
	users *docstore.Collection[int64, user]) (opened icons, err error) {
	opened = icons{receiver: deps.Uploads, ids: deps.NewIDs()}
	if deps.Files == nil {
		return opened, nil
	}
	if opened.store, err = deps.Files(ctx, usersSpec(deps.Changes).Name); err != nil || opened.store == nil {
		return opened, err
	}
	opened.sweeper = &upload.Sweep{
		Store: opened.store, Backups: deps.Backups, Now: deps.Now,
		Named: upload.NamedBy(docstore.Project[iconOf](users), func(u iconOf) int64 { return u.Icon }),
	}
	return opened, nil
}

// sweep deletes the pictures that users have replaced, and those of deleted users, once a day.
func (i *icons) sweep(ctx context.Context) error {
	if i.sweeper == nil {
		return nil
	}
	return i.sweeper.Do(ctx)
}

// iconURL returns the address of the user's icon.
func (u *user) iconURL() string {
	if u.Icon == 0 {
		return u.IconURL
	}
	return fmt.Sprintf("upload/user/%d/%d-icon.jpg", u.ID, u.Icon)
}

// setIconURL sets the address of the icon. An uploaded one stays if it has this address.
func (u *user) setIconURL(url string) {
	if url != u.iconURL() {
		u.IconURL, u.Icon = url, 0
	}
}

// UploadIcon makes a file the icon of a user.
func (s *server) UploadIcon(
	stream grpc.ClientStreamingServer[accountv1.UploadIconRequest, accountv1.UploadIconResponse],
) error {
	return upload.Serve(stream, s.uploadIcon)
}

func (s *server) uploadIcon(
	ctx context.Context, start *accountv1.UploadIconStart, next func() ([]byte, error),
) (_ *accountv1.UploadIconResponse, err error) {
	if start.Name != nil {
		if err := checkNickname(start.GetName()); err != nil {
			return nil, err
		}
	}
	if _, err := s.users.Get(ctx, start.GetActorId()); err != nil {
		return nil, noUser(err, start.GetActorId())
	}
	if s.icons.store == nil {
		return nil, upload.Off("this server has no place for icons")
	}
	file, err := s.icons.receiver.Receive(ctx, next)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := file.Make(ctx); err != nil {
		return nil, err
	}
	stored, err := file.Put(ctx, s.icons.store, func(after int64, taken int) (int64, error) {
		return s.icons.ids.Next(id.PlaceOf(start.GetActorId()), after, taken)
	}, blob.Thumbnail)
	if err != nil {
		return nil, err
	}
	updated, err := s.users.Update(ctx, start.GetActorId(), func(u *user) error {
		if start.Name != nil {
			u.setName(start.GetName())
		}
		u.IconURL, u.Icon = "", stored
		return nil
	})
	if errors.Is(err, docstore.ErrNotFound) {
		// The sweep would delete it too.
		_ = upload.Delete(ctx, s.icons.store, stored, blob.Thumbnail)
	}
	if err != nil {
		return nil, noUser(err, start.GetActorId())
	}
	return &accountv1.UploadIconResponse{User: userProto(updated)}, nil
}

// GetIcon returns the picture of an uploaded icon.
func (s *server) GetIcon(ctx context.Context,
	request *accountv1.GetIconRequest) (_ *accountv1.GetIconResponse, err error) {
	found, err := s.users.Get(ctx, request.GetUserId())
	if err != nil && !errors.Is(err, docstore.ErrNotFound) {
		return nil, err
	}
	if err != nil || s.icons.store == nil || found.Icon != request.GetIcon() || found.Hidden == isHidden {
		return nil, apierror.NotFound("ICON_NOT_FOUND", "user %d has no icon %d", request.GetUserId(),
			request.GetIcon())
	}
	file, err := s.icons.store.Open(ctx, blob.Key{File: found.Icon, Kind: blob.Thumbnail})
	if err != nil {
		return nil, fmt.Errorf("icon of user %d: %w", found.ID, err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	jpeg, err := io.ReadAll(file)
	return &accountv1.GetIconResponse{Jpeg: jpeg}, err
}
