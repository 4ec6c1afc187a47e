package operation

import (
	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/reply"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
)

// addPhoto adds a photo to an album or a landmark of the user (rule 17.7).
func addPhoto(c *Config) Function {
	return Function{
		Name: "addPhoto", Rule: "17.7", Title: form.Title{"Add a photo", "新增相片"}, Effect: Writes, IsAddition: true,
		Operations: of(c, withPhotos, func(in *Input, to content) *photov1.AddPhotoRequest {
			request := about(in, to, &photov1.AddPhotoRequest{RequestId: newRequestID(), ActorId: int64(in.User)})
			address := &paramThumbnail
			if to.variant == OfPoi {
				address = &paramPhoto
			}
			request.Url = required(in, address, "url", form.Text)
			request.Description = form.Or(optional(in, &paramDescription, "description", form.Text), "")
			return request
		}, c.Photo.AddPhoto, func(out reply.Writer, response *photov1.AddPhotoResponse) {
			out.ID("photoID", response.GetPhoto().GetPhotoId(), "")
		}),
	}
}

// The addresses of photos have the names that replies show.
var (
	paramThumbnail   = form.Parameter{Name: "thumbnail", Title: form.Title{"Address of the small image", "縮圖位址"}, Hint: addressHint}
	paramPhoto       = form.Parameter{Name: "photo", Title: form.Title{"Address of the image", "圖片位址"}, Hint: addressHint}
	paramDescription = form.Parameter{Name: "description", Title: form.Title{"Description", "說明"}, Hint: "at most 2000 characters"}
)

const addressHint = "address of the image, 1 to 2000 bytes"

// removePhoto removes a photo (rule 17.8).
func removePhoto(c *Config) Function {
	return Function{
		Name: "removePhoto", Rule: "17.8", Title: form.Title{"Remove a photo", "移除相片"}, Effect: Writes, IsAddition: true,
		Operations: of(c, withPhotos, func(in *Input, of content) *photov1.RemovePhotoRequest {
			request := about(in, of, &photov1.RemovePhotoRequest{ActorId: int64(in.User)})
			request.PhotoId = required(in, &paramPhotoID, "photo_id", form.ID)
			return request
		}, c.Photo.RemovePhoto, writeNothing),
	}
}

var paramPhotoID = form.Parameter{Name: "photoID", Title: form.Title{"Photo", "相片"}, Hint: idHint, Syntax: form.IntegerSyntax}
