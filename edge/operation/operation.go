// Package operation holds THE TABLE of the interface's operations: table.go has a row for
// each, and each row names what it calls and the two functions that turn values into a
// request and a response into values. It knows neither HTTP nor bytes.
package operation

import (
	"context"
	"time"

	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/reply"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// Config is what operations are carried out with. All of it is required.
type Config struct {
	Account accountv1.AccountServiceClient
	Album   albumv1.AlbumServiceClient
	Blog    blogv1.BlogServiceClient
	Poi     poiv1.PoiServiceClient

	// Sessions adds func=login and func=logout to the table, or does not.
	Sessions Sessions
	// Validator names every violation of a request that is known to be wrong.
	Validator protovalidate.Validator
	// CallTimeout bounds each call to a service and, in a stream, the wait for each batch.
	CallTimeout time.Duration
}

// Sessions says where users get their sessions.
type Sessions int

const (
	// OpenedHere: func=login opens them and func=logout closes them.
	OpenedHere Sessions = iota
	// OpenedElsewhere: another system opens and closes them, and the interface
	// has no such functions.
	OpenedElsewhere
)

// Operation is one row of the table.
type Operation struct {
	// Func is the value of the parameter func.
	Func string
	// Variant tells apart the operations that share a func.
	Variant Variant
	Effect  Effect
	Login   Login
	handler
}

// Variant tells apart the operations that share a func.
type Variant int

// The variants.
const (
	AsWritten Variant = iota // no `delete`, or delete=false
	Deleting                 // delete=true
	variantCount
)

// Effect says whether an operation changes anything.
type Effect int

// The effects.
const (
	Reads  Effect = iota // by GET, HEAD or POST
	Writes               // by POST
)

// Login says whether an operation needs a session.
type Login int

// What an operation needs.
const (
	Anonymous Login = iota
	LoginNeeded
)

// UserID names the logged-in user.
type UserID int64

// Exchange is one request to an operation and its reply. One goroutine uses it.
type Exchange struct {
	In  Input
	Out reply.Reply
}

// Input is what an operation reads its request from.
type Input struct {
	form.Reader
	// User is the logged-in user; 0 when the operation needs no login.
	User   UserID
	Caller Caller
}

// Caller is the client, as its transport knows it.
type Caller interface {
	// Address tells clients apart where something is counted for each; it may be empty.
	Address() string
	// Session is the session that the client presents, whether it is open or not.
	Session() (session Session, ok bool)
	// KeepSession gives the client a session, to be presented until it expires.
	KeepSession(session Session, expires time.Time)
	// DropSession takes the client's session away.
	DropSession()
}

// Session is a session as a client presents it.
type Session struct {
	User  UserID
	Token string
}

// Run carries the operation out and writes its reply.
func (o *Operation) Run(ctx context.Context, x *Exchange) error { return o.run(ctx, x) }

// handler is the part of a row that differs: form → request, call, response → reply.
type handler struct {
	// build reads the parameters into the request; nil when the operation has none.
	build func(*Input) proto.Message
	run   func(context.Context, *Exchange) error
}

// required, requiredInBody and optional read a parameter into a field of the request.
func required[T any](in *Input, p *form.Parameter, field string, convert func(string) (T, bool)) T {
	return form.Required(&in.Reader, p, field, convert)
}

func requiredInBody[T any](in *Input, p *form.Parameter, field string, convert func(string) (T, bool)) T {
	return form.RequiredInBody(&in.Reader, p, field, convert)
}

func optional[T any](in *Input, p *form.Parameter, field string, convert func(string) (T, bool)) *T {
	return form.Optional(&in.Reader, p, field, convert)
}
