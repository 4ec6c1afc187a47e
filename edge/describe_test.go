package edge

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/edge/operation"
)

// A description promises limits and values. The services check them, so the promise is tried on the
// services' own rules: each end of a range and each value is taken, and what is just outside is
// refused by name.
func TestEachLimitOfADescriptionIsTheOneThatRequestsMeet(t *testing.T) {
	notFound := func(context.Context, proto.Message) (proto.Message, error) {
		return nil, refusedFor(codes.NotFound, "ALBUM_NOT_FOUND")
	}
	h := newEdge(t, &fakes{answer: notFound, albums: twoAlbums, pois: noPois})
	tried := 0
	for _, d := range Operations() {
		for _, p := range d.Parameters {
			if d.Func == "register" && p.Name == "email" {
				continue // no number of letters is an address
			}
			valid, invalid := ends(p)
			for _, value := range valid {
				tried++
				if info := try(h, d, p.Name, value); namesInvalid(info, p.Name) {
					t.Errorf("%s: %s=%.40s is refused: %.200s", d.Func, p.Name, value, info)
				}
			}
			for _, value := range invalid {
				tried++
				if info := try(h, d, p.Name, value); !namesInvalid(info, p.Name) {
					t.Errorf("%s: %s=%.40s is not refused: %.200s", d.Func, p.Name, value, info)
				}
			}
		}
	}
	if tried < 250 {
		t.Errorf("tried only %d values", tried)
	}
}

// ends returns values at the ends of what a parameter takes, and values just outside.
func ends(p operation.Parameter) (valid, invalid []string) {
	number := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	switch p.Type {
	case operation.Integer, operation.ID, operation.Decimal:
		if p.Min != nil && p.Name != "replyBlogID" { // its own 0 is not a number but nothing (rule 7.11)
			valid = append(valid, number(*p.Min))
			invalid = append(invalid, number(*p.Min-1))
		}
		if p.Max != nil {
			valid = append(valid, number(*p.Max))
			invalid = append(invalid, number(*p.Max+1))
		}
		invalid = append(invalid, "x")
	case operation.Text, operation.Secret:
		if p.MaxLength > 0 {
			valid = append(valid, strings.Repeat("x", p.MaxLength))
			invalid = append(invalid, strings.Repeat("x", p.MaxLength+1), strings.Repeat("x", p.MaxLength)+" ")
		}
		if p.MinLength > 0 && p.IsRequired {
			valid = append(valid, strings.Repeat("x", p.MinLength))
			if p.MinLength > 1 || p.IsRequired { // an empty optional value is absent (rule 2.7)
				invalid = append(invalid, strings.Repeat("x", p.MinLength-1))
			}
		}
	case operation.Boolean:
		valid = []string{"0", "1", "true", "FALSE"}
		invalid = []string{"2", "none"}
	case operation.Enum:
		for _, value := range p.Values {
			valid = append(valid, value.Value)
		}
		invalid = []string{"none"}
		if p.Type == operation.Enum {
			invalid = append(invalid, "0", strconv.Itoa(len(p.Values)+1))
		}
	}
	if p.Type != operation.Text && p.Type != operation.Secret {
		for _, value := range slices.Clone(valid) {
			valid = append(valid, " \t"+value, value+"\r\n ") // rule 2.12
		}
	}
	return valid, invalid
}

// try sends a request with one value, and valid values for what else is required. It returns the
// info of the reply.
func try(h http.Handler, d operation.Description, name, value string) string {
	sent := url.Values{"func": {d.Func}}
	for _, p := range d.Parameters {
		switch {
		case p.Name == name:
			sent.Set(name, value)
		case p.Fixed != "":
			sent.Set(p.Name, p.Fixed)
		case p.IsRequired:
			sent.Set(p.Name, validValue(p))
		}
	}
	return post(h, sent.Encode()).Body.String()
}

func validValue(p operation.Parameter) string {
	switch {
	case len(p.Values) > 0:
		return p.Values[0].Value
	case p.Min != nil:
		return strconv.FormatFloat(*p.Min, 'f', -1, 64)
	case p.Name == "email":
		return "a@waybook.example"
	}
	return strings.Repeat("1", max(1, p.MinLength))
}

func namesInvalid(info, name string) bool {
	return strings.Contains(info, fmt.Sprintf("INVALID PARAMETER: %s (", name))
}
