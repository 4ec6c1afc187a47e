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
//	POST as amy                   METHOD [path] [as user] [HTTP/1.0] [eventually]
//	  func=addAlbum               parameters: in the body of a POST, else in the
//	  albumTitle=我的相簿          query. The reader percent-encodes them. One that is
//	                              to succeed eventually is repeated until it does.
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
//	call waybook.photo.v1.PhotoService/AddPhoto
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

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

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
	Method string
	Path   Template
	// As is the user whose session cookie is sent. It is empty for none.
	As string
	// IsHTTP10 means that the request uses HTTP/1.0.
	IsHTTP10 bool
	// IsRepeated means that the request is sent again until the reply is the expected one.
	IsRepeated bool
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

// ContractFile is the path of the rules, from the root of the repository.
const ContractFile = "docs/contract.md"

var (
	sectionHeading = regexp.MustCompile(`^## (\d+)\. `)
	ruleHeading    = regexp.MustCompile(`^- \*\*(\d+)\.(\d+)\*\* \((legacy|decision|addition)\) \S`)
	ruleMark       = regexp.MustCompile(`\*\*\d+\.\d+\*\*`)
)

// ParseContract returns the numbers of the rules, such as 4.12, in their order. Numbers
// increase within a section. A missing number is that of a removed rule.
func ParseContract(path, text string) ([]string, error) {
	var rules []string
	section, last := 0, 0
	for i, line := range strings.Split(text, "\n") {
		if heading := sectionHeading.FindStringSubmatch(line); heading != nil {
			number, _ := strconv.Atoi(heading[1])
			if number <= section {
				return nil, &Error{path, i + 1, fmt.Sprintf("section %d follows section %d", number, section)}
			}
			section, last = number, 0
			continue
		}
		if !ruleMark.MatchString(line) {
			continue
		}
		heading := ruleHeading.FindStringSubmatch(line)
		if heading == nil {
			return nil, &Error{path, i + 1, "want - **4.12** (legacy, decision or addition) and the rule"}
		}
		in, _ := strconv.Atoi(heading[1])
		number, _ := strconv.Atoi(heading[2])
		if in != section || number <= last {
			return nil, &Error{path, i + 1, fmt.Sprintf("rule %d.%d follows rule %d.%d", in, number, section, last)}
		}
		last = number
		rules = append(rules, heading[1]+"."+heading[2])
	}
	return rules, nil
}

// numbers matches one or more numbers of rules, as in "4.12, 5.1 and 5.2".
const numbers = `\d+\.\d+(?:(?:, | and )\d+\.\d+)*`

var (
	sentenceRules = regexp.MustCompile(` \(rules? (` + numbers + `)\)$`)
	ruleNumber    = regexp.MustCompile(`\d+\.\d+`)
)

// Rules returns the numbers of the rules that the case's sentence cites.
func (c *Case) Rules() []string { return rulesOf(c.Sentence) }

func rulesOf(sentence string) []string {
	cited := sentenceRules.FindStringSubmatch(sentence)
	if cited == nil {
		return nil
	}
	return ruleNumber.FindAllString(cited[1], -1)
}

// RulesFile lists the cases or tests of each rule.
const RulesFile = "RULES.txt"

// Rule is one line of the list: `4.12 | cases`. For a rule that no request and reply can
// show, the line has `- directory tests` instead of cases.
type Rule struct {
	// Line is the line number, from 1.
	Line int
	// Number is the rule's number in ContractFile.
	Number string
	Cases  []string
	// Directory is a directory below the root of the repository. The Tests are in it or
	// below it.
	Directory string
	Tests     []string
}

var wholeNumber = regexp.MustCompile(`^\d+\.\d+$`)

// ParseRules reads the list. Blank lines and lines that begin with # are skipped.
func ParseRules(path, text string) ([]Rule, error) {
	var rules []Rule
	for i, text := range strings.Split(text, "\n") {
		if strings.TrimSpace(text) == "" || text[0] == '#' {
			continue
		}
		number, shown, _ := strings.Cut(text, "|")
		rule := Rule{Line: i + 1, Number: strings.TrimSpace(number)}
		words := strings.Fields(shown)
		switch {
		case !wholeNumber.MatchString(rule.Number) || len(words) == 0:
			return nil, &Error{path, i + 1, "want a rule's number, | and cases"}
		case words[0] != "-":
			rule.Cases = words
		case len(words) < 3:
			return nil, &Error{path, i + 1, "want a directory and tests after the dash"}
		default:
			rule.Directory, rule.Tests = words[1], words[2:]
		}
		rules = append(rules, rule)
	}
	return rules, nil
}
