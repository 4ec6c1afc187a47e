// Package operation holds the operations of the interface, each in a file such as getalbum.go: its
// row, how parameters become the request of a call, and how the response becomes the reply. What
// several operations share is in content.go, parameters.go and lists.go. The package depends on
// neither HTTP nor bytes.
package operation

import (
	"context"
	"io"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/reply"
	"github.com/waybook/waybook/internal/clients"
)

// Config has the dependencies of the operations. All are required.
type Config struct {
	clients.Clients

	// Additions says whether the table has operations that the legacy contract lacks.
	Additions Additions
	// Sessions says whether the table has the functions of those who log in, which are additions.
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
	// OpenedHere: func=login opens them and func=logout closes them. func=register makes users who
	// can log in.
	OpenedHere Sessions = iota
	// OpenedElsewhere: another system opens and closes them. The interface has no function with a
	// password.
	OpenedElsewhere
)

// Operation is a call and its reply.
type Operation struct {
	// Variant tells apart the operations of a function.
	Variant Variant
	// Rule and Title are those of the function, unless they are set.
	Rule  string
	Title form.Title
	handler
}

// Effect says whether an operation changes anything.
type Effect int

// The effects of an operation.
const (
	Reads  Effect = iota // by GET, HEAD or POST, without a session unless it is of the user's own
	Writes               // by POST, with a session unless it is for strangers
)

// MarshalText returns read or write.
func (e Effect) MarshalText() ([]byte, error) {
	return []byte([...]string{Reads: "read", Writes: "write"}[e]), nil
}

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
	// File is the file of the request, which may still be arriving; nil if there is none. Its
	// errors are failures, and io.EOF only if the whole request has arrived.
	File io.Reader
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

// handler reads the form, calls the service and writes the reply.
type handler struct {
	// build reads the parameters into the request; nil if the operation has none.
	build func(*Input) proto.Message
	// Run runs the operation and writes its reply.
	Run func(context.Context, *Exchange) error
}
