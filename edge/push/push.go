// Package push lets a server in the same process hand the messages of a stream to its client by calls, without
// a goroutine for each stream. A connection that does not know the option of this package ignores it, and the
// client receives the messages as usual.
package push

import "google.golang.org/grpc"

// Receiver takes a message of a stream in the goroutine of the client. An error ends the stream.
type Receiver func(message any) error

// option is the option of a call.
type option struct {
	grpc.EmptyCallOption
	to Receiver
}

// To asks a connection to give the messages of a server's stream to a receiver, before the first RecvMsg
// returns how the stream ended.
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
