package mongowire

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// verdict is why a server refuses a command, or one of its statements.
type verdict struct {
	code int32
	text string
	// isOfCommand ends the command, in place of a write error of the statement.
	isOfCommand bool
	labels      bson.A
}

func refuse(code int32, format string, arguments ...any) *verdict {
	return &verdict{code: code, text: fmt.Sprintf(format, arguments...)}
}

func (v *verdict) reply() bson.Raw {
	if v.labels != nil {
		return refusal(v.code, codeName(v.code), v.text, bson.E{Key: "errorLabels", Value: v.labels})
	}
	return refusal(v.code, codeName(v.code), v.text)
}

// codeName returns the name of a code in MongoDB's src/mongo/base/error_codes.yml. A code that has no name there is
// named after its place.
func codeName(code int32) string {
	name := map[int32]string{
		badValue: "BadValue", failedToParse: "FailedToParse", unauthorized: "Unauthorized", typeMismatch: "TypeMismatch", 15: "Overflow",
		16: "InvalidLength", 20: "IllegalOperation", 26: "NamespaceNotFound", 43: "CursorNotFound", 225: "TransactionTooOld", 28: "PathNotViable", 40: "ConflictingUpdateOperators",
		48: "NamespaceExists", 50: "MaxTimeMSExpired", 52: "DollarPrefixedFieldName", 54: "NotSingleValueField", 56: "EmptyFieldName",
		commandNotFound: "CommandNotFound", shardKeyNotFound: "ShardKeyNotFound", 66: "ImmutableField", 67: "CannotCreateIndex",
		invalidOptions: "InvalidOptions", invalidNS: "InvalidNamespace", 85: "IndexOptionsConflict", 86: "IndexKeySpecsConflict",
		125: "CommandFailed", 133: "FailedToSatisfyReadPreference", 168: "InvalidPipelineOperator", 171: "CannotIndexParallelArrays",
		175: "QueryPlanKilled", 193: "NoShardingEnabled", 197: "InvalidIndexSpecificationOption", 207: "InvalidUUID",
		251: "NoSuchTransaction", 278: "UnsatisfiableCommitQuorum", 10334: "BSONObjectTooLarge", duplicateKey: "DuplicateKey",
		idlUnknown: "IDLUnknownField", idlMissing: "IDLFailedToParse", idlDuplicate: "IDLDuplicateField",
	}[code]
	if name == "" {
		return fmt.Sprint("Location", code)
	}
	return name
}

// judge returns why a server refuses a command as a whole, before it executes any of it, or nil.
func (s *Server) judge(c Command) *verdict {
	for _, look := range []func(Command) *verdict{
		judgeSession, s.judgeShape, s.judgeNamespace, s.judgeConcerns, judgeTimes, s.judgeOthers, s.judgeQuery, s.judgeIndexes,
	} {
		if v := look(c); v != nil {
			return v
		}
	}
	return nil
}

// judgeSession looks at the session and at the transaction number.
func judgeSession(c Command) *verdict {
	lsid, err := c.Body.LookupErr("lsid")
	if err == nil {
		session, isDocument := lsid.DocumentOK()
		if !isDocument {
			return refuse(typeMismatch, "BSON field 'OperationSessionInfo.lsid' is the wrong type '%s', expected type 'object'", lsid.Type)
		}
		id, idErr := session.LookupErr("id")
		if idErr != nil {
			return refuse(idlMissing, "BSON field 'OperationSessionInfo.lsid.id' is missing but a required field")
		}
		subtype, data, isBinary := id.BinaryOK()
		if !isBinary {
			return refuse(typeMismatch, "BSON field 'OperationSessionInfo.lsid.id' is the wrong type '%s', expected type 'binData'", id.Type)
		}
		if subtype != bson.TypeBinaryUUID || len(data) != 16 {
			return refuse(207, "uuid must be a 16-byte binary field with UUID (4) subtype")
		}
		for _, part := range elementsOf(session) {
			if part.Key != "id" && part.Key != "uid" {
				return refuse(idlUnknown, "BSON field 'OperationSessionInfo.lsid.%s' is an unknown field.", part.Key)
			}
		}
	}
	automatic, autocommitErr := c.Body.LookupErr("autocommit")
	if is, _ := automatic.BooleanOK(); autocommitErr == nil && is {
		return refuse(invalidOptions, "Specifying autocommit=true is not allowed.")
	}
	if _, startErr := c.Body.LookupErr("startTransaction"); startErr == nil && autocommitErr != nil {
		return refuse(invalidOptions, "'startTransaction' field requires 'autocommit' field to also be specified")
	}
	number, numberErr := c.Body.LookupErr("txnNumber")
	if numberErr != nil {
		return nil
	}
	switch value, isLong := number.Int64OK(); {
	case !isLong:
		return refuse(typeMismatch, "BSON field 'OperationSessionInfo.txnNumber' is the wrong type '%s', expected type 'long'", number.Type)
	case err != nil:
		return refuse(invalidOptions, "Transaction number requires a session ID to also be specified")
	case value < 0:
		return refuse(invalidOptions, "Transaction number cannot be negative")
	case autocommitErr != nil && !shapes[c.Name].isRetryable:
		return refuse(50768, "txnNumber may only be provided for multi-document transactions and retryable write commands. "+
			"autocommit:false was not provided, and %s is not a retryable write command.", c.Name)
	}
	return nil
}

// judgeNamespace looks at the names of the database and the collection.
func (s *Server) judgeNamespace(c Command) *verdict {
	if c.Database == "$external" {
		return nil
	}
	if c.Database == "" || strings.ContainsAny(c.Database, " \"$\x00/\\") {
		return refuse(invalidNS, "Invalid namespace specified '%s'", c.namespace())
	}
	if strings.Contains(c.Database, ".") {
		return refuse(invalidNS, "'.' is an invalid character in a database name")
	}
	named := slices.Contains([]string{
		"find", "insert", "update", "delete", "findAndModify", "create", "drop", "createIndexes", "dropIndexes", "listIndexes",
		"count", "distinct", "collMod", "collStats",
	}, c.Name)
	if !named {
		return nil
	}
	switch first := c.whole.Index(0).Value(); {
	case first.Type != bson.TypeString && c.Name == "create" && s.role == Primary:
		return refuse(badValue, "collection name has invalid type %s", first.Type)
	case first.Type == bson.TypeBinary && c.Name == "find": // a UUID
		return nil
	case first.Type != bson.TypeString:
		return refuse(invalidNS, "collection name has invalid type %s", first.Type)
	case c.Collection == "" || strings.HasPrefix(c.Collection, "."):
		return refuse(invalidNS, "Invalid namespace specified '%s'", c.namespace())
	case strings.Contains(c.Collection, "\x00"):
		return refuse(invalidNS, "namespaces cannot have embedded null characters")
	}
	if v := unstorable(c); v != nil && (s.role == Primary || !slices.Contains([]string{"insert"}, c.Name)) {
		return v // a mongos gets the write errors of the shard
	}
	return nil
}

// maxNamespace is how long the name of a database and a collection may be, in bytes.
const maxNamespace = 255

// unstorable returns why a collection of the name of a command cannot be made.
func unstorable(c Command) *verdict {
	if !slices.Contains([]string{"insert", "create", "createIndexes"}, c.Name) {
		return nil
	}
	switch {
	case strings.Contains(c.Collection, "$"):
		return refuse(invalidNS, "invalid collection name")
	case strings.HasPrefix(c.Collection, "system.") && c.Collection != "system.js" && c.Collection != "system.views":
		return refuse(invalidNS, "cannot write to '%s'", c.namespace())
	case len(c.namespace()) > maxNamespace:
		return refuse(4862100, "Fully qualified namespace is too long. Namespace: %s", c.namespace())
	}
	return nil
}

// judgeTimes looks at maxTimeMS.
func judgeTimes(c Command) *verdict {
	limit, err := c.Body.LookupErr("maxTimeMS")
	if err != nil {
		return nil
	}
	number, isNumber := limit.AsFloat64OK()
	switch {
	case c.Name == "getMore":
		return refuse(badValue, "cannot set maxTimeMS on getMore command for a non-awaitData cursor")
	case !isNumber:
		return refuse(badValue, "maxTimeMS must be a number")
	case number != math.Trunc(number):
		return refuse(badValue, "maxTimeMS has non-integral value")
	case number < 0 || number > math.MaxInt32:
		return refuse(badValue, "maxTimeMS is out of range")
	}
	return nil
}

// members is how many members with data the replica set has.
const members = 3

// judgeConcerns looks at the read concern, the write concern and the read preference.
func (s *Server) judgeConcerns(c Command) *verdict {
	if concern, err := c.Body.LookupErr("readConcern"); err == nil {
		if v := s.judgeReadConcern(c, concern); v != nil {
			return v
		}
	}
	if preference, err := c.Body.LookupErr("$readPreference"); err == nil {
		mode, isText := field(c.Body, "$readPreference").Lookup("mode").StringValueOK()
		level, _ := c.readConcern()
		switch {
		case preference.Type != bson.TypeEmbeddedDocument:
			return refuse(typeMismatch, "$readPreference has incorrect type: expected object but got %s", preference.Type)
		case !isText || !slices.Contains([]string{"primary", "primaryPreferred", "secondary", "secondaryPreferred", "nearest"}, mode):
			return refuse(badValue, "Could not parse $readPreference mode '%s'", mode)
		case s.role == Router && mode == "secondary" && level == "linearizable":
			return refuse(133, "Could not find host matching read preference { mode: \"secondary\" }")
		}
	}
	concern, err := c.Body.LookupErr("writeConcern")
	if err != nil {
		return nil
	}
	fields, isDocument := concern.DocumentOK()
	switch {
	case !isDocument && s.role == Router:
		return refuse(10065, "invalid parameter: expected an object (writeConcern)")
	case !isDocument:
		return refuse(typeMismatch, "\"writeConcern\" had the wrong type. Expected object, found %s", concern.Type)
	case shapes[c.Name].isRead:
		return refuse(invalidOptions, "Command does not support writeConcern")
	}
	elements, _ := fields.Elements()
	for _, element := range elements {
		value := element.Value()
		switch element.Key() {
		case "w":
			number, isNumber := value.AsFloat64OK()
			if _, isText := value.StringValueOK(); !isNumber && !isText {
				return refuse(failedToParse, "w has to be a number or a string")
			}
			if isNumber && (number < 0 || number > 50) {
				return refuse(failedToParse, "w has to be a non-negative number and not greater than 50")
			}
		case "j", "fsync", "wtimeout", "provenance", "getLastError", "wOpTime", "wElectionId":
		default:
			return refuse(failedToParse, "unrecognized write concern field: %s", element.Key())
		}
	}
	return nil
}

func (s *Server) judgeReadConcern(c Command, concern bson.RawValue) *verdict {
	fields, isDocument := concern.DocumentOK()
	if !isDocument {
		return refuse(failedToParse, "readConcern field should be an object")
	}
	level, after := "", false
	elements, _ := fields.Elements()
	for _, element := range elements {
		switch value := element.Value(); element.Key() {
		case "level":
			text, isText := value.StringValueOK()
			if !isText {
				return refuse(typeMismatch, "\"level\" had the wrong type. Expected string, found %s", value.Type)
			}
			if !slices.Contains([]string{"local", "majority", "linearizable", "available", "snapshot"}, text) {
				return refuse(failedToParse, "readConcern.level must be either 'local', 'majority', 'linearizable', 'available', or 'snapshot'")
			}
			level = text
		case "afterClusterTime", "atClusterTime":
			t, i, isTimestamp := value.TimestampOK()
			at, now := bson.Timestamp{T: t, I: i}, s.time.present()
			switch after = true; {
			case !isTimestamp:
				return refuse(typeMismatch, "\"%s\" had the wrong type. Expected timestamp, found %s", element.Key(), value.Type)
			case at == bson.Timestamp{}:
				return refuse(invalidOptions, "%s cannot be a null timestamp", element.Key())
			case at.After(now):
				return refuse(invalidOptions, "readConcern %s value must not be greater than the current clusterTime", element.Key())
			}
		case "provenance", "afterOpTime":
		default:
			return refuse(invalidOptions, "Unrecognized option in readConcern: %s", element.Key())
		}
	}
	isPlain := level == "" || level == "local" || level == "available"
	switch reads := slices.Contains([]string{"find", "aggregate", "count", "distinct", "getMore", "explain"}, c.Name); {
	case after && level != "" && level != "local" && level != "majority" && level != "snapshot":
		return refuse(invalidOptions, "afterClusterTime field can be set only if level is equal to majority, local, or snapshot")
	case level == "snapshot" && s.plays == Version44:
		return refuse(invalidOptions, "read concern level snapshot is only valid in a transaction")
	case !reads && !isPlain && (s.role == Primary || statementsField(c.Name) == ""):
		return refuse(invalidOptions, "Command %s does not support { readConcern: { level: %q } }", c.Name, level)
	}
	return nil
}
