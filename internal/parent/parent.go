// Package parent finds the album, the entry or the landmark that a message of the shared contracts
// names: of comments, photos, recommendations, changes and old identifiers. Each server has those
// of its own kind.
package parent

import (
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// Of returns the kind and the identifier of what a request names. A request that names only a kind
// has no identifier, and one that names nothing has no kind.
func Of(request any) (kind typev1.Kind, id int64) {
	if of, ok := request.(interface{ GetAlbumId() int64 }); ok && of.GetAlbumId() != 0 {
		return typev1.Kind_KIND_ALBUM, of.GetAlbumId()
	}
	if of, ok := request.(interface{ GetBlogId() int64 }); ok && of.GetBlogId() != 0 {
		return typev1.Kind_KIND_BLOG, of.GetBlogId()
	}
	if of, ok := request.(interface{ GetPoiId() int64 }); ok && of.GetPoiId() != 0 {
		return typev1.Kind_KIND_POI, of.GetPoiId()
	}
	switch of := request.(type) {
	case *photov1.UploadRequest:
		return Of(of.GetStart())
	case interface{ GetKind() typev1.Kind }:
		return of.GetKind(), 0
	case interface{ GetStart() *photov1.UploadStart }:
		return Of(of.GetStart())
	case *moveinv1.ResolveOldIdsRequest:
		if len(of.GetOldIds()) > 0 {
			return OfOldID(of.GetOldIds()[0]), 0
		}
	case *moveinv1.MoveInRequest:
		if len(of.GetRecords()) > 0 {
			kind, _ = OfRecord(of.GetRecords()[0])
			return kind, 0
		}
	}
	return typev1.Kind_KIND_UNSPECIFIED, 0
}

// OfOldID returns the kind of the content that an old identifier is of, or belongs to.
func OfOldID(old *moveinv1.OldIdentifier) typev1.Kind {
	if old.GetParentKind() != typev1.Kind_KIND_UNSPECIFIED {
		return old.GetParentKind()
	}
	return old.GetKind()
}

// OfRecord returns the kind of the resource that a record of an old service is of, or belongs to,
// and the old identifier of the content that it belongs to.
func OfRecord(record *moveinv1.Record) (kind typev1.Kind, parentOldID string) {
	switch of := record.GetRecord().(type) {
	case *moveinv1.Record_User, *moveinv1.Record_Session, *moveinv1.Record_Reward:
		return typev1.Kind_KIND_USER, ""
	case *moveinv1.Record_Album:
		return typev1.Kind_KIND_ALBUM, ""
	case *moveinv1.Record_Entry:
		return typev1.Kind_KIND_BLOG, ""
	case *moveinv1.Record_Landmark:
		return typev1.Kind_KIND_POI, ""
	case *moveinv1.Record_Photo:
		return oldParent(of.Photo)
	case *moveinv1.Record_Comment:
		return oldParent(of.Comment)
	case *moveinv1.Record_Ballot:
		return oldParent(of.Ballot)
	case *moveinv1.Record_Recommendation:
		return oldParent(of.Recommendation)
	}
	return typev1.Kind_KIND_UNSPECIFIED, ""
}

func oldParent(of any) (kind typev1.Kind, oldID string) {
	if on, ok := of.(interface{ GetAlbumId() string }); ok && on.GetAlbumId() != "" {
		return typev1.Kind_KIND_ALBUM, on.GetAlbumId()
	}
	if on, ok := of.(interface{ GetEntryId() string }); ok && on.GetEntryId() != "" {
		return typev1.Kind_KIND_BLOG, on.GetEntryId()
	}
	if on, ok := of.(interface{ GetLandmarkId() string }); ok && on.GetLandmarkId() != "" {
		return typev1.Kind_KIND_POI, on.GetLandmarkId()
	}
	return typev1.Kind_KIND_UNSPECIFIED, ""
}
