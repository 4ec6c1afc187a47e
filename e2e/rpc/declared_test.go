package rpc_test

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/proto/descriptors"
	accessv1 "github.com/waybook/waybook/proto/gen/waybook/access/v1"
)

// declarations returns what the contracts declare about the methods that declare anything.
func declarations(t *testing.T) map[string]*accessv1.Access {
	t.Helper()
	methods := must(descriptors.Methods())(t)
	declared := map[string]*accessv1.Access{}
	for _, method := range methods {
		if proto.HasExtension(method.GetOptions(), accessv1.E_Access) {
			declared[method.FullName] = proto.GetExtension(method.GetOptions(), accessv1.E_Access).(*accessv1.Access)
		}
	}
	return declared
}
