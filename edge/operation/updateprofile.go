package operation

import (
	"github.com/waybook/waybook/edge/form"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// updateProfile changes the nickname and the icon of the user (rule 17.30).
func updateProfile(c *Config) Function {
	return Function{
		Name: "updateProfile", Rule: "17.30", Title: form.Title{"Change the profile", "修改個人資料"}, Effect: Writes, IsAddition: true,
		Operations: only(unary(c, func(in *Input) *accountv1.UpdateProfileRequest {
			return &accountv1.UpdateProfileRequest{
				ActorId: int64(in.User),
				Name:    optional(in, &paramNickname, "name", form.Text),
				IconUrl: form.Clearable(&in.Reader, &paramIcon, "icon_url", form.Text),
			}
		}, c.Account.UpdateProfile, writeNothing)),
	}
}

var paramIcon = form.Parameter{Name: "icon", Title: form.Title{"Address of the icon", "頭像位址"}, Hint: "address of the image, at most 2000 bytes, or empty for none"}
