package operation

import (
	"github.com/waybook/waybook/edge/form"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
)

// updatePhoto changes the description of a photo (rule 17.37).
func updatePhoto(c *Config) Function {
	return Function{
		Name: "updatePhoto", Rule: "17.37", Title: form.Title{"Describe a photo", "修改相片說明"}, Effect: Writes,
		IsAddition: true,
		Operations: of(c, withPhotos, func(in *Input, of content) *photov1.UpdatePhotoRequest {
			request := about(in, of, &photov1.UpdatePhotoRequest{ActorId: int64(in.User)})
			request.PhotoId = required(in, &paramPhotoID, "photo_id", form.ID)
			request.Description = form.Clearable(&in.Reader, &paramNewDescription, "description", form.Text)
			return request
		}, c.Photo.UpdatePhoto, writeNothing),
	}
}

var paramNewDescription = form.Parameter{Name: "description", Title: paramDescription.Title,
	Hint: "at most 2000 characters, or empty for none"}
