package comparison

// kind says how the text of an element is compared.
type kind int

const (
	plain      kind = iota // a word or a text
	number                 // an integer or a decimal
	coordinate             // a latitude or a longitude
	date                   // year, month or day
	moment                 // a date and a time
	image                  // the address of an image
	albumID
	blogID
	poiID
	photoID
	commentID
)

// kinds are the kinds of elements by their names (sections 4 to 7 of the contract); all others are
// plain. An identifier of a user is plain, because a move keeps it.
var kinds = map[string]kind{
	"lat": coordinate, "lng": coordinate, "score": number, "category": number, "zoomLevel": number, "mapType": number,
	"votes": number, "reward": number, "distance": number,
	"year": date, "month": date, "day": date,
	"time":      moment,
	"thumbnail": image, "photo": image, "photoPath": image, "ownerIcon": image, "authorIcon": image, "commenterIcon": image,
	"albumID": albumID, "blogID": blogID, "replyBlogID": blogID, "POIID": poiID, "photoID": photoID, "commentID": commentID,
}

func (k kind) isID() bool { return k >= albumID }

// list describes the elements that hold items.
type list struct {
	// isOrdered says that the order of the items has a meaning for clients.
	isOrdered bool
}

// lists are the lists by name. The legacy contract does not say in which order items are, but
// ballots name choices by their position.
var lists = map[string]list{
	"albumList": {}, "POIList": {}, "blogList": {}, "photos": {}, "comments": {}, "choices": {isOrdered: true},
}

// optional are the elements that may be absent, with their defaults; "" for none (rules 4.9, 4.14,
// 7.5 and 7.19).
var optional = map[string]string{
	"photos": "", "comments": "", "vote": "", "authorReply": "", "replyBlogID": "0", "zoomLevel": "14", "mapType": "1",
}

// isIdle reports whether an element may as well be absent: it is optional, and empty or its default.
func (e *Element) isIdle() bool {
	standard, isOptional := optional[e.Name]
	return isOptional && (e.isEmpty() || standard != "" && len(e.Children) == 0 && trim(e.Text) == standard)
}

// isEmpty reports whether an element and all its children have no text.
func (e *Element) isEmpty() bool {
	if trim(e.Text) != "" {
		return false
	}
	for _, child := range e.Children {
		if !child.isEmpty() {
			return false
		}
	}
	return true
}
