// Package push lets a server in the same process hand its reply to its client by a call, so that the memory of
// the reply can be used again when the client has read it. A connection that does not know the option of this
// package ignores it, and the client gets the reply as usual.
package push

import "google.golang.org/grpc"

// Receiver takes a reply in the goroutine of the client. The reply is good until it returns. The call does not
// return its error, which is not that of the method.
type Receiver func(reply any) error

// option is the option of a call.
type option struct {
	grpc.EmptyCallOption
	to Receiver
}

// To asks a connection to give the reply of a call to a receiver before the call returns.
func To(to Receiver) grpc.CallOption { return option{to: to} }

// In returns the receiver among the options of a call; nil if there is none.
func In(options []grpc.CallOption) Receiver {
	for _, each := range options {
		if found, ok := each.(option); ok {
			return found.to
		}
	}
	return nil
}
