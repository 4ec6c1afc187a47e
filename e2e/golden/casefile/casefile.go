// Package casefile reads golden cases: requests to Waybook as a person writes
// them, and the replies that the contract asks for, byte for byte.
//
// The first line of a file is a sentence and the rules that it shows. Below it, a word at the
// start of a line begins a block, and lines indented by two spaces are the block:
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
//	answer NOT_FOUND NO_ALBUM     [code] [reason]; OK when not given
//	  {"photo": {}}               what the reply has, among other fields
//
//	each lat lng                  the steps down to `end` are taken once per row,
//	  1 | 2                       with {lat} and {lng} from the row
//	end
//
//	alone                         before all steps: no other case runs meanwhile
//
// A `#` at the start of a line begins a comment. Placeholders are told in
// template.go.
package casefile

// Declaration is what a body that begins with <response> begins with.
const Declaration = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"

// Case is one file.
type Case struct {
	// Name is the file's name without its ending, and Path where it is.
	Name, Path string
	// Sentence says what the case shows, with the numbers of the rules.
	Sentence string
	// IsAlone says that the case sees what other cases make.
	IsAlone bool
	Steps   []Step
}

// Step is a *User, *Request, *Call or *Each.
type Step interface {
	// Line is where the step begins, from 1.
	Line() int
}

type line int

func (l line) Line() int { return int(l) }

// User makes a user and opens a session.
type User struct {
	line
	// ID names the user in the case.
	ID         string
	Name, Icon Template
}

// Request is a request to the edge and the reply to expect.
type Request struct {
	line
	Method, Path string
	// As is the user whose session's cookie is sent; empty for none.
	As string
	// IsHTTP10 says that the request is made in HTTP/1.0.
	IsHTTP10 bool
	// Query and Body are parameters to encode, RawQuery and RawBody are sent as
	// they are; nil for none.
	Query, Body       []Field
	RawQuery, RawBody *Template
	Headers           []Field
	Reply             *Reply
}

// Field is a parameter or a header.
type Field struct{ Name, Value Template }

// Reply is what the edge is expected to answer.
type Reply struct {
	line
	Status  int
	Reason  Template
	Body    Template
	Headers []Field
	// BodyLines is how many lines of the file, after Line, are the body.
	BodyLines int
}

// Call is a call of an RPC and the reply to expect.
type Call struct {
	line
	Service, Method string
	// Request is JSON.
	Request Template
	Answer  *Answer
}

// Answer is what an RPC is expected to answer.
type Answer struct {
	line
	// Code is the status code as gRPC spells it, OK for success, and Reason that
	// of google.rpc.ErrorInfo.
	Code, Reason string
	// Reply is JSON, of which the reply must have every field; empty for no matter what.
	Reply string
}

// Each takes steps once per row of a table.
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
