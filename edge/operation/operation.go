// Package operation holds THE TABLE of the interface's operations. In table.go each operation
// has one row. A row names the call, the function that builds its request from values, and the
// function that writes its response. The package depends on neither HTTP nor bytes.
package operation

import (
	"context"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/reply"
	"github.com/waybook/waybook/internal/clients"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// Config has the dependencies of the operations. All are required.
type Config struct {
	clients.Clients

	// Additions says whether the table has operations that the legacy contract lacks.
	Additions Additions
	// Sessions says whether the table has func=login and func=logout, which are additions.
	Sessions Sessions
	// CallTimeout bounds each call to a service. A list takes a call for each page.
	CallTimeout time.Duration
}

// Additions says whether the interface has more than the operations of the legacy contract.
type Additions int

const (
	// AdditionsServed: the table has the additions, too.
	AdditionsServed Additions = iota
	// AdditionsWithheld: the table has exactly the legacy operations.
	AdditionsWithheld
)

// Sessions says where users get their sessions.
type Sessions int

const (
	// OpenedHere: func=login opens them and func=logout closes them.
	OpenedHere Sessions = iota
	// OpenedElsewhere: another system opens and closes them. The interface has neither function.
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

// Effect says whether an operation changes anything.
type Effect int

// The effects of an operation.
const (
	Reads  Effect = iota // by GET, HEAD or POST
	Writes               // by POST
)

// Login says whether an operation needs a session.
type Login int

// The login that an operation needs.
const (
	Anonymous Login = iota
	LoginNeeded
)

// UserID names the logged-in user.
type UserID int64

// Exchange is one request to an operation and its reply. It is not safe for concurrent use.
type Exchange struct {
	In  Input
	Out reply.Reply
	// Charge counts what the services read for the reply against the limits of the client.
	Charge func(reads int32)
}

// Input is the request: its parameters, its user and its client.
type Input struct {
	form.Reader
	// User is the logged-in user; 0 when the operation needs no login.
	User   UserID
	Caller Caller
}

// Caller is the client, as the transport knows it.
type Caller interface {
	// Address is the key under which the client is counted; it may be empty.
	Address() string
	// Session returns the session that the client presents, open or not.
	Session() (session Session, ok bool)
	// KeepSession gives the client a session that it presents until it expires.
	KeepSession(session Session, expires time.Time)
	// DropSession makes the client forget its session.
	DropSession()
}

// Session is a session as a client presents it.
type Session struct {
	User  UserID
	Token string
}

// Run runs the operation and writes its reply.
func (o *Operation) Run(ctx context.Context, x *Exchange) error { return o.run(ctx, x) }

// handler is the part of a row that differs: it reads the form, calls the service and writes the
// reply.
type handler struct {
	// build reads the parameters into the request; nil if the operation has none.
	build func(*Input) proto.Message
	run   func(context.Context, *Exchange) error
}

// required and its siblings read a parameter into a field of the request.
func required[T any](in *Input, p *form.Parameter, field string, convert func(string) (T, bool)) T {
	return form.Required(&in.Reader, p, field, convert)
}

func requiredInBody[T any](in *Input, p *form.Parameter, field string, convert func(string) (T, bool)) T {
	return form.RequiredInBody(&in.Reader, p, field, convert)
}

func optional[T any](in *Input, p *form.Parameter, field string, convert func(string) (T, bool)) *T {
	return form.Optional(&in.Reader, p, field, convert)
}

func clearable[T any](in *Input, p *form.Parameter, field string, convert func(string) (T, bool)) *T {
	return form.Clearable(&in.Reader, p, field, convert)
}

func requiredLocation(in *Input) *typev1.Location {
	return &typev1.Location{
		Lat: required(in, &paramLat, "location.lat", form.Decimal),
		Lng: required(in, &paramLng, "location.lng", form.Decimal),
	}
}

// writeLocation writes the location of an album, a blog or a landmark (rule 4.2).
func writeLocation(out reply.Writer, location *typev1.Location) {
	out.Begin("Location")
	out.Decimal("lat", location.GetLat())
	out.Decimal("lng", location.GetLng())
	out.End("Location")
}

const (
	idHint    = "1 to 9007199254740991"
	titleHint = "1 to 200 characters"
)

// The parameters that operations share (rules 1.2, 2.1, 4.16 and 8.12).
var (
	paramDelete = form.Parameter{Name: "delete", Hint: "true, false, 1 or 0", Syntax: form.WordSyntax}
	paramLat    = form.Parameter{Name: "lat", Hint: "from -90 to 90", Syntax: form.DecimalSyntax}
	paramLng    = form.Parameter{Name: "lng", Hint: "from -180 to 180", Syntax: form.DecimalSyntax}
)
