package structure_test

import (
	"strings"
	"testing"
)

// rooms are the packages of the edge, each with what it must not reach: data flows from
// form through operation to reply, and HTTP is around them.
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
		for path := range strings.FieldsSeq(golang(t, ".", "list", "-deps", "./"+room)) {
			if path == "github.com/waybook/waybook/edge" {
				t.Errorf("%s imports the HTTP around it", room)
			}
			for _, prefix := range forbidden {
				if path == prefix || strings.HasPrefix(path, prefix+"/") {
					t.Errorf("%s links %s", room, path)
				}
			}
		}
	}
}

// The gRPC library links net/http, so what the operations know is what they import.
func TestAnOperationKnowsNeitherHTTPNorBytes(t *testing.T) {
	for path := range strings.FieldsSeq(golang(t, ".", "list", "-f", `{{join .Imports " "}}`, "./edge/operation")) {
		switch path {
		case "net/http", "net/url", "encoding/xml", "encoding/json", "bytes":
			t.Errorf("edge/operation imports %s", path)
		}
	}
}
