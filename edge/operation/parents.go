package operation

import "github.com/waybook/waybook/edge/form"

// The parameters that name the content to which a photo, comment or recommendation belongs. One
// of them selects the operation (rule 17.2).
var (
	paramOfAlbum = form.Parameter{Name: "albumID", Hint: idHint, OneOf: anyContent, Syntax: form.IntegerSyntax}
	paramOfBlog  = form.Parameter{Name: "blogID", Hint: idHint, OneOf: anyContent, Syntax: form.IntegerSyntax}
	paramOfPoi   = form.Parameter{Name: "POIID", Hint: idHint, OneOf: anyContent, Syntax: form.IntegerSyntax}
)

const anyContent = "albumID, blogID or POIID"

// Entries have no photos.
var (
	paramPhotoOfAlbum = form.Parameter{Name: "albumID", Hint: idHint, OneOf: anyWithPhotos, Syntax: form.IntegerSyntax}
	paramPhotoOfPoi   = form.Parameter{Name: "POIID", Hint: idHint, OneOf: anyWithPhotos, Syntax: form.IntegerSyntax}
)

const anyWithPhotos = "albumID or POIID"

// ofAlbum, ofBlog and ofPoi read the identifier of the content.
func ofAlbum(in *Input) int64 { return required(in, &paramOfAlbum, "album_id", form.ID) }
func ofBlog(in *Input) int64  { return required(in, &paramOfBlog, "blog_id", form.ID) }
func ofPoi(in *Input) int64   { return required(in, &paramOfPoi, "poi_id", form.ID) }
