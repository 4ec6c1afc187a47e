// Package push lets a server in the same process hand its messages to its client by calls: without a goroutine
// for each stream, and so that the memory of a message can be used again when the client has read it. A
// connection that does not know the option of this package ignores it, and the client gets the messages as usual.
package push

import "google.golang.org/grpc"

// Receiver takes a reply, or a message of a stream, in the goroutine of the client. The message is good until it
// returns. An error ends the call, and is not that of the method: the call returns none for it.
type Receiver func(message any) error

// option is the option of a call.
type option struct {
	grpc.EmptyCallOption
	to Receiver
}

// To asks a connection to give the reply of a call to a receiver before the call returns, or the messages of a
// server's stream before the first RecvMsg returns how the stream ended.
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
