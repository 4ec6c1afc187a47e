// Package casefile reads golden cases. A case has requests to Waybook in a form that
// people can write, and the replies that the contract requires, byte for byte.
//
// The first line of a file is a sentence with the rules that the case shows. Below it, a word at the
// start of a line begins a block. The lines of the block are indented by two spaces:
//
//	An album is added and read back (rules 5.3 and 5.7)
//
//	user amy                      a user; {amy} is the id, {amy.idrand} the
//	  name=王小明                  secret of an open session. Name and icon may
//	  icon=/icons/amy.png         be left out.
//
//	POST as amy                   METHOD [path] [as user] [HTTP/1.0]
//	  func=addAlbum               parameters: in the body of a POST, else in the
//	  albumTitle=我的相簿          query. The reader percent-encodes them.
//	query                         further blocks of a request, each optional:
//	body                          parameters in the query, or in the body
//	raw query                     the query as it is sent; its lines are joined
//	raw body
//	headers                       Name: value, or Name: - to send none
//	reply                         [status] [X-Waybook-Reason]; 200 and no reason
//	  <response>                  when not given. The body follows; line breaks
//	    <status>OK</status>       and indentation are not part of it.
//	  </response>
//	reply headers                 Name: value, or Name: - for none
//
//	call waybook.album.v1.AlbumService/AddPhoto
//	  {"albumId": "{album}"}      the request in JSON
//	answer NOT_FOUND NO_ALBUM     [code] [reason]; OK by default
//	  {"photo": {}}               fields of the reply, which may have more
//
//	each lat lng                  the steps down to `end` run once per row,
//	  1 | 2                       with {lat} and {lng} from the row
//	end
//
//	alone                         before all steps: no other case runs at the same time
//
// A `#` at the start of a line begins a comment. The placeholders are listed in
// template.go.
package casefile

// Declaration begins every body whose first element is <response>.
const Declaration = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"

// Case is one file.
type Case struct {
	// Name is the file's name without its extension. Path is its path.
	Name, Path string
	// Sentence describes the case and cites its rules.
	Sentence string
	// IsAlone means that other cases would change the result of this one.
	IsAlone bool
	Steps   []Step
}

// Step is a *User, *Request, *Call or *Each.
type Step interface {
	// Line is the first line of the step, from 1.
	Line() int
}

type line int

func (l line) Line() int { return int(l) }

// User creates a user and opens a session.
type User struct {
	line
	// ID is the user's name in the case.
	ID         string
	Name, Icon Template
}

// Request is a request to the edge and the expected reply.
type Request struct {
	line
	Method, Path string
	// As is the user whose session cookie is sent. It is empty for none.
	As string
	// IsHTTP10 means that the request uses HTTP/1.0.
	IsHTTP10 bool
	// Query and Body are parameters to encode. RawQuery and RawBody are sent unchanged; nil
	// means none.
	Query, Body       []Field
	RawQuery, RawBody *Template
	Headers           []Field
	Reply             *Reply
}

// Field is a parameter or a header.
type Field struct{ Name, Value Template }

// Reply is the expected reply of the edge.
type Reply struct {
	line
	Status  int
	Reason  Template
	Body    Template
	Headers []Field
	// BodyLines is the number of lines of the body, which starts after Line.
	BodyLines int
}

// Call is an RPC and the expected reply.
type Call struct {
	line
	Service, Method string
	// Request is JSON.
	Request Template
	Answer  *Answer
}

// Answer is the expected reply of an RPC.
type Answer struct {
	line
	// Code is gRPC's name of the status code, OK for success. Reason is the reason of
	// google.rpc.ErrorInfo.
	Code, Reason string
	// Reply is JSON. The reply must have each of its fields. Empty accepts any reply.
	Reply string
}

// Each runs steps once per row of a table.
type Each struct {
	line
	Columns []string
	Rows    []Row
	Steps   []Step
}

// Row has a cell for each column.
type Row struct {
	line
	Cells []Template
}
