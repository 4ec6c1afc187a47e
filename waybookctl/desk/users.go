package desk

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/moving/send"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	"github.com/waybook/waybook/waybookctl/output"
)

// most is how many users or sessions a page shows.
const most = 100

// foundUsers are the users that a search found.
type foundUsers struct {
	Users []output.Object `json:"users"`
	// HasMore reports that there are others.
	HasMore bool `json:"has_more"`
}

// findUsers finds users by their identifier, the beginning of their email address if the text has an @, or of
// their nickname. Without a text it lists users.
func (d *Desk) findUsers(r *http.Request) (any, error) {
	ctx, text := r.Context(), strings.TrimSpace(r.URL.Query().Get("find"))
	found := foundUsers{Users: []output.Object{}}
	add := func(users []*accountv1.User, next string) {
		for _, user := range users {
			found.Users = append(found.Users, output.FromProto(user))
		}
		found.HasMore = next != ""
	}
	if text == "" {
		listed, err := d.config.Services.Account.ListUsers(ctx, &accountv1.ListUsersRequest{PageSize: most})
		add(listed.GetUsers(), listed.GetNextPageToken())
		return found, err
	}
	if id, err := strconv.ParseInt(text, 10, 64); err == nil && id > 0 {
		got, err := d.config.Services.Account.GetUser(ctx, &accountv1.GetUserRequest{UserId: id})
		switch {
		case err == nil:
			add([]*accountv1.User{got.GetUser()}, "")
		case status.Code(err) != codes.NotFound:
			return nil, err
		}
	}
	request := &accountv1.FindUsersRequest{By: &accountv1.FindUsersRequest_NamePrefix{NamePrefix: text}, PageSize: most}
	if strings.Contains(text, "@") {
		request.By = &accountv1.FindUsersRequest_EmailPrefix{EmailPrefix: text}
	}
	matching, err := d.config.Services.Account.FindUsers(ctx, request)
	add(matching.GetUsers(), matching.GetNextPageToken())
	return found, err
}

// ofUser returns a function of a request that names a user.
func ofUser(f func(ctx context.Context, user int64) (any, error)) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		id, err := userOf(r)
		if err != nil {
			return nil, err
		}
		return f(r.Context(), id)
	}
}

func userOf(r *http.Request) (int64, error) {
	id, err := strconv.ParseInt(r.PathValue("user"), 10, 64)
	if err != nil || id <= 0 {
		return 0, badRequest(fmt.Sprintf("%q is not the identifier of a user", r.PathValue("user")))
	}
	return id, nil
}

// shownUser is a user with the open sessions.
type shownUser struct {
	User     output.Object   `json:"user"`
	Sessions []output.Object `json:"sessions"`
	// HasMore reports that there are other sessions.
	HasMore bool `json:"has_more"`
}

func (d *Desk) showUser(ctx context.Context, id int64) (any, error) {
	got, err := d.config.Services.Account.GetUser(ctx, &accountv1.GetUserRequest{UserId: id})
	if err != nil {
		return nil, err
	}
	listed, err := d.config.Services.Account.ListSessions(ctx, &accountv1.ListSessionsRequest{UserId: id, PageSize: most})
	if err != nil {
		return nil, err
	}
	shown := shownUser{User: output.FromProto(got.GetUser()), Sessions: []output.Object{}, HasMore: listed.GetNextPageToken() != ""}
	for _, session := range listed.GetSessions() {
		shown.Sessions = append(shown.Sessions, output.FromProto(session))
	}
	return shown, nil
}

func (d *Desk) setDisabled(isDisabled bool) func(context.Context, int64) (any, error) {
	return func(ctx context.Context, id int64) (any, error) {
		if _, err := d.config.Services.Account.UpdateUser(ctx, &accountv1.UpdateUserRequest{UserId: id, Disabled: &isDisabled}); err != nil {
			return nil, err
		}
		return d.showUser(ctx, id)
	}
}

// closeSession closes one session.
func (d *Desk) closeSession(r *http.Request) (any, error) {
	id, err := userOf(r)
	if err != nil {
		return nil, err
	}
	request := &accountv1.CloseSessionRequest{UserId: id, SessionId: r.PathValue("session")}
	if _, err := d.config.Services.Account.CloseSession(r.Context(), request); err != nil {
		return nil, err
	}
	return d.showUser(r.Context(), id)
}

func (d *Desk) closeSessions(ctx context.Context, id int64) (any, error) {
	if _, err := d.config.Services.Account.CloseAllSessions(ctx, &accountv1.CloseAllSessionsRequest{UserId: id}); err != nil {
		return nil, err
	}
	return d.showUser(ctx, id)
}

// exportUser sends what waybookctl user export writes. A failure after the first bytes ends the connection, so
// that the browser does not take the part for the whole.
func (d *Desk) exportUser(w http.ResponseWriter, r *http.Request) {
	id, err := userOf(r)
	if err != nil {
		d.fail(w, r, err)
		return
	}
	file := &download{to: w, name: fmt.Sprintf("waybook-user-%d.ndjson", id)}
	if _, err := send.ExportPerson(r.Context(), d.config.Services, id, file); err != nil {
		if file.hasBegun {
			panic(http.ErrAbortHandler)
		}
		d.fail(w, r, err)
	}
}

// download is a file that a browser saves. It begins with the first bytes.
type download struct {
	to       http.ResponseWriter
	name     string
	hasBegun bool
}

// Write sends bytes.
func (f *download) Write(bytes []byte) (int, error) {
	if !f.hasBegun {
		f.hasBegun = true
		f.to.Header().Set("Content-Type", "application/x-ndjson")
		f.to.Header().Set("Content-Disposition", `attachment; filename="`+f.name+`"`)
	}
	return f.to.Write(bytes)
}
