package console

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/edge/operation"
	"github.com/waybook/waybook/internal/platform/buildinfo"
)

// description is /console/operations.json: everything that the page knows of the interface. It is
// made from the table of operations, so a form of the page cannot fall behind.
type description struct {
	Version string `json:"version"`
	// Tiles is the address of the map's tiles; "" if there are none.
	Tiles string `json:"tiles"`
	// Photos is the address that relative addresses of photos are resolved against; "" for that of
	// the page.
	Photos string `json:"photos"`
	// MaxPhotoBytes is the largest photo that can be uploaded; 0 if none can.
	MaxPhotoBytes int64 `json:"maxPhotoBytes"`
	// Additions says whether there are operations that the legacy contract lacks.
	Additions  bool                  `json:"additions"`
	Paths      paths                 `json:"paths"`
	Operations []describedOperation  `json:"operations"`
	Shared     []operation.Parameter `json:"shared"`
}

// paths are the addresses that the page sends requests to.
type paths struct {
	API     string `json:"api"`
	Session string `json:"session"`
	Health  string `json:"health"`
}

func newPaths(prefix string) paths {
	return paths{API: prefix + edge.Path, Session: prefix + edge.SessionPath, Health: prefix + healthPath}
}

// describedOperation has the group of an operation: album, blog, poi, content or session. Its
// parameters leave out those with a single valid value, which are in Fixed.
type describedOperation struct {
	operation.Description
	Group      string                `json:"group"`
	Parameters []operation.Parameter `json:"parameters"`
	Fixed      map[string]string     `json:"fixed"`
}

// describe returns the description of an edge as JSON.
func describe(from Config) ([]byte, error) {
	d := description{
		Version: buildinfo.Read().Version, Tiles: from.Tiles.String(), Photos: from.Photos.String(),
		MaxPhotoBytes: from.Edge.MaxPhotoBytes,
		Paths:         newPaths(string(from.Edge.PathPrefix)),
		Shared: slices.DeleteFunc(edge.SharedParameters(),
			func(p operation.Parameter) bool { return p.Name == "func" }),
	}
	for _, each := range from.Edge.Operations() {
		d.Operations = append(d.Operations, newOperation(each))
		d.Additions = d.Additions || each.IsAddition
	}
	return json.Marshal(d)
}

func newOperation(d operation.Description) describedOperation {
	fixed := map[string]string{}
	parameters := slices.DeleteFunc(d.Parameters, func(p operation.Parameter) bool {
		if p.Fixed != "" {
			fixed[p.Name] = p.Fixed
		}
		return p.Fixed != ""
	})
	return describedOperation{d, group(d.Func), parameters, fixed}
}

// group returns the kind of content of a func by its name.
func group(function string) string {
	lower := strings.ToLower(function)
	for _, kind := range []string{"album", "blog", "poi"} {
		if strings.Contains(lower, kind) {
			return kind
		}
	}
	switch lower {
	case "login", "logout", "register", "updateprofile", "changepassword", "getsessionlist", "closeothersessions":
		return "session"
	}
	return "content"
}
