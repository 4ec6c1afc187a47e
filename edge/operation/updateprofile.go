package operation

import (
	"context"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/reply"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// updateProfile changes the nickname and the icon of the user (rule 17.30). The icon is an address
// or a file (rule 17.38).
func updateProfile(c *Config) Function {
	change := unary(c, func(in *Input) *accountv1.UpdateProfileRequest {
		return &accountv1.UpdateProfileRequest{
			ActorId: int64(in.User),
			Name:    optional(in, &paramNickname, "name", form.Text),
			IconUrl: form.Clearable(&in.Reader, &paramIcon, "icon_url", form.Text),
		}
	}, c.Account.UpdateProfile, writeNothing)
	withAddress := change.Run
	change.Run = func(ctx context.Context, x *Exchange) error {
		if x.In.File != nil {
			return c.uploadIcon(ctx, x)
		}
		return withAddress(ctx, x)
	}
	return Function{
		Name: "updateProfile", Rule: "17.30", Title: form.Title{"Change the profile", "修改個人資料"},
		Effect: Writes, IsAddition: true, File: paramIcon.Name, Operations: only(change),
	}
}

// uploadIcon makes the file of a request the icon of the user, and changes the nickname if the
// request has one.
func (c *Config) uploadIcon(ctx context.Context, x *Exchange) error {
	start, err := built(ctx, c, &x.In, func(in *Input) *accountv1.UploadIconStart {
		return &accountv1.UploadIconStart{ActorId: int64(in.User),
			Name: optional(in, &paramNickname, "name", form.Text)}
	})
	if err != nil {
		return err
	}
	first := &accountv1.UploadIconRequest{Part: &accountv1.UploadIconRequest_Start{Start: start}}
	_, err = transfer(ctx, x, start, c.Account.UploadIcon, first, func(chunk []byte) *accountv1.UploadIconRequest {
		return &accountv1.UploadIconRequest{Part: &accountv1.UploadIconRequest_Chunk{Chunk: chunk}}
	})
	if err != nil {
		return err
	}
	reply.StartSuccess(x.Out.Writer)
	x.Out.Finish()
	return nil
}

var paramIcon = form.Parameter{Name: "icon", Title: form.Title{"Address of the icon", "頭像位址"},
	Hint: "address of the image, at most 2000 bytes, or empty for none"}
