package structure_test

import (
	"strings"
	"testing"
)

// rooms are the packages of the edge and the packages that each must not depend on. Data
// flows from form through operation to reply; HTTP is around them.
var rooms = map[string][]string{
	"edge/form": {
		"net/http", "google.golang.org/grpc", "google.golang.org/protobuf", "github.com/waybook/waybook/proto",
		"github.com/waybook/waybook/internal", "github.com/waybook/waybook/edge/operation", "github.com/waybook/waybook/edge/reply",
	},
	"edge/reply": {
		"net/http", "google.golang.org/grpc", "google.golang.org/protobuf", "github.com/waybook/waybook/proto",
		"github.com/waybook/waybook/internal", "github.com/waybook/waybook/edge/operation", "github.com/waybook/waybook/edge/form",
	},
	"edge/operation": {"github.com/waybook/waybook/internal"},
}

func TestDataFlowsOneWayThroughTheEdge(t *testing.T) {
	for room, forbidden := range rooms {
		for _, path := range packageIn(t, room).Deps {
			if path == "github.com/waybook/waybook/edge" {
				t.Errorf("%s imports package edge, the HTTP layer around it", room)
			}
			switch strings.TrimPrefix(path, "github.com/waybook/waybook/internal/") {
			case "text": // the services follow the same rule of texts
				continue
			case "arena", "clients", "parent", "platform/rules": // the memory of a reply; the others are about the contracts alone
				if room == "edge/operation" {
					continue
				}
			}
			for _, prefix := range forbidden {
				if path == prefix || strings.HasPrefix(path, prefix+"/") {
					t.Errorf("%s depends on %s", room, path)
				}
			}
		}
	}
}

// The gRPC library depends on net/http, so this test checks only direct imports.
func TestOperationsImportNeitherHTTPNorEncodings(t *testing.T) {
	for _, path := range packageIn(t, "edge/operation").Imports {
		switch path {
		case "net/http", "net/url", "encoding/xml", "encoding/json", "bytes":
			t.Errorf("edge/operation imports %s", path)
		}
	}
}
