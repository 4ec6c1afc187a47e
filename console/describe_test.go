package console

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/edge/operation"
)

// read is a description as the page reads it, with the variants as texts.
type read struct {
	description
	Operations []readOperation `json:"operations"`
}

type readOperation struct {
	describedOperation
	Variant string `json:"variant"`
	Effect  string `json:"effect"`
}

func described(t *testing.T, changes ...func(*Config)) (d read) {
	t.Helper()
	if err := json.Unmarshal(get(newConsole(t, changes...), operationsPath).Body.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d read) find(t *testing.T, function, variant string) readOperation {
	t.Helper()
	i := slices.IndexFunc(d.Operations, func(o readOperation) bool { return o.Func == function && o.Variant == variant })
	if i < 0 {
		t.Fatalf("there is no %s", function)
	}
	return d.Operations[i]
}

func (o readOperation) find(t *testing.T, name string) operation.Parameter {
	t.Helper()
	i := slices.IndexFunc(o.Parameters, func(p operation.Parameter) bool { return p.Name == name })
	if i < 0 {
		t.Fatalf("%s has no %s", o.Func, name)
	}
	return o.Parameters[i]
}

func TestTheDescriptionHasEveryOperationOfTheTable(t *testing.T) {
	d := described(t)
	if got, want := len(d.Operations), len(edge.Operations()); got != want || !d.Additions {
		t.Errorf("got %d operations, want %d", got, want)
	}
	for i, each := range edge.Operations() {
		got := d.Operations[i]
		if got.Func != each.Func || len(got.Parameters)+len(got.Fixed) != len(each.Parameters) {
			t.Errorf("%s came as %+v", each.Func, got)
		}
		if !slices.Contains([]string{"album", "blog", "poi", "content", "session"}, got.Group) {
			t.Errorf("%s is of group %q", got.Func, got.Group)
		}
	}
	if d.Paths != (paths{"/API.php", "/console/session", "/console/health.json"}) {
		t.Errorf("got %+v", d.Paths)
	}
	var failures []edge.FailureEntry
	if err := json.Unmarshal(get(newConsole(t), failuresPath).Body.Bytes(), &failures); err != nil || !slices.Equal(failures, edge.Failures()) {
		t.Errorf("got %v (%v)", failures, err)
	}
}

func TestTheDescriptionLeavesOutWhatTheEdgeDoesNotServe(t *testing.T) {
	d := described(t, func(c *Config) { c.Edge.Sessions = operation.OpenedElsewhere })
	for _, each := range d.Operations {
		if slices.Contains([]string{"login", "logout", "register", "changePassword"}, each.Func) {
			t.Errorf("it has %s", each.Func)
		}
	}
}

func TestTheDescriptionSaysHowToFillInAForm(t *testing.T) {
	d := described(t)
	add := d.find(t, "addAlbum", "")
	if add.Effect != "write" || !add.NeedsLogin || add.IsAddition || add.Group != "album" {
		t.Errorf("addAlbum is %+v", add)
	}
	if p := add.find(t, "lat"); p.Type != "decimal" || *p.Min != -90 || *p.Max != 90 || !p.IsRequired {
		t.Errorf("lat is %+v", p)
	}
	if p := add.find(t, "category"); p.Type != "enum" || p.Values[0] != (operation.Value{Value: "1", Label: "女生個人"}) || p.Min != nil {
		t.Errorf("category is %+v", p)
	}
	if p := add.find(t, "albumTitle"); p.Type != "text" || p.MaxLength != 200 || p.MinLength != 1 || p.IsLong {
		t.Errorf("albumTitle is %+v", p)
	}
	remove := d.find(t, "updateAlbum", "delete")
	if len(remove.Fixed) != 1 || remove.Fixed["delete"] != "true" || len(remove.Parameters) != 1 || remove.Parameters[0].Name != "albumID" {
		t.Errorf("the deletion of an album is %+v", remove)
	}
	post := d.find(t, "postBlog", "")
	if p := post.find(t, "blogContent"); !p.IsLong || p.MaxLength != 100_000 {
		t.Errorf("blogContent is %+v", p)
	}
	if p := post.find(t, "type"); p.Values[8] != (operation.Value{Value: "0_8", Label: "旅遊日記"}) {
		t.Errorf("type is %+v", p)
	}
	if p := post.find(t, "replyBlogID"); p.Type != "id" || p.IsRequired {
		t.Errorf("replyBlogID is %+v", p)
	}
	list := d.find(t, "getUserBlogList", "")
	if list.Effect != "read" || list.NeedsLogin || !list.IsAddition {
		t.Errorf("getUserBlogList is %+v", list)
	}
	if p := list.find(t, "limit"); p.Type != "integer" || *p.Min != 1 || *p.Max != 1_000_000 {
		t.Errorf("limit is %+v", p)
	}
	if p := d.find(t, "login", "").find(t, "password"); p.Type != "password" {
		t.Errorf("password is %+v", p)
	}
	if logout := d.find(t, "logout", ""); logout.Parameters == nil || logout.Group != "session" {
		t.Errorf("logout is %+v", logout)
	}
}
