package edge

import (
	"net/http"
	"strconv"
	"time"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// logIn opens a session for whoever knows a user's password, and hands it out
// both ways: as elements for programs and as the cookie of contract 5.2 for
// browsers. It is an addition to the legacy contract.
func logIn(accounts accountv1.AccountServiceClient) run {
	return func(x *exchange) error {
		request := &accountv1.AuthenticateRequest{
			Email:         requiredInBody(&x.in, &paramEmail, asText),
			Password:      requiredInBody(&x.in, &paramPassword, asText),
			ClientAddress: clientKey(x.handler.config.TrustedProxies.client(x.request)),
		}
		if err := x.in.complaint(x.handler.config.Validator, request); err != nil {
			return err
		}
		ctx, cancel := x.callContext()
		defer cancel()
		authenticated, err := accounts.Authenticate(ctx, request)
		if err != nil {
			return err
		}
		user := authenticated.GetUser().GetUserId()
		opened, err := accounts.OpenSession(ctx, &accountv1.OpenSessionRequest{UserId: user})
		if err != nil {
			return err
		}
		x.setCookies(strconv.FormatInt(user, 10), opened.GetToken(), opened.GetSession().GetExpireTime().AsTime())
		writeSuccess(x.out)
		x.out.integer("id", user)
		x.out.text("idrand", opened.GetToken())
		x.out.finish()
		return nil
	}
}

// logOut closes the session that the cookie names and takes the cookie away. It
// succeeds when there is none to close, as that is what its caller wants; when it
// fails, the session is open and the client still has its cookie. It is an
// addition to the legacy contract.
func logOut(accounts accountv1.AccountServiceClient) run {
	return func(x *exchange) error {
		if user, token, ok := sessionCookie(x.request.Header["Cookie"]); ok {
			ctx, cancel := x.callContext()
			defer cancel()
			if _, err := accounts.CloseSession(ctx, &accountv1.CloseSessionRequest{UserId: int64(user), Token: token}); err != nil {
				return err
			}
		}
		x.setCookies("", "", time.Time{})
		writeSuccess(x.out)
		x.out.finish()
		return nil
	}
}

// setCookies gives the client both parts of a session's cookie until the session
// expires; when it has, the client forgets them. Max-Age is what counts, Expires
// is for clients that do not know it.
func (x *exchange) setCookies(id, token string, expires time.Time) {
	age := int(time.Until(expires) / time.Second)
	if age <= 0 {
		age, expires = -1, time.Unix(1, 0)
	}
	secure := x.handler.config.TrustedProxies.isSecure(x.request)
	for _, part := range [...]struct{ name, value string }{{"id", id}, {"idrand", token}} {
		http.SetCookie(x.response.writer, &http.Cookie{ // #nosec G124 -- Secure where the client has TLS
			Name: part.name, Value: part.value, Path: "/", Expires: expires, MaxAge: age,
			Secure: secure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
		})
	}
}
