package edge

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/waybook/waybook/edge/operation"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

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
