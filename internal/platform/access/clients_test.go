package access

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestAGrantOfNothingIsRefused(t *testing.T) {
	for value, want := range map[string]string{
		"reports":            "want NAME=GRANT",
		"=edge":              "want NAME=GRANT",
		"reports=":           "neither a method",
		"reports=everything": "neither a method, which begins with a slash, nor one of album, blog, edge, poi, operator",
		"reports=/waybook.album.v1.AlbumService/GetAlbums":          "no contract has such a method",
		"reports=/waybook.album.v1.AlbumService/*Album":             "no contract has such a method",
		"edge.example=edge,reports=/album.v1.AlbumService/GetAlbum": `"reports=/album.v1.AlbumService/GetAlbum": no contract`,
	} {
		clients := Clients{{"kept", "edge"}}
		if err := clients.Set(value); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v, want one with %q", value, err, want)
		}
		if len(clients) != 1 || clients[0].client != "kept" {
			t.Errorf("%q changed the value to %q", value, clients.String())
		}
	}
}

func TestGrantsCoverAMethodAFamilyOrAnIdentity(t *testing.T) {
	var clients Clients
	err := clients.Set("a=/waybook.album.v1.AlbumService/GetAlbum, b=/waybook.album.v1.AlbumService/List*,c=/grpc.health.v1.Health/*,d=edge,")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		client, method string
		want           bool
	}{
		{"a", "/waybook.album.v1.AlbumService/GetAlbum", true},
		{"a", "/waybook.album.v1.AlbumService/GetAlbums", false},
		{"a", "/waybook.album.v1.AlbumService/ListAlbums", false},
		{"b", "/waybook.album.v1.AlbumService/ListAlbums", true},
		{"b", "/waybook.album.v1.AlbumService/GetAlbum", false},
		{"b", "/waybook.blog.v1.BlogService/ListBlogs", false},
		{"c", "/grpc.health.v1.Health/Check", true},
		{"d", "/waybook.album.v1.AlbumService/GetAlbum", false},
		{"edge", "/waybook.album.v1.AlbumService/GetAlbum", false},
	} {
		if got := clients.covers(c.client, c.method); got != c.want {
			t.Errorf("a pattern lets %s call %s: %v", c.client, c.method, got)
		}
	}
	if !clients.isAs("d", "edge") || !clients.isAs("edge", "edge") || clients.isAs("d", "operator") || clients.isAs("a", "edge") {
		t.Errorf("%q", clients.String())
	}
}

// FuzzFurtherClientsReadBackTheSame checks that a list of clients survives String and Set, and
// that nobody gets more than the list says.
func FuzzFurtherClientsReadBackTheSame(f *testing.F) {
	for _, value := range []string{
		" reports=/waybook.album.v1.AlbumService/List*,gateway = edge,", "a=b=c", "x=/*",
	} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		var read, again Clients
		if read.Set(value) != nil {
			if len(read) > 0 {
				t.Errorf("%q was refused and left %q", value, read.String())
			}
			return
		}
		if err := errors.Join(again.Set(read.String())); err != nil || !slices.Equal(read, again) {
			t.Errorf("%q was parsed as %q, which is read back as %q, %v", value, read, again, err)
		}
		if len(read) > strings.Count(value, ",")+1 {
			t.Errorf("%q was parsed as %d clients", value, len(read))
		}
		for _, each := range read {
			if each.client == "" || each.to == "" {
				t.Errorf("%q was parsed as %q", value, read)
			}
			if each.client == Operator || each.to == Operator || strings.HasPrefix("/waybook.account.v1.AccountService/OpenSession", strings.TrimSuffix(each.to, "*")) {
				continue
			}
			only := Clients{each}
			if only.isAs(each.client, Operator) || only.covers(each.client, "/waybook.account.v1.AccountService/OpenSession") {
				t.Errorf("%q lets %s open sessions", value, each.client)
			}
		}
		if read.covers("", "/waybook.album.v1.AlbumService/GetAlbum") {
			t.Errorf("%q admits a client without a name", value)
		}
	})
}
