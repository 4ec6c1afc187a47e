package operation

import (
	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/reply"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// register makes a user for a stranger, if the account service lets strangers in (rules 17.28 and
// 17.29). It opens no session.
func register(c *Config) Function {
	return Function{
		Name: "register", Rule: "17.28", Title: form.Title{"Register", "註冊"}, Effect: Writes, IsAddition: true,
		IsOfLogin: true, IsForStrangers: true,
		Operations: only(unary(c, func(in *Input) *accountv1.RegisterUserRequest {
			return &accountv1.RegisterUserRequest{
				RequestId:     newRequestID(),
				Email:         form.RequiredInBody(&in.Reader, &paramNewEmail, "email", form.Text),
				Password:      form.RequiredInBody(&in.Reader, &paramRegisteredPassword, "password", form.Text),
				Name:          required(in, &paramNickname, "name", form.Text),
				Invitation:    form.Or(form.OptionalInBody(&in.Reader, &paramInvitation, "invitation", form.Text), ""),
				ClientAddress: in.Caller.Address(),
			}
		}, c.Account.RegisterUser, func(out reply.Writer, response *accountv1.RegisterUserResponse) {
			out.Integer("userID", response.GetUser().GetUserId())
		})),
	}
}

const (
	nicknameHint    = "1 to 100 characters, no blanks at the ends, none invisible"
	newPasswordHint = "8 to 200 characters" // #nosec G101 -- no password
)

var (
	paramNewEmail = form.Parameter{Name: "email", Title: paramEmail.Title,
		Hint: "an email address of at most 254 bytes"}
	paramRegisteredPassword = form.Parameter{Name: "password", Title: paramPassword.Title, Hint: newPasswordHint}
	paramNickname           = form.Parameter{Name: "nickname", Title: form.Title{"Nickname", "暱稱"}, Hint: nicknameHint}
	paramInvitation         = form.Parameter{Name: "invitation", Title: form.Title{"Invitation", "邀請碼"},
		Hint: "at most 100 characters"}
)
