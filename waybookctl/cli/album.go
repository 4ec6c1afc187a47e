package cli

import (
	"context"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	"github.com/waybook/waybook/waybookctl/output"
)

type albumCommands struct {
	Create    albumCreate                             `cmd:"" help:"Create an album."`
	Show      albumShow                               `cmd:"" help:"Show an album with its first photos and comments."`
	List      albumList                               `cmd:"" help:"List a user's albums in creation order."`
	Recent    albumRecent                             `cmd:"" help:"List the albums of all users, newest first."`
	Nearby    albumNearby                             `cmd:"" help:"List the albums around a point, nearest first."`
	Changes   changesOf[albums, *albumv1.AlbumChange] `cmd:"" help:"List what was created, changed or deleted until two seconds ago, oldest first."`
	Update    albumUpdate                             `cmd:"" help:"Change an album; fields without a flag keep their values."`
	Export    albumExport                             `cmd:"" help:"Export a user's albums to a file that move import reads."`
	Delete    deleteContent[albums]                   `cmd:"" set:"noun=album" help:"Delete an album with its photos and comments."`
	Recommend recommendContent[albums]                `cmd:"" set:"noun=album" help:"Recommend an album."`
	Withdraw  withdrawContent[albums]                 `cmd:"" set:"noun=album" help:"Withdraw a recommendation of an album."`
	Photo     photoCommands[albums, *albumv1.Photo]   `cmd:"" set:"noun=album" help:"Photos of an album."`
	Comment   commentCommands[albums]                 `cmd:"" set:"noun=album" help:"Comments on an album."`
}

type albumCreate struct {
	place `embed:""`

	Title    string                      `arg:"" help:"Title, 1 to 200 characters."`
	Owner    int64                       `required:"" placeholder:"USER" help:"User who will own it."`
	Category word[albumv1.AlbumCategory] `required:"" placeholder:"CATEGORY" help:"Category of the album."`
}

// Run creates the album.
func (c *albumCreate) Run(ctx context.Context, call *services, out *output.Printer) error {
	created, err := call.album.CreateAlbum(ctx, &albumv1.CreateAlbumRequest{
		OwnerId: c.Owner, Title: c.Title, Category: c.Category.value, Location: c.location(),
	})
	return printAlbum(out, created.GetAlbum(), err)
}

type albumShow struct {
	ID int64 `arg:"" help:"The album's identifier."`
}

// Run shows the album.
func (c *albumShow) Run(ctx context.Context, call *services, out *output.Printer) error {
	found, err := call.album.GetAlbum(ctx, &albumv1.GetAlbumRequest{AlbumId: c.ID})
	if err != nil {
		return err
	}
	noteMore(out, "album photo", c.ID, found.GetNextPhotosToken())
	noteMore(out, "album comment", c.ID, found.GetNextCommentsToken())
	return out.Value(output.FromProto(found), func(page *output.Page) {
		output.Record(page, albumColumns(), found.GetAlbum())
		output.Rows(page, albums{}.photoColumns(), found.GetPhotos())
		output.Rows(page, commentColumns(), found.GetComments())
	})
}

// noteMore reports that a list continues, and the command that prints all of it.
func noteMore(out *output.Printer, noun string, id int64, nextToken string) {
	if nextToken != "" {
		out.Note("there are more: %s %s list %d", name, noun, id)
	}
}

type albumList struct {
	limit `embed:""`

	Owner int64 `required:"" placeholder:"USER" help:"Owner of the albums."`
}

// Run lists the albums.
func (c *albumList) Run(ctx context.Context, call *services, out *output.Printer) error {
	return output.Items(out, "albums", albumColumns(), pages(c.limit, func(page pageOf) ([]*albumv1.Album, string, error) {
		listed, err := call.album.ListAlbums(ctx, &albumv1.ListAlbumsRequest{OwnerId: c.Owner, PageSize: page.size, PageToken: page.token})
		return listed.GetAlbums(), listed.GetNextPageToken(), err
	}))
}

type albumUpdate struct {
	acting[albums] `embed:""`

	ID       int64                        `arg:"" help:"The album's identifier."`
	Title    *string                      `help:"New title, 1 to 200 characters."`
	Category *word[albumv1.AlbumCategory] `placeholder:"CATEGORY" help:"New category."`
	Lat      *float64                     `placeholder:"DEGREES" help:"New latitude, from -90 to 90."`
	Lng      *float64                     `placeholder:"DEGREES" help:"New longitude, from -180 to 180."`
}

// Run changes the album.
func (c *albumUpdate) Run(ctx context.Context, call *services, out *output.Printer) error {
	actor, err := c.actor(ctx, call, c.ID)
	if err != nil {
		return err
	}
	request := &albumv1.UpdateAlbumRequest{ActorId: actor, AlbumId: c.ID, Title: c.Title, Lat: c.Lat, Lng: c.Lng}
	if c.Category != nil {
		request.Category = &c.Category.value
	}
	updated, err := call.album.UpdateAlbum(ctx, request)
	return printAlbum(out, updated.GetAlbum(), err)
}

func printAlbum(out *output.Printer, album *albumv1.Album, err error) error {
	if err != nil {
		return err
	}
	return out.Value(output.FromProto(album), func(page *output.Page) { output.Record(page, albumColumns(), album) })
}

func albumColumns() []output.Column[*albumv1.Album] {
	return []output.Column[*albumv1.Album]{
		{Head: "ALBUM", Cell: func(a *albumv1.Album) string { return number(a.GetAlbumId()) }},
		{Head: "CATEGORY", Cell: func(a *albumv1.Album) string { return inWord(a.GetCategory()) }},
		{Head: "LAT,LNG", Cell: func(a *albumv1.Album) string { return placeText(a.GetLocation()) }},
		{Head: "SCORE", Cell: func(a *albumv1.Album) string { return number(a.GetScore()) }},
		{Head: "UPDATED", Cell: func(a *albumv1.Album) string { return output.Time(a.GetUpdateTime()) }},
		{Head: "OWNER", Cell: func(a *albumv1.Album) string { return profileText(a.GetOwner()) }},
		{Head: "TITLE", Cell: (*albumv1.Album).GetTitle},
	}
}
