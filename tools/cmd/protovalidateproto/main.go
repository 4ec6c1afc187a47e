// Command protovalidateproto prints buf/validate/validate.proto, the schema of
// protovalidate's rules, from its Go package into the folder given as argument.
// The contracts import it; printed from a pinned module, it needs no schema registry.
package main

import (
	"fmt"
	"os"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"github.com/jhump/protoreflect/v2/protoprint"
	"google.golang.org/protobuf/reflect/protoreflect"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: protovalidateproto FOLDER")
		os.Exit(2)
	}
	files := []protoreflect.FileDescriptor{validate.File_buf_validate_validate_proto}
	if err := (&protoprint.Printer{}).PrintProtosToFileSystem(files, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "protovalidateproto:", err)
		os.Exit(1)
	}
}
