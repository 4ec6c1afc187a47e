package operation

import (
	"github.com/waybook/waybook/edge/form"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// getCategoryPOIList lists the landmarks of a category (rules 6.3, 6.4, 9.2 and 9.4).
func getCategoryPOIList(c *Config) Function {
	return Function{
		Name: "getCategoryPOIList", Rule: "6.3", Title: form.Title{"List a category’s landmarks", "列出類別的地標"},
		Effect: Reads,
		Operations: only(idList(c, func(in *Input) *poiv1.ListPoisRequest {
			return &poiv1.ListPoisRequest{
				View:       typev1.View_VIEW_SUMMARY,
				Category:   required(in, &paramPoiCategory, "category", form.Enum[poiv1.PoiCategory]),
				PageSize:   limitAndNext(in),
				AfterPoiId: form.Or(optional(in, &paramAfter, "after_poi_id", form.ID), 0),
			}
		}, c.Poi.ListPois, (*poiv1.ListPoisResponse).GetSummaries,
			summaries("POIList", "POI", "POIID", "name"), summaryID)),
	}
}
