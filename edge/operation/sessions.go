package operation

import (
	"slices"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/reply"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// getSessionList lists the open sessions of the user, first the one that asks and then the newest
// (rule 17.33).
func getSessionList(c *Config) Function {
	return Function{
		Name: "getSessionList", Rule: "17.33", Title: form.Title{"List the own sessions", "列出自己的登入"}, Effect: Reads,
		IsAddition: true, IsOwn: true,
		Operations: only(unary(c, func(in *Input) *accountv1.ListSessionsRequest {
			session, _ := in.Caller.Session()
			return &accountv1.ListSessionsRequest{UserId: int64(in.User), PageSize: pageSize, Token: session.Token}
		}, c.Account.ListSessions, writeSessions)),
	}
}

// writeSessions writes the sessions of one page, which has room for more than a user opens.
func writeSessions(out reply.Writer, response *accountv1.ListSessionsResponse) {
	sessions := response.GetSessions()
	slices.SortStableFunc(sessions, func(a, b *accountv1.Session) int {
		if a.GetCurrent() != b.GetCurrent() {
			return map[bool]int{true: -1, false: 1}[a.GetCurrent()]
		}
		return b.GetCreateTime().AsTime().Compare(a.GetCreateTime().AsTime())
	})
	out.BeginList("sessionList")
	for i, each := range sessions {
		out.BeginItem("session", i+1)
		out.Text("sessionID", each.GetSessionId())
		if opened := each.GetCreateTime(); opened != nil {
			out.Moment("opened", opened.AsTime())
		}
		if used := each.GetLastUsedTime(); used != nil {
			out.Moment("used", used.AsTime())
		}
		out.Moment("expires", each.GetExpireTime().AsTime())
		if each.GetCurrent() {
			out.Integer("current", 1)
		}
		out.EndItem("session", i+1)
	}
	out.EndList("sessionList")
}

// closeOtherSessions closes all sessions of the user but the one that asks (rule 17.34).
func closeOtherSessions(c *Config) Function {
	return Function{
		Name: "closeOtherSessions", Rule: "17.34", Title: form.Title{"Close the other sessions", "登出其他裝置"},
		Effect: Writes, IsAddition: true,
		Operations: only(unary(c, func(in *Input) *accountv1.CloseAllSessionsRequest {
			session, _ := in.Caller.Session()
			return &accountv1.CloseAllSessionsRequest{UserId: int64(in.User), KeptToken: session.Token}
		}, c.Account.CloseAllSessions, writeNothing)),
	}
}
