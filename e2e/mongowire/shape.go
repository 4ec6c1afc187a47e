package mongowire

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// shape is what a command takes. A command or a field that is not here fails, until somebody has looked up what a
// server says of it: in testdata/answers.ndjson, or in the pages of
// https://www.mongodb.com/docs/manual/reference/command/.
type shape struct {
	// fields are the fields besides the common ones, each with the types of its values. required are those that the
	// command needs. A field whose type is unknown to the table has any.
	fields   map[string]string
	required []string
	// unknown and mistyped are the codes by which a server of 4.4 refuses a field. Newer ones have one code for all.
	unknown, mistyped int32
	// isRead, isRetryable and isAdmin say whether the command takes no write concern, takes a transaction number
	// outside a transaction, and belongs to the database admin.
	isRead, isRetryable, isAdmin bool
	// by is the server that has the command, if only one has it.
	by *Role
}

const (
	failedToParse   = 9
	typeMismatch    = 14
	badValue        = 2
	idlUnknown      = 40415
	idlMissing      = 40414
	idlDuplicate    = 40413
	idlNegative     = 51024
	invalidOptions  = 72
	invalidNS       = 73
	commandNotFound = 59
	unauthorized    = 13
)

// common are the fields that each command takes.
const common = "$db lsid txnNumber stmtId stmtIds startTransaction autocommit readConcern writeConcern maxTimeMS comment " +
	"$readPreference $clusterTime $client $audit $configServerState $queryOptions apiVersion apiStrict apiDeprecationErrors help"

// onlyNewer are fields that 4.4 does not know.
var onlyNewer = map[string][]string{
	"find": {"let"}, "aggregate": {"let"}, "delete": {"let"}, "insert": {"bypassEmptyTsReplacement"},
	"update": {"let", "bypassEmptyTsReplacement"}, "findAndModify": {"let", "bypassEmptyTsReplacement"},
}

var shapes = func() map[string]shape {
	router := Router
	table := map[string]shape{
		"find": {isRead: true, unknown: failedToParse, mistyped: failedToParse, fields: fieldsOf(
			"filter:object sort:object projection:object hint skip:number limit:number batchSize:number singleBatch:bool " +
				"allowDiskUse:bool awaitData:bool tailable:bool noCursorTimeout:bool allowPartialResults:bool returnKey:bool " +
				"showRecordId:bool min:object max:object collation:object let:object")},
		"getMore": {isRead: true, unknown: failedToParse, mistyped: failedToParse, fields: fieldsOf("collection:string batchSize:number")},
		"killCursors": {isRead: true, unknown: failedToParse, mistyped: failedToParse, fields: fieldsOf("cursors:array"),
			required: []string{"cursors"}},
		"aggregate": {isRead: true, unknown: failedToParse, mistyped: typeMismatch, fields: fieldsOf(
			"pipeline:array cursor:object explain:bool allowDiskUse:bool hint collation:object bypassDocumentValidation let:object")},
		"count": {isRead: true, unknown: idlUnknown, mistyped: typeMismatch, fields: fieldsOf(
			"query:object limit:number skip:number hint collation:object fields")},
		"distinct": {isRead: true, unknown: idlUnknown, mistyped: typeMismatch, required: []string{"key"}, fields: fieldsOf(
			"key:string query:object collation:object hint")},
		"insert": {isRetryable: true, unknown: idlUnknown, mistyped: typeMismatch, required: []string{"documents"}, fields: fieldsOf(
			"documents:array ordered:bool bypassDocumentValidation:bool bypassEmptyTsReplacement:bool")},
		"update": {isRetryable: true, unknown: idlUnknown, mistyped: typeMismatch, required: []string{"updates"}, fields: fieldsOf(
			"updates:array ordered:bool bypassDocumentValidation:bool bypassEmptyTsReplacement:bool let:object")},
		"delete": {isRetryable: true, unknown: idlUnknown, mistyped: typeMismatch, required: []string{"deletes"}, fields: fieldsOf(
			"deletes:array ordered:bool let:object")},
		"findAndModify": {isRetryable: true, unknown: 51177, mistyped: typeMismatch, fields: fieldsOf(
			"query:object sort:object remove update new fields:object upsert hint collation:object arrayFilters:array " +
				"bypassDocumentValidation bypassEmptyTsReplacement:bool let:object")},
		"createIndexes": {unknown: badValue, mistyped: typeMismatch, fields: fieldsOf("indexes:array commitQuorum")},
		"dropIndexes":   {fields: fieldsOf("index")},
		"listIndexes":   {isRead: true, unknown: idlUnknown, mistyped: typeMismatch, fields: fieldsOf("cursor:object")},
		"create": {unknown: idlUnknown, mistyped: typeMismatch, fields: fieldsOf(
			"capped size:number max:number validator:object validationLevel:string validationAction:string viewOn:string " +
				"pipeline:array collation:object storageEngine:object indexOptionDefaults:object idIndex:object autoIndexId temp")},
		"collMod": {unknown: badValue, fields: fieldsOf(
			"validator:object validationLevel:string validationAction:string index:object viewOn:string pipeline:array")},
		"drop":             {fields: fieldsOf("")},
		"dropDatabase":     {fields: fieldsOf("")},
		"renameCollection": {isAdmin: true, fields: fieldsOf("to dropTarget")},
		"listCollections":  {isRead: true, fields: nil},
		"listDatabases":    {isRead: true, isAdmin: true, fields: fieldsOf("filter:object nameOnly authorizedDatabases")},
		"explain":          {isRead: true, fields: fieldsOf("verbosity:string")},
		"endSessions":      {isRead: true, fields: fieldsOf("")},
		"killSessions":     {isRead: true, fields: fieldsOf("")},
		"refreshSessions":  {isRead: true, fields: fieldsOf("")},
		"startSession":     {isRead: true, fields: fieldsOf("")},
		"replSetStepDown":  {isAdmin: true, fields: fieldsOf("secondaryCatchUpPeriodSecs force")},
		"replSetGetStatus": {isRead: true, isAdmin: true},
		"listShards":       {isRead: true, isAdmin: true, by: &router, fields: fieldsOf("")},
		"enableSharding":   {isAdmin: true, by: &router, fields: fieldsOf("primaryShard")},
		"shardCollection":  {isAdmin: true, by: &router, fields: fieldsOf("key:object unique numInitialChunks collation presplitHashedZones")},
		"moveRange":        {isAdmin: true, by: &router, fields: fieldsOf("min max toShard waitForDelete secondaryThrottle forceJumbo")},
		"moveChunk":        {isAdmin: true, fields: fieldsOf("find bounds to waitForDelete _secondaryThrottle forceJumbo")},
	}
	for _, name := range strings.Fields("commitTransaction abortTransaction") {
		table[name] = shape{isAdmin: true, fields: fieldsOf("recoveryToken")}
	}
	for _, name := range strings.Fields("ping buildInfo buildinfo serverStatus dbStats dbstats collStats collstats getParameter getDefaultRWConcern " +
		"connPoolStats connectionStatus usersInfo validate hostInfo getLog currentOp whatsmyuri compact saslStart saslContinue " +
		"logout getFreeMonitoringStatus getCmdLineOpts") {
		table[name] = shape{isRead: true}
	}
	return table
}()

// statementFields are what a statement takes.
var statementFields = map[string]shape{
	"update": {fields: fieldsOf("q:object u multi:bool upsert:bool hint collation:object arrayFilters:array c:object"), required: []string{"q", "u"}},
	"delete": {fields: fieldsOf("q:object limit:number hint collation:object"), required: []string{"q", "limit"}},
}

func fieldsOf(text string) map[string]string {
	fields := map[string]string{}
	for _, field := range strings.Fields(text) {
		name, kind, _ := strings.Cut(field, ":")
		fields[name] = kind
	}
	return fields
}

// fits reports whether a value has a type of the table.
func fits(value bson.RawValue, kind string) bool {
	switch kind {
	case "number":
		return isNumber(value)
	case "bool":
		return value.Type == bson.TypeBoolean
	case "string":
		return value.Type == bson.TypeString
	case "object":
		return value.Type == bson.TypeEmbeddedDocument
	case "array":
		return value.Type == bson.TypeArray
	}
	return true
}

func isNumber(value bson.RawValue) bool {
	return slices.Contains([]bson.Type{bson.TypeInt32, bson.TypeInt64, bson.TypeDouble, bson.TypeDecimal128}, value.Type)
}

// isNonzero reports whether a value counts as true, as the number 1 does.
func isNonzero(value bson.RawValue) bool {
	number, isNumber := value.AsFloat64OK()
	is, isBool := value.BooleanOK()
	return isNumber && number != 0 || isBool && is
}

// judgeShape looks at the name of a command, and at the names and types of its fields.
func (s *Server) judgeShape(c Command) *verdict {
	takes, isKnown := shapes[c.Name]
	if !isKnown || takes.by != nil && *takes.by != s.role || s.plays == Version44 && c.Name == "moveRange" {
		return refuse(commandNotFound, "no such command: '%s'", c.Name)
	}
	if takes.isAdmin && c.Database != "admin" {
		return refuse(unauthorized, "%s may only be run against the admin database.", c.Name)
	}
	seen := map[string]bool{}
	elements, _ := c.whole.Elements()
	for i, element := range elements {
		name, value := element.Key(), element.Value()
		if seen[name] {
			return refuse(idlDuplicate, "BSON field '%s.%s' is a duplicate field", c.Name, name)
		}
		seen[name] = true
		kind, isOwn := takes.fields[name]
		isMissing := s.plays == Version44 && slices.Contains(onlyNewer[c.Name], name)
		switch {
		case i == 0 || takes.fields == nil:
		case isOwn && !isMissing:
			if !fits(value, kind) && (value.Type != bson.TypeNull || takes.mistyped == failedToParse) {
				return s.mistyped(takes, c.Name+"."+name, value)
			}
		case !slices.Contains(strings.Fields(common), name):
			if s.plays == Version44 && takes.unknown != 0 {
				return refuse(takes.unknown, "Unrecognized field '%s' of %s", name, c.Name)
			}
			return refuse(idlUnknown, "BSON field '%s.%s' is an unknown field.", c.Name, name)
		}
	}
	for _, name := range takes.required {
		if value, err := c.whole.LookupErr(name); err != nil || value.Type == bson.TypeNull {
			if takes.mistyped == failedToParse && s.plays == Version44 {
				return refuse(failedToParse, "Field '%s' is required", name)
			}
			return refuse(idlMissing, "BSON field '%s.%s' is missing but a required field", c.Name, name)
		}
	}
	return s.judgeStatements(c)
}

func (s *Server) mistyped(takes shape, field string, value bson.RawValue) *verdict {
	code := int32(typeMismatch)
	if s.plays == Version44 {
		code = takes.mistyped
	}
	return refuse(code, "BSON field '%s' is the wrong type '%s'", field, value.Type)
}

// judgeStatements looks at the statements of a write as far as a server parses all of them before it executes one.
func (s *Server) judgeStatements(c Command) *verdict {
	field := statementsField(c.Name)
	if field == "" {
		return nil
	}
	if c.malformed != nil {
		return c.malformed
	}
	if n := len(c.Statements); n < 1 || n > maxStatements {
		return refuse(16, "Write batch sizes must be between 1 and %d. Got %d operations.", maxStatements, n)
	}
	if ids, isList := c.Body.Lookup("stmtIds").ArrayOK(); isList {
		if values, _ := ids.Values(); len(values) != len(c.Statements) {
			return refuse(16, "Number of statement ids must match the number of batch entries")
		}
	}
	takes, hasFields := statementFields[c.Name]
	for _, statement := range c.Statements {
		if depth(statement) >= maxDepth {
			return refuse(15, "BSONObj exceeded maximum nested object depth: %d", maxDepth)
		}
		if !hasFields {
			continue
		}
		in := c.Name + "." + field
		elements, _ := statement.Elements()
		for _, element := range elements {
			kind, isOwn := takes.fields[element.Key()]
			if !isOwn || element.Key() == "sort" {
				return refuse(idlUnknown, "BSON field '%s.%s' is an unknown field.", in, element.Key())
			}
			if value := element.Value(); !fits(value, kind) && value.Type != bson.TypeNull {
				return refuse(typeMismatch, "BSON field '%s.%s' is the wrong type '%s'", in, element.Key(), value.Type)
			}
		}
		for _, name := range takes.required {
			if value, err := statement.LookupErr(name); err != nil || value.Type == bson.TypeNull && name != "u" {
				return refuse(idlMissing, "BSON field '%s.%s' is missing but a required field", in, name)
			}
		}
		if u := statement.Lookup("u"); c.Name == "update" && u.Type != bson.TypeEmbeddedDocument && u.Type != bson.TypeArray {
			return refuse(failedToParse, "Update argument must be either an object or an array")
		}
		if limit, _ := statement.Lookup("limit").AsFloat64OK(); c.Name == "delete" && limit != 0 && limit != 1 {
			return refuse(failedToParse, "The limit field in delete objects must be 0 or 1. Got %v", limit)
		}
	}
	return nil
}

// maxDepth is how deep documents may stand in one another, the command and its list of statements included.
const maxDepth = 198

// depth returns how deep documents and arrays stand in one another in a document.
func depth(document bson.Raw) (deepest int) {
	elements, _ := document.Elements()
	for _, element := range elements {
		value := element.Value()
		if value.Type == bson.TypeEmbeddedDocument || value.Type == bson.TypeArray {
			deepest = max(deepest, 1+depth(value.Value))
		}
	}
	return deepest
}
