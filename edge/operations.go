package edge

import (
	"strings"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// operation is one row of the table.
type operation struct {
	// function is the value of the parameter func.
	function string
	// variant tells apart the operations that share a function.
	variant variant
	effect  effect
	login   login
	// run is the rest: form → request, call, reply → XML or JSON.
	run run
}

type variant int

const (
	asWritten variant = iota // no `delete`, or delete=false
	deleting                 // delete=true
	variantCount
)

type effect int

const (
	reads  effect = iota // by GET, HEAD or POST
	writes               // by POST
)

type login int

const (
	anonymous login = iota
	loginNeeded
)

// run carries one operation out and writes its reply.
type run func(*exchange) error

// operations is THE TABLE (contract 4.2). Albums, blogs and landmarks each have
// a file with the functions that a row names, and so have the additions.
func operations(c Config) []operation {
	return append(legacyOperations(c), additions(c)...)
}

func legacyOperations(c Config) []operation {
	return []operation{
		{"addAlbum", asWritten, writes, loginNeeded, unary(createAlbumRequest, c.Album.CreateAlbum, writeNewAlbum)},
		{"updateAlbum", asWritten, writes, loginNeeded, unary(updateAlbumRequest, c.Album.UpdateAlbum, writeNothing)},
		{"updateAlbum", deleting, writes, loginNeeded, unary(deleteAlbumRequest, c.Album.DeleteAlbum, writeNothing)},
		{"getAlbum", asWritten, reads, anonymous, paged(getAlbumRequest, c.Album.GetAlbum, writeAlbum(c.Album))},
		{"getUserAlbumList", asWritten, reads, anonymous, stream(streamAlbumsRequest, c.Album.StreamAlbums, albumsOfBatch, albumList, (*albumv1.AlbumSummary).GetAlbumId)},

		{"getCategoryPOIList", asWritten, reads, anonymous, stream(streamPoisRequest, c.Poi.StreamPois, poisOfBatch, poiList, (*poiv1.PoiSummary).GetPoiId)},
		{"getPOI", asWritten, reads, anonymous, paged(getPoiRequest, c.Poi.GetPoi, writePoi(c.Poi))},

		{"postBlog", asWritten, writes, loginNeeded, unary(createBlogRequest, c.Blog.CreateBlog, writeNewBlog)},
		{"updateBlog", asWritten, writes, loginNeeded, unary(updateBlogRequest, c.Blog.UpdateBlog, writeNothing)},
		{"updateBlog", deleting, writes, loginNeeded, unary(deleteBlogRequest, c.Blog.DeleteBlog, writeNothing)},
		{"getBlog", asWritten, reads, anonymous, paged(getBlogRequest, c.Blog.GetBlog, writeBlog(c.Blog))},
	}
}

// additions are what the legacy contract does not have: it leaves open how a
// session is obtained (contract 5).
func additions(c Config) []operation {
	if c.Sessions == OpenedElsewhere {
		return nil
	}
	return []operation{
		{"login", asWritten, writes, anonymous, logIn(c.Account)},
		{"logout", asWritten, writes, anonymous, logOut(c.Account)},
	}
}

// variants are the operations of one function. All need the same effect and
// login, which are checked before the parameter that chooses among them.
type variants [variantCount]*operation

// functionTable finds operations by the parameter func.
type functionTable struct {
	byName map[string]*variants
	// parameter is func with the hint that lists the functions.
	parameter parameter
}

func functions(table []operation) functionTable {
	byName := make(map[string]*variants, len(table))
	var names []string
	for i := range table {
		row := &table[i]
		if byName[row.function] == nil {
			byName[row.function] = new(variants)
			names = append(names, row.function)
		}
		byName[row.function][row.variant] = row
	}
	listed := parameter{name: paramFunc.name, hint: "one of " + strings.Join(names, ", ")}
	return functionTable{byName, listed}
}
