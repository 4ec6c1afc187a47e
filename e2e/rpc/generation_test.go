package rpc_test

import (
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

func (w *waybook) isOpen(user int64, token string) error {
	return failed(w.Account.VerifySession(w.t.Context(), &accountv1.VerifySessionRequest{UserId: user, Token: token}))
}
