package edge

import (
	"net/http"

	"github.com/waybook/waybook/edge/failure"
	"github.com/waybook/waybook/edge/operation"
	"github.com/waybook/waybook/internal/clients"
)

// Operations describes every operation of the table, additions included. The order is that of
// the list in the failure of an unknown func.
func Operations() []operation.Description { return clientless().Operations() }

// AddedElements returns the elements that additions bring to the replies of the legacy reads, each
// as the function and its path without positions: those of rules 9.3 and 17.15.
func AddedElements() []string {
	return []string{
		"getAlbum/ownerID", "getAlbum/comments/comment/commentID", "getAlbum/comments/comment/commenterID",
		"getPOI/ownerID", "getPOI/comments/comment/commentID", "getPOI/comments/comment/commenterID",
		"getPOI/photos/photo/photoID",
		"getBlog/authorID", "getBlog/comments/comment/commentID", "getBlog/comments/comment/commenterID",
		"getUserAlbumList/next", "getCategoryPOIList/next",
	}
}

// clientless returns a Config of the whole table whose clients are never called.
func clientless() *Config {
	return &Config{Clients: clients.Of(nil, nil, nil, nil)}
}

// Operations describes the operations of an edge with these settings. It calls no service.
func (c *Config) Operations() []operation.Description { return operation.Describe(c.operations()) }

// operations returns the dependencies of the operations.
func (c *Config) operations() *operation.Config {
	return &operation.Config{
		Clients:   c.Clients,
		Additions: c.Additions, Sessions: c.Sessions, CallTimeout: c.CallTimeout,
	}
}

// SharedParameters returns the parameters that every request may carry, besides those of its
// operation.
func SharedParameters() []operation.Parameter {
	formats := []operation.Value{{Value: "XML", Label: "XML"}, {Value: "JSON", Label: "JSON"}}
	return []operation.Parameter{
		{Name: "func", Hint: "the operation", IsRequired: true},
		{Name: paramResponseFormat.Name, Hint: paramResponseFormat.Hint, Type: operation.Enum, Values: formats},
	}
}

// FailureEntry explains a failure to the people who see it.
type FailureEntry struct {
	// Reason is the stable reason, and Info an example of the phrase.
	Reason string `json:"reason"`
	Info   string `json:"info"`
	// Status is the HTTP status.
	Status int `json:"status"`
	// Meaning says when the edge answers so. Action says what the client should do.
	Meaning string `json:"meaning"`
	Action  string `json:"action"`
}

// Failures returns the failures of the interface. The general entry of a reason comes before the
// special ones. docs/failures.md is made of it.
func Failures() []FailureEntry {
	return []FailureEntry{
		infoEntry("MISSING_PARAMETER", "MISSING PARAMETER: albumTitle",
			"a required parameter is absent", "add the parameters that `info` names"),
		infoEntry("MISSING_PARAMETER", "MISSING PARAMETER: albumID, blogID or POIID",
			"none of several parameters was sent, of which the operation needs one", "send one of them"),
		infoEntry("INVALID_PARAMETER", "INVALID PARAMETER: blogID (not with albumID)",
			"two of several parameters were sent, of which the operation takes one", "send only one of them"),
		infoEntry("INVALID_PARAMETER", "INVALID PARAMETER: lat (from -90 to 90)",
			"a parameter is out of range or not one of its values; the brackets show the accepted values",
			"send one of these values"),
		infoEntry("INVALID_PARAMETER", "INVALID PARAMETER: lat (a decimal number, from -90 to 90)",
			"the value is not a number as `docs/contract.md` has it (rules 2.3 and 2.4)", "send such a number"),
		infoEntry("INVALID_PARAMETER", "INVALID PARAMETER: day (no such day in that month)",
			"the date is not in the calendar", "send a day that the month has"),
		infoEntry("QUOTED_BLOG_NOT_FOUND", "INVALID PARAMETER: replyBlogID (no such blog)",
			"the quoted entry does not exist, or is the entry itself", "quote another entry that exists, or none"),
		infoEntry("INVALID_ENCODING", "INVALID ENCODING: albumTitle",
			"broken percent-encoding, bytes that are not text in the charset of the form, or a character that XML "+
				"1.0 cannot carry",
			"percent-encode the UTF-8 bytes of the text"),
		plainEntry("INVALID_CONTENT_TYPE", "the body is not a form, or in a charset that Waybook does not have",
			"send `application/x-www-form-urlencoded` in UTF-8"),
		plainEntry("INVALID_MULTIPART", "a `multipart/form-data` body ends early, or has another boundary or a part "+
			"that is encoded or without a name",
			"send the whole body, with the boundary of its `Content-Type`"),
		infoEntry("INVALID_MULTIPART", "INVALID MULTIPART: send the fields before the file",
			"a field comes after the file", "send the file as the last part"),
		infoEntry("FILE_NOT_ACCEPTED", "FILE NOT ACCEPTED: photo",
			"a part of a `multipart/form-data` body is a file that the operation does not take; `addPhoto` takes "+
				"one, `photo`, and `updateProfile` one, `icon`",
			"send fields without a file name"),
		plainEntry("UPLOADS_OFF", "the site takes no files (`-max-photo-bytes 0`), or none for landmarks "+
			"(`-public-url` is not set)",
			"send the address of the image"),
		plainEntry("PHOTO_NOT_SUPPORTED",
			"the file is no JPEG, PNG, WebP or GIF, or one of a rare kind, such as HEIC of an iPhone",
			"save the photo as JPEG"),
		plainEntry("PHOTO_TOO_LARGE", "the file exceeds `-max-photo-bytes`, 20 MiB by default, or has too many "+
			"pixels for the memory of the service",
			"send a smaller photo"),
		plainEntry("PHOTO_DAMAGED", "the file ends early, or breaks the rules of its format",
			"send the file again, or repair it"),
		plainEntry("REQUEST_ID_REUSED", "an earlier request with this `requestID` asked for something else",
			"send a new UUID"),
		plainEntry("TOO_MANY_PARAMETERS", "the request has more than 100 parameters",
			"send only the parameters of the operation"),
		plainEntry("POST_REQUIRED", "a write was sent by GET or HEAD", "send it by POST"),
		plainEntry("LOGIN_REQUIRED",
			"the cookie is missing, or its session is not open; login: the password changed, or all sessions were "+
				"closed, during the login",
			"log in, and send the cookie with the request"),
		plainEntry("PASSWORD_INCORRECT",
			"login: no user has this email and password; the edge does not say which is wrong. changePassword: the "+
				"old password is wrong",
			"enter the email and the password again"),
		plainEntry("REGISTRATION_CLOSED", "registration is closed (`-registration`)",
			"ask the operator for an account"),
		plainEntry("INVITATION_INVALID", "the invitation is missing, unknown, used or expired",
			"ask the operator for an invitation"),
		plainEntry("EMAIL_TAKEN", "register: a user has this email", "log in, or register with another email"),
		infoEntry("INVALID_PARAMETER", "INVALID PARAMETER: password (send it in the body)",
			"a password, an invitation, or the email of a login is in the query, where logs would record it",
			"send it in the body"),
		plainEntry("NOT_OWNER", "the album or entry belongs to another user", "log in as its owner"),
		plainEntry("ALBUM_NOT_FOUND", "no album has this albumID", "send the `albumID` of an album that exists"),
		plainEntry("BLOG_NOT_FOUND", "no entry has this blogID", "send the `blogID` of an entry that exists"),
		plainEntry("POI_NOT_FOUND", "no landmark has this POIID", "send the `POIID` of a landmark that exists"),
		plainEntry("USER_NOT_FOUND", "no user has this userID", "send the `userID` of a user who exists"),
		plainEntry("ICON_NOT_FOUND", "the user has another icon, is hidden, or does not exist",
			"read the address of the icon again"),
		plainEntry("PHOTO_NOT_FOUND", "the album or landmark has no such photo",
			"send the identifier of one of its photos"),
		plainEntry("COMMENT_NOT_FOUND", "the content has no such comment",
			"send the identifier of one of its comments"),
		plainEntry("COMMENT_LIMIT_REACHED", "the user has 500 comments under the content (`-comments-per-user`)",
			"remove one of them before the next"),
		plainEntry("VOTE_NOT_FOUND", "the entry holds no vote", "vote in an entry that has one"),
		plainEntry("CHOICE_NOT_FOUND", "the vote has no such choice", "send the position of a choice, from 1"),
		plainEntry("ALREADY_VOTED", "the user has voted for another choice", "a ballot is final"),
		plainEntry("CONFLICT", "concurrent writers kept changing the same document", "retry"),
		plainEntry("INTERNAL_ERROR", "a fault of the server; its log has the cause",
			"report it with the `X-Request-Id` of the reply"),
		refusalEntry("UNREADABLE_REQUEST", http.StatusBadRequest, "the body ended early",
			"send the whole body, with its length"),
		refusalEntry("REQUEST_TIMEOUT", http.StatusRequestTimeout,
			"the body took longer than 30 seconds to arrive, or stopped for as long in a file",
			"retry on a faster connection"),
		refusalEntry("CROSS_SITE_REQUEST", http.StatusForbidden,
			"the browser reports that a page of another site sent this write",
			"add the site to `-trusted-origins` if it may write"),
		refusalEntry("NOT_FOUND", http.StatusNotFound, "the path is neither `/API.php` nor that of a file",
			"correct the path"),
		refusalEntry("METHOD_NOT_ALLOWED", http.StatusMethodNotAllowed,
			"the method is not GET, HEAD or POST, or for a file POST", "use GET or POST"),
		refusalEntry("CONTENT_ENCODING_NOT_ACCEPTED", http.StatusUnsupportedMediaType,
			"the body has a `Content-Encoding` such as gzip", "send it as it is"),
		refusalEntry("REQUEST_TOO_LARGE", http.StatusRequestEntityTooLarge,
			"the form exceeds 2 MiB, its file not included", "send less"),
		retryEntry("TOO_MANY_REQUESTS", http.StatusTooManyRequests, "the address exceeds its rate limit"),
		retryEntry("TOO_MANY_MISSES", http.StatusTooManyRequests, "too many reads of the address found nothing"),
		retryEntry("TOO_MANY_WRITES", http.StatusTooManyRequests, "the user exceeds the rate limit of writes"),
		retryEntry("TOO_MANY_COMMENTS", http.StatusTooManyRequests,
			"the user exceeds the rate limit of comments under one content"),
		retryEntry("TOO_MANY_UPLOADS", http.StatusTooManyRequests,
			"the address already sends as many files as it may at a time"),
		retryEntry("TOO_MANY_LONG_REPLIES", http.StatusTooManyRequests,
			"the address already reads as many long lists as it may at a time"),
		retryEntry("TOO_MANY_ATTEMPTS", http.StatusTooManyRequests,
			"too many attempts to log in with this email, or to log in or register from this address; or too many "+
				"register at the moment"),
		retryEntry("SERVICE_BUSY", http.StatusServiceUnavailable, "the concurrency limit is reached"),
		retryEntry("SERVICE_UNAVAILABLE", http.StatusServiceUnavailable, "a service or its store is unreachable"),
		retryEntry("SERVICE_TIMEOUT", http.StatusServiceUnavailable, "a service took longer than 10 seconds"),
	}
}

// infoEntry returns the entry of a failure with HTTP status 200, because old clients read a body
// only then.
func infoEntry(reason, info, meaning, action string) FailureEntry {
	return FailureEntry{reason, info, http.StatusOK, meaning, action}
}

// plainEntry returns the entry of a failure whose phrase derives from the reason.
func plainEntry(reason, meaning, action string) FailureEntry {
	return infoEntry(reason, failure.New(reason).Info, meaning, action)
}

func refusalEntry(reason string, status int, meaning, action string) FailureEntry {
	return FailureEntry{reason, failure.New(reason).Info, status, meaning, action}
}

// retryEntry returns the entry of a failure that carries Retry-After.
func retryEntry(reason string, status int, meaning string) FailureEntry {
	return refusalEntry(reason, status, meaning, "retry after the seconds in `Retry-After`")
}
