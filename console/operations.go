package console

import (
	"cmp"
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
	// Photos is the address that relative addresses of photos are resolved against; "" for that of the page.
	Photos string `json:"photos"`
	// Additions says whether there are operations that the legacy contract lacks.
	Additions  bool                 `json:"additions"`
	Paths      paths                `json:"paths"`
	Operations []describedOperation `json:"operations"`
	Shared     []describedParameter `json:"shared"`
	Failures   []describedFailure   `json:"failures"`
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

type describedOperation struct {
	Func string `json:"func"`
	// Variant tells apart operations with the same func: operation.Variant as a text, such as
	// "delete", or "" if there are no others.
	Variant string `json:"variant"`
	// Group is the kind of content: album, blog, poi or session.
	Group string `json:"group"`
	// Effect is read or write.
	Effect     string               `json:"effect"`
	Login      bool                 `json:"login"`
	Addition   bool                 `json:"addition"`
	Parameters []describedParameter `json:"parameters"`
	// Fixed are parameters with a single valid value.
	Fixed map[string]string `json:"fixed"`
}

// describedParameter leaves out what a parameter does not have.
type describedParameter struct {
	Name      string   `json:"name"`
	Hint      string   `json:"hint"`
	Required  bool     `json:"required"`
	Type      string   `json:"type"`
	Min       *float64 `json:"min,omitempty"`
	Max       *float64 `json:"max,omitempty"`
	MinLength int      `json:"minLength,omitempty"`
	MaxLength int      `json:"maxLength,omitempty"`
	// Multiline says that a text may be prose of several lines.
	Multiline bool             `json:"multiline,omitempty"`
	Values    []describedValue `json:"values,omitempty"`
}

type describedValue struct {
	Value string `json:"value"`
	Label string `json:"label,omitempty"`
}

type describedFailure struct {
	Reason  string `json:"reason"`
	Info    string `json:"info"`
	Status  int    `json:"status"`
	Meaning string `json:"meaning"`
	Action  string `json:"action"`
}

// describe returns the description of an edge as JSON.
func describe(from Config) ([]byte, error) {
	config := from.Edge
	d := description{
		Version: buildinfo.Read().Version, Tiles: from.Tiles.String(), Photos: from.Photos.String(),
		Paths:  newPaths(string(config.PathPrefix)),
		Shared: parameters(slices.DeleteFunc(edge.SharedParameters(), func(p operation.Parameter) bool { return p.Name == "func" })),
	}
	for _, each := range config.Operations() {
		d.Operations = append(d.Operations, newOperation(each))
		d.Additions = d.Additions || each.IsAddition
	}
	for _, each := range edge.Failures() {
		d.Failures = append(d.Failures, describedFailure(each))
	}
	return json.Marshal(d)
}

func newOperation(d operation.Description) describedOperation {
	described := describedOperation{
		Func: d.Func, Variant: d.Variant.String(), Group: group(d.Func), Effect: "read", Login: d.Login == operation.LoginNeeded,
		Addition: d.IsAddition, Fixed: map[string]string{},
	}
	if d.Effect == operation.Writes {
		described.Effect = "write"
	}
	for _, p := range d.Parameters {
		if p.Fixed != "" {
			described.Fixed[p.Name] = p.Fixed
		}
	}
	described.Parameters = parameters(slices.DeleteFunc(d.Parameters, func(p operation.Parameter) bool { return p.Fixed != "" }))
	return described
}

// group returns the kind of content of a func by its name.
func group(function string) string {
	lower := strings.ToLower(function)
	for _, kind := range []string{"album", "blog", "poi"} {
		if strings.Contains(lower, kind) {
			return kind
		}
	}
	if lower == "login" || lower == "logout" {
		return "session"
	}
	return "content"
}

func parameters(from []operation.Parameter) []describedParameter {
	described := make([]describedParameter, len(from))
	for i, p := range from {
		described[i] = describedParameter{
			Name: p.Name, Hint: p.Hint, Required: p.IsRequired, Type: typeName(p.Type), Min: p.Min, Max: p.Max,
			MinLength: p.MinLength, MaxLength: p.MaxLength, Multiline: p.IsLong,
		}
		for _, value := range p.Values {
			described[i].Values = append(described[i].Values, describedValue{value.Value, cmp.Or(value.Label, value.Value)})
		}
	}
	return described
}

// typeName returns the page's name of a type.
func typeName(t operation.Type) string {
	return [...]string{
		operation.Text: "text", operation.Secret: "password", operation.Integer: "integer", operation.ID: "id",
		operation.Decimal: "decimal", operation.Boolean: "boolean", operation.Enum: "enum",
	}[t]
}
