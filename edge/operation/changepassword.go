package operation

import (
	"github.com/waybook/waybook/edge/form"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// changePassword gives the user another password, and ends the user's other sessions (rule 17.31).
func changePassword(c *Config) Function {
	return Function{
		Name: "changePassword", Rule: "17.31", Title: form.Title{"Change the password", "修改密碼"}, Effect: Writes,
		IsAddition: true, IsOfLogin: true,
		Operations: only(unary(c, func(in *Input) *accountv1.ChangePasswordRequest {
			session, _ := in.Caller.Session()
			return &accountv1.ChangePasswordRequest{
				ActorId:       int64(in.User),
				Token:         session.Token,
				OldPassword:   form.RequiredInBody(&in.Reader, &paramOldPassword, "old_password", form.Text),
				NewPassword:   form.RequiredInBody(&in.Reader, &paramNewPassword, "new_password", form.Text),
				ClientAddress: in.Caller.Address(),
			}
		}, c.Account.ChangePassword, writeNothing)),
	}
}

var (
	paramOldPassword = form.Parameter{Name: "oldPassword", Title: form.Title{"Present password", "目前密碼"},
		Hint: paramPassword.Hint}
	paramNewPassword = form.Parameter{Name: "newPassword", Title: form.Title{"New password", "新密碼"},
		Hint: newPasswordHint}
)
