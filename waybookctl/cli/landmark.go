package cli

import (
	"context"

	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
	"github.com/waybook/waybook/waybookctl/output"
)

type landmarkCommands struct {
	Create    landmarkCreate                         `cmd:"" help:"Create a landmark."`
	Show      landmarkShow                           `cmd:"" help:"Show a landmark with its first photos and comments."`
	List      landmarkList                           `cmd:"" help:"List a category's landmarks in creation order."`
	Nearby    landmarkNearby                         `cmd:"" help:"List the landmarks around a point, nearest first."`
	Changes   changesOf[landmarks, *poiv1.PoiChange] `cmd:"" help:"List what was created, changed or deleted until two seconds ago, oldest first."`
	Update    landmarkUpdate                         `cmd:"" help:"Change a landmark; fields without a flag keep their values."`
	Import    landmarkImport                         `cmd:"" help:"Import landmarks from a file: GeoJSON, JSON, NDJSON or CSV."`
	Export    landmarkExport                         `cmd:"" help:"Export landmarks to a file."`
	Delete    deleteContent[landmarks]               `cmd:"" set:"noun=landmark" help:"Delete a landmark with its photos and comments."`
	Recommend recommendContent[landmarks]            `cmd:"" set:"noun=landmark" help:"Recommend a landmark."`
	Withdraw  withdrawContent[landmarks]             `cmd:"" set:"noun=landmark" help:"Withdraw a recommendation of a landmark."`
	Photo     photoCommands[landmarks, *poiv1.Photo] `cmd:"" set:"noun=landmark" help:"Photos of a landmark."`
	Comment   commentCommands[landmarks]             `cmd:"" set:"noun=landmark" help:"Comments on a landmark."`
}

type landmarkCreate struct {
	place `embed:""`

	Name     string                  `arg:"" help:"Name, 1 to 200 characters."`
	Owner    int64                   `required:"" placeholder:"USER" help:"User who will own it."`
	Category word[poiv1.PoiCategory] `required:"" placeholder:"CATEGORY" help:"Category of the landmark."`
}

// Run creates the landmark.
func (c *landmarkCreate) Run(ctx context.Context, call *services, out *output.Printer) error {
	created, err := call.poi.CreatePoi(ctx, &poiv1.CreatePoiRequest{
		OwnerId: c.Owner, Name: c.Name, Category: c.Category.value, Location: c.location(),
	})
	return printLandmark(out, created.GetPoi(), err)
}

type landmarkShow struct {
	ID int64 `arg:"" help:"The landmark's identifier."`
}

// Run shows the landmark.
func (c *landmarkShow) Run(ctx context.Context, call *services, out *output.Printer) error {
	found, err := call.poi.GetPoi(ctx, &poiv1.GetPoiRequest{PoiId: c.ID})
	if err != nil {
		return err
	}
	noteMore(out, "landmark photo", c.ID, found.GetNextPhotosToken())
	noteMore(out, "landmark comment", c.ID, found.GetNextCommentsToken())
	return out.Value(output.FromProto(found), func(page *output.Page) {
		output.Record(page, landmarkColumns(), found.GetPoi())
		output.Rows(page, landmarks{}.photoColumns(), found.GetPhotos())
		output.Rows(page, commentColumns(), found.GetComments())
	})
}

type landmarkList struct {
	limit `embed:""`

	Category word[poiv1.PoiCategory] `required:"" placeholder:"CATEGORY" help:"Category of the landmarks."`
}

// Run lists the landmarks.
func (c *landmarkList) Run(ctx context.Context, call *services, out *output.Printer) error {
	return output.Items(out, "landmarks", landmarkColumns(), pages(c.limit, func(page pageOf) ([]*poiv1.Poi, string, error) {
		listed, err := call.poi.ListPois(ctx, &poiv1.ListPoisRequest{
			Category: c.Category.value, PageSize: page.size, PageToken: page.token,
		})
		return listed.GetPois(), listed.GetNextPageToken(), err
	}))
}

type landmarkUpdate struct {
	acting[landmarks] `embed:""`

	ID       int64                    `arg:"" help:"The landmark's identifier."`
	Name     *string                  `help:"New name, 1 to 200 characters."`
	Category *word[poiv1.PoiCategory] `placeholder:"CATEGORY" help:"New category."`
	Lat      *float64                 `and:"location" placeholder:"DEGREES" help:"New latitude, from -90 to 90."`
	Lng      *float64                 `and:"location" placeholder:"DEGREES" help:"New longitude, from -180 to 180."`
}

// Run changes the landmark.
func (c *landmarkUpdate) Run(ctx context.Context, call *services, out *output.Printer) error {
	actor, err := c.actor(ctx, call, c.ID)
	if err != nil {
		return err
	}
	request := &poiv1.UpdatePoiRequest{ActorId: actor, PoiId: c.ID, Name: c.Name}
	if c.Category != nil {
		request.Category = &c.Category.value
	}
	if c.Lat != nil {
		request.Location = &typev1.Location{Lat: *c.Lat, Lng: *c.Lng}
	}
	updated, err := call.poi.UpdatePoi(ctx, request)
	return printLandmark(out, updated.GetPoi(), err)
}

func printLandmark(out *output.Printer, landmark *poiv1.Poi, err error) error {
	if err != nil {
		return err
	}
	return out.Value(output.FromProto(landmark), func(page *output.Page) { output.Record(page, landmarkColumns(), landmark) })
}

func landmarkColumns() []output.Column[*poiv1.Poi] {
	return []output.Column[*poiv1.Poi]{
		{Head: "LANDMARK", Cell: func(p *poiv1.Poi) string { return number(p.GetPoiId()) }},
		{Head: "CATEGORY", Cell: func(p *poiv1.Poi) string { return inWord(p.GetCategory()) }},
		{Head: "LAT,LNG", Cell: func(p *poiv1.Poi) string { return placeText(p.GetLocation()) }},
		{Head: "SCORE", Cell: func(p *poiv1.Poi) string { return number(p.GetScore()) }},
		{Head: "UPDATED", Cell: func(p *poiv1.Poi) string { return output.Time(p.GetUpdateTime()) }},
		{Head: "OWNER", Cell: func(p *poiv1.Poi) string { return profileText(p.GetOwner()) }},
		{Head: "NAME", Cell: (*poiv1.Poi).GetName},
	}
}
