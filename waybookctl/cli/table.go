package cli

// Most commands are made from the descriptors of the contracts (generate.go): nouns from services, verbs from methods,
// arguments and flags from the fields of requests, help from comments. THE TABLE has what is otherwise.

// nouns are the nouns of services and the names of their messages. Methods whose name has none of these belong to the
// first noun of their service.
var nouns = []noun{
	{"user", "account", "User"}, {"session", "account", "Session"},
	{"album", "album", "Album"}, {"entry", "blog", "Blog"}, {"landmark", "poi", "Poi"},
}

type noun struct{ name, service, message string }

// row is a command of a method. A method in a row has no other commands than its rows.
type row struct {
	// method is the name of a method, in each service that has one.
	method string
	// command are the words after the noun. Without words, the method has no command of this table.
	command string
	// help replaces the first sentence of the method's comment.
	help string
	// fixed names boolean fields that are true, or false after a !.
	fixed string
	// fields are the fields that arguments and flags set, besides the first; all if empty.
	fields string
}

var rows = []row{
	{method: "CreateBlog", command: "create", help: "Create an entry."},
	{method: "GetBlog", command: "show", help: "Show an entry with its text, vote and first comments, even before its planned date."},
	{method: "ListUsers", command: "list", help: "List all users, or those with an old form of password."},
	{method: "ListAlbums", command: "list", help: "List a user's albums in creation order."},
	{method: "ListPois", command: "list", help: "List a category's landmarks in creation order."},
	{method: "ListRecentAlbums", command: "recent", help: "List the albums of all users, newest first."},
	{method: "ListRecentBlogs", command: "recent", help: "List the published entries of all users, newest first; tables leave out their texts."},
	{method: "ListRecentPois", command: "recent", help: "List the landmarks of all owners, newest first."},
	{method: "ListPoisOfOwner", command: "of", help: "List the landmarks of an owner, in the order of their keys."},
	{method: "SearchNearby", command: "nearby", help: "List what is around a point, nearest first.", fields: "circle category type"},
	{method: "ListAlbumsInBox", command: "in-box"},
	{method: "ListBlogsInBox", command: "in-box"},
	{method: "ListPoisInBox", command: "in-box"},
	{method: "ListAlbumChanges", command: "changes", fixed: "include_album", help: changesHelp},
	{method: "ListBlogChanges", command: "changes", fixed: "include_blog", help: changesHelp},
	{method: "ListPoiChanges", command: "changes", fixed: "include_poi", help: changesHelp},
	{method: "ListUserChanges", command: "changes", fixed: "include_user", help: changesHelp},
	{method: "ReplyToComment", command: "comment reply", help: "Reply to a comment, replacing an earlier reply."},
	{method: "WithdrawRecommendation", command: "withdraw"},
	{method: "CastBallot", command: "vote", help: "Vote for a choice of an entry's vote."},
	{method: "CountPasswordForms", command: "passwords", help: "Show how many users still have the password form of an old service."},
	{method: "GetRewardTotal", command: "rewards", help: "Show the rewards of a user."},
	{method: "UpdateUser", command: "rename", fields: "name", help: "Change a user's nickname."},
	{method: "UpdateUser", command: "set-email", fields: "email", help: "Change the email address with which a user logs in."},
	{method: "UpdateUser", command: "set-icon", fields: "icon_url", help: "Change the URL of a user's avatar image."},
	{method: "UpdateUser", command: "disable", fixed: "disabled", fields: "-", help: "Close a user's sessions and refuse further logins. What the user owns stays as it is."},
	{method: "UpdateUser", command: "enable", fixed: "!disabled", fields: "-", help: "Let a disabled user log in again."},
	{method: "CloseAllSessions", command: "close-all", help: "Close all sessions of a user."},
	{method: "ListSessions", command: "list", help: "List the open sessions of a user, without their secrets."},

	// These read or print secrets.
	{method: "CreateUser"}, {method: "Authenticate"}, {method: "OpenSession"},
	{method: "VerifySession"}, {method: "VerifySessions"}, {method: "CloseSession"},
	// user delete, user find and entry list do more than a call.
	{method: "DeleteUser"}, {method: "FindUsers"}, {method: "ListBlogs"},
	// move import calls these.
	{method: "MoveInUsers"}, {method: "MoveInAlbums"}, {method: "MoveInBlogs"}, {method: "MoveInPois"},
}

const changesHelp = "List what was created, changed or deleted until two seconds ago, oldest first."

// renamed are the names of arguments and flags that are not the names of their fields.
var renamed = map[string]string{
	"album_id": "id", "blog_id": "id", "poi_id": "id", "album_ids": "id", "blog_ids": "id", "poi_ids": "id", "user_ids": "user", "old_ids": "id",
	"thumbnail_url": "url", "photo_url": "url", "icon_url": "icon",
	"post_date": "date", "reply_blog_id": "quote", "zoom_level": "zoom", "map_type": "map", "radius_meters": "radius",
	"vote.description": "vote", "choices": "choice",
}

// defaults are the values of fields that are not given.
var defaults = map[string]string{"radius_meters": "1000"}

// placeholders are the names of values that are not the names of their flags.
var placeholders = map[string]string{
	"lat": "DEGREES", "lng": "DEGREES", "south": "DEGREES", "west": "DEGREES", "north": "DEGREES", "east": "DEGREES",
	"radius": "METERS", "date": "YYYY-MM-DD", "description": "TEXT", "vote": "QUESTION", "quote": "ENTRY",
}
