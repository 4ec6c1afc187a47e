package edge

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/waybook/waybook/edge/operation"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
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

func TestWithoutAdditionsThereAreExactlyTheElevenOperations(t *testing.T) {
	f := &fakes{answer: func(_ context.Context, r proto.Message) (proto.Message, error) {
		if request, isPost := r.(*blogv1.CreateBlogRequest); isPost && request.GetVote() == nil {
			return &blogv1.CreateBlogResponse{}, nil
		}
		return nil, refusedFor(codes.NotFound, "ALBUM_NOT_FOUND")
	}}
	h := newEdge(t, f, func(c *Config) { c.Additions = operation.AdditionsWithheld })
	const eleven = "INVALID PARAMETER: func (one of addAlbum, updateAlbum, getAlbum, getUserAlbumList, getCategoryPOIList, getPOI, postBlog, updateBlog, getBlog)"
	for _, each := range Operations() {
		if strings.Contains(eleven, " "+each.Func) {
			continue
		}
		if w := post(h, "func="+each.Func); w.Body.String() != failed(eleven) {
			t.Errorf("%s: got %s", each.Func, w.Body)
		}
	}
	if w := post(h, "func=postBlog&voteDescription=d&choice1=a&"+blogForm); !strings.Contains(w.Body.String(), "SUCCESS") {
		t.Errorf("parameters of a vote are not ignored: %s", w.Body)
	}
	if w := get(h, "func=getAlbum&albumID=1&withIDs=maybe"); w.Body.String() != failed("ALBUM NOT FOUND") {
		t.Errorf("withIDs is not ignored: %s", w.Body)
	}
	c := clientless()
	c.Additions = operation.AdditionsWithheld
	if rows := c.Operations(); len(rows) != 11 {
		t.Errorf("%d operations are described", len(rows))
	}
}

// The replies have a value for each field that a service may give.
func TestTheElementsThatAdditionsBringAreListed(t *testing.T) {
	f := &fakes{
		answer: func(_ context.Context, r proto.Message) (proto.Message, error) {
			answers := map[string]proto.Message{"GetAlbumRequest": &albumv1.GetAlbumResponse{}, "GetPoiRequest": &poiv1.GetPoiResponse{}, "GetBlogRequest": &blogv1.GetBlogResponse{}}
			answer := answers[string(r.ProtoReflect().Descriptor().Name())]
			fill(answer.ProtoReflect(), "x")
			return answer, nil
		},
		albums: func(context.Context, *albumv1.ListAlbumsRequest) (*albumv1.ListAlbumsResponse, error) {
			page := &albumv1.ListAlbumsResponse{}
			fill(page.ProtoReflect(), "x")
			return page, nil
		},
		pois: func(context.Context, *poiv1.ListPoisRequest) (*poiv1.ListPoisResponse, error) {
			page := &poiv1.ListPoisResponse{}
			fill(page.ProtoReflect(), "x")
			return page, nil
		},
	}
	all, legacy := newEdge(t, f), newEdge(t, f, func(c *Config) { c.Additions = operation.AdditionsWithheld })
	var added []string
	for _, each := range Operations() {
		if each.IsAddition || each.Effect != operation.Reads {
			continue
		}
		query := "func=" + each.Func + "&albumID=1&POIID=1&blogID=1&userID=1&category=1"
		known := elementsOf(t, get(legacy, query).Body.String())
		for _, element := range elementsOf(t, get(all, query+"&withIDs=true&limit=1").Body.String()) {
			if !slices.Contains(known, element) {
				added = append(added, each.Func+element)
			}
		}
	}
	listed := AddedElements()
	slices.Sort(added)
	slices.Sort(listed)
	if !slices.Equal(added, listed) {
		t.Errorf("additions bring\n%s\nbut AddedElements lists\n%s", strings.Join(added, "\n"), strings.Join(listed, "\n"))
	}
}

// fill gives each field of a message a value, a text for strings, and two items to each list. No message says that there
// is more.
func fill(m protoreflect.Message, text string) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		value := map[protoreflect.Kind]protoreflect.Value{
			protoreflect.StringKind: protoreflect.ValueOfString(text), protoreflect.DoubleKind: protoreflect.ValueOfFloat64(1),
			protoreflect.Int64Kind: protoreflect.ValueOfInt64(1), protoreflect.Int32Kind: protoreflect.ValueOfInt32(1), protoreflect.EnumKind: protoreflect.ValueOfEnum(1),
		}[field.Kind()]
		switch {
		case field.Kind() == protoreflect.BoolKind, strings.HasSuffix(string(field.Name()), "_token"):
		case field.IsList() && field.Message() != nil:
			items := m.Mutable(field).List()
			fill(items.AppendMutable().Message(), text)
			fill(items.AppendMutable().Message(), text)
		case field.IsList():
			m.Mutable(field).List().Append(value)
		case field.Message() != nil:
			fill(m.Mutable(field).Message(), text)
		default:
			m.Set(field, value)
		}
	}
}

// elementsOf returns the paths of the elements of a reply, without the positions of items.
func elementsOf(t *testing.T, reply string) (paths []string) {
	t.Helper()
	decoder, path := xml.NewDecoder(strings.NewReader(reply)), []string{}
	for {
		switch token, err := decoder.Token(); token := token.(type) {
		case xml.StartElement:
			path = append(path, strings.TrimRight(token.Name.Local, "0123456789"))
			if each := "/" + strings.Join(path[1:], "/"); !slices.Contains(paths, each) {
				paths = append(paths, each)
			}
		case xml.EndElement:
			path = path[:len(path)-1]
		case nil:
			if err != io.EOF || !slices.Contains(paths, "/status") || slices.Contains(paths, "/info") {
				t.Fatal(fmt.Errorf("%w in %s", err, reply))
			}
			return paths
		}
	}
}

// operationForms are requests of the legacy operations and of a list of entries. The golden cases
// have the replies.
var operationForms = []string{
	addAlbumForm,
	"func=updateAlbum&albumID=12&lat=-0.5&delete=FALSE",
	"func=updateAlbum&delete=True&albumID=12&lat=north",
	"func=getAlbum&albumID=12",
	"func=getUserAlbumList&userID=7",
	"func=getCategoryPOIList&category=5",
	"func=getPOI&POIID=3",
	"func=postBlog&replyBlogID=&" + blogForm,
	"func=updateBlog&blogID=4&replyBlogID=&zoomLevel=0&mapType=3&" + blogForm,
	"func=updateBlog&delete=true&blogID=4",
	"func=getBlog&blogID=4",
	"func=getUserBlogList&userID=7&limit=1",
}

const (
	addAlbumForm = "func=addAlbum&albumTitle=%E5%8F%B0%E5%8C%97+101&category=5&lat=25.0339639&lng=121.5644722"
	blogForm     = "type=0_8&lat=25.0339639&lng=121.5644722&blogTitle=t&blogContent=a%0D%0Ab&year=2012&month=02&day=29&weather=有彩虹"
)

func twoAlbums(context.Context, *albumv1.ListAlbumsRequest) (*albumv1.ListAlbumsResponse, error) {
	return &albumv1.ListAlbumsResponse{Summaries: []*typev1.Summary{{Id: 1, Title: "a"}, {Id: 2, Title: "b"}}}, nil
}

func noPois(context.Context, *poiv1.ListPoisRequest) (*poiv1.ListPoisResponse, error) {
	return &poiv1.ListPoisResponse{}, nil
}

// unknownFunc returns the info of an unknown func. It lists the table except the functions in
// without. The golden case func has the exact list.
func unknownFunc(without ...string) string {
	var names []string
	for _, each := range Operations() {
		if !slices.Contains(names, each.Func) && !slices.Contains(without, each.Func) {
			names = append(names, each.Func)
		}
	}
	return "INVALID PARAMETER: func (one of " + strings.Join(names, ", ") + ")"
}
