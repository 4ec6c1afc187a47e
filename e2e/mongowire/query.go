package mongowire

import (
	"math"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// judgeQuery looks at what a read asks for, and at the parts that findAndModify has in common with it.
func (s *Server) judgeQuery(c Command) *verdict {
	for _, name := range []string{"skip", "limit", "batchSize"} {
		value, err := c.Body.LookupErr(name)
		number, _ := value.AsFloat64OK()
		switch isFind := c.Name == "find" || c.Name == "count"; {
		case err != nil || !isFind || number >= 0 || name == "limit" && c.Name == "count":
		case s.plays == Version44 && c.Name == "count":
			return refuse(failedToParse, "Expected a positive number in: %s: %v", name, number)
		case s.plays == Version44:
			return refuse(badValue, "%s value must be non-negative, but received: %v", name, number)
		default:
			return refuse(idlNegative, "BSON field '%s' value must be >= 0, actual value '%v'", name, number)
		}
	}
	switch c.Name {
	case "find", "count", "findAndModify", "aggregate":
	default:
		return nil
	}
	if c.Name == "findAndModify" {
		if v := judgeFindAndModify(c); v != nil {
			return v
		}
	}
	for _, name := range []string{"projection", "fields"} {
		if v := judgeProjection(field(c.Body, name), s.role); v != nil {
			return v
		}
	}
	for _, name := range []string{"filter", "query"} {
		if v := judgeFilter(field(c.Body, name)); v != nil {
			return v
		}
	}
	if v := judgeSort(field(c.Body, "sort")); v != nil {
		return v
	}
	if locale, isGiven := field(c.Body, "collation").Lookup("locale").StringValueOK(); isGiven && len(locale) != 2 && locale != "simple" {
		return refuse(badValue, "Field 'locale' is invalid in: { locale: %q }", locale)
	}
	return s.judgeHint(c, c.Body)
}

func judgeFindAndModify(c Command) *verdict {
	update, err := c.Body.LookupErr("update")
	is := func(name string) bool { return isNonzero(c.Body.Lookup(name)) }
	switch removes := is("remove"); {
	case err != nil && !removes:
		return refuse(failedToParse, "Either an update or remove=true must be specified")
	case err == nil && removes:
		return refuse(failedToParse, "Cannot specify both an update and remove=true")
	case removes && is("new"):
		return refuse(failedToParse, "Cannot specify both new=true and remove=true; 'remove' always returns the deleted document")
	case removes && is("upsert"):
		return refuse(failedToParse, "Cannot specify both upsert=true and remove=true")
	case err == nil && update.Type != bson.TypeEmbeddedDocument && update.Type != bson.TypeArray:
		return refuse(failedToParse, "Update argument must be either an object or an array")
	}
	return nil
}

// judgeHint looks at the hint of a command or of a statement, and at the bounds that need one.
func (s *Server) judgeHint(c Command, of bson.Raw) *verdict {
	hint, err := of.LookupErr("hint")
	bounds, isBounded := of.Lookup("min").DocumentOK()
	if !isBounded {
		bounds, isBounded = of.Lookup("max").DocumentOK()
	}
	if err != nil {
		if isBounded && c.Name == "find" {
			return refuse(51173, "When using min()/max() a hint of which index to use must be provided")
		}
		return nil
	}
	name, isText := hint.StringValueOK()
	keys, isDocument := hint.DocumentOK()
	if !isText && !isDocument {
		return refuse(failedToParse, "hint must be either a string or nested object")
	}
	if firstField(keys) == "$natural" {
		return nil
	}
	for _, index := range s.indexesOf(c) {
		known, _ := index.Lookup("name").StringValueOK()
		isHidden, _ := index.Lookup("hidden").BooleanOK()
		pattern := field(index, "key")
		if isHidden || isText && known != name || isDocument && (len(pattern) != len(keys) || !beginsWith(pattern, keys)) {
			continue
		}
		if isBounded && firstField(bounds) != firstField(pattern) {
			return refuse(51174, "The index chosen is not compatible with min/max")
		}
		return nil
	}
	return refuse(badValue, "error processing query: ns=%s planner returned error :: caused by :: "+
		"hint provided does not correspond to an existing index", c.namespace())
}

// judgePath looks at a path of a projection or of a sort.
func judgePath(path string) *verdict {
	parts := strings.Split(path, ".")
	switch {
	case path == "":
		return refuse(40352, "FieldPath cannot be constructed with empty string")
	case parts[len(parts)-1] == "":
		return refuse(40353, "FieldPath must not end with a '.'.")
	case slices.Contains(parts, ""):
		return refuse(15998, "FieldPath field names may not be empty strings.")
	case slices.ContainsFunc(parts, func(part string) bool { return part[0] == '$' }):
		return refuse(16410, "FieldPath field names may not start with '$'.")
	}
	return nil
}

func judgeSort(sort bson.Raw) *verdict {
	elements, _ := sort.Elements()
	for _, element := range elements {
		value := element.Value()
		direction, isNumber := value.AsFloat64OK()
		_, isMeta := value.DocumentOK()
		switch {
		case element.Key() == "$natural" || isMeta:
		case !isNumber:
			return refuse(15974, "Illegal key in $sort specification: %s: %s", element.Key(), value)
		case math.Abs(direction) != 1:
			return refuse(15975, "$sort key ordering must be 1 (for ascending) or -1 (for descending)")
		default:
			if v := judgePath(element.Key()); v != nil {
				return v
			}
		}
	}
	return nil
}

// judgeProjection refuses a path that is named twice or lies within another, and inclusion beside exclusion.
func judgeProjection(projection bson.Raw, role Role) *verdict {
	elements, _ := projection.Elements()
	var paths []string
	kind := ""
	for _, element := range elements {
		path, value := element.Key(), element.Value()
		if path == "$sortKey" && role == Router {
			return refuse(badValue, "Projection contains illegal field '$sortKey'")
		}
		if v := judgePath(strings.TrimSuffix(path, ".$")); v != nil {
			return v
		}
		for _, other := range paths {
			if other == path || strings.HasPrefix(other, path+".") {
				return refuse(31250, "Path collision at %s", path)
			}
			if rest, isWithin := strings.CutPrefix(path, other+"."); isWithin {
				return refuse(31249, "Path collision at %s remaining portion %s", path, rest)
			}
		}
		paths = append(paths, path)
		is := "inclusion"
		if operators, isDocument := value.DocumentOK(); isDocument {
			switch operator := firstField(operators); {
			case slices.Contains([]string{"$slice", "$elemMatch", "$meta"}, operator):
				continue
			case strings.HasPrefix(operator, "$") && !slices.Contains(expressions, operator):
				return refuse(168, "Unrecognized expression '%s'", operator)
			case !strings.HasPrefix(operator, "$"):
				continue // a projection within it
			}
		} else if (isNumber(value) || value.Type == bson.TypeBoolean) && !isNonzero(value) {
			is = "exclusion"
		}
		if path == "_id" {
			continue
		}
		if kind != "" && is != kind {
			return refuse(map[string]int32{"inclusion": 31253, "exclusion": 31254}[is], "Cannot do %s on field %s in %s projection", is, path, kind)
		}
		kind = is
	}
	return nil
}

// expressions are some of the operators of an expression. See
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/.
var expressions = strings.Fields("$abs $add $and $arrayElemAt $concat $cond $divide $eq $filter $first $gt $gte $ifNull $in $last $let $literal " +
	"$lt $lte $map $max $min $mod $multiply $ne $not $or $reduce $size $substrCP $subtract $sum $switch $toLong $toString $type")

// judgeFilter refuses shapes of a filter that FerretDB takes.
func judgeFilter(filter bson.Raw) *verdict {
	elements, _ := filter.Elements()
	for _, element := range elements {
		name, value := element.Key(), element.Value()
		if strings.HasPrefix(name, "$") {
			list, _ := value.ArrayOK()
			values, _ := list.Values()
			for _, each := range values {
				if document, isDocument := each.DocumentOK(); isDocument {
					if v := judgeFilter(document); v != nil {
						return v
					}
				}
			}
			continue
		}
		if operators, isDocument := value.DocumentOK(); isDocument && strings.HasPrefix(firstField(operators), "$") {
			if v := judgeOperators(name, operators); v != nil {
				return v
			}
		}
	}
	return nil
}

func judgeOperators(name string, operators bson.Raw) *verdict {
	elements, _ := operators.Elements()
	for _, element := range elements {
		value := element.Value()
		list, isList := value.ArrayOK()
		values, _ := list.Values()
		switch operator := element.Key(); operator {
		case "$in", "$nin", "$all":
			if !isList {
				return refuse(badValue, "%s needs an array", operator)
			}
			for _, each := range values {
				if within, _ := each.DocumentOK(); strings.HasPrefix(firstField(within), "$") && operator != "$all" {
					return refuse(badValue, "cannot nest $ under %s", operator)
				}
			}
		case "$not":
			inner, isDocument := value.DocumentOK()
			switch {
			case !isDocument && value.Type != bson.TypeRegex:
				return refuse(badValue, "$not needs a regex or a document")
			case isDocument && firstField(inner) == "":
				return refuse(badValue, "$not cannot be empty")
			case isDocument:
				if v := judgeOperators(name, inner); v != nil {
					return v
				}
			}
		case "$options":
			if _, err := operators.LookupErr("$regex"); err != nil {
				return refuse(badValue, "$options needs a $regex")
			}
		case "$type":
			if !isList {
				values = []bson.RawValue{value}
			}
			if len(values) == 0 {
				return refuse(failedToParse, "%s must match at least one type", name)
			}
			for _, each := range values {
				if v := judgeType(each); v != nil {
					return v
				}
			}
		default:
			if !slices.Contains(queryOperators, operator) {
				return refuse(badValue, "unknown operator: %s", operator)
			}
		}
	}
	return nil
}

// queryOperators are the other operators of a condition. See https://www.mongodb.com/docs/manual/reference/operator/query/.
var queryOperators = strings.Fields("$eq $gt $gte $lt $lte $ne $exists $regex $options $mod $size $elemMatch $bitsAllClear $bitsAllSet " +
	"$bitsAnyClear $bitsAnySet $geoWithin $geoIntersects $near $nearSphere $maxDistance $minDistance $within $ref $id $db")

func judgeType(value bson.RawValue) *verdict {
	if alias, isText := value.StringValueOK(); isText {
		if !slices.Contains(strings.Fields("double string object array binData undefined objectId bool date null regex dbPointer javascript "+
			"symbol javascriptWithScope int timestamp long decimal minKey maxKey number"), alias) {
			return refuse(badValue, "Unknown type name alias: %s", alias)
		}
		return nil
	}
	code, isNumber := value.AsFloat64OK()
	if !isNumber || code != -1 && code != 127 && (code < 1 || code > 19 || code != math.Trunc(code)) {
		return refuse(badValue, "Invalid numerical type code: %s", value)
	}
	return nil
}

// judgeOthers looks at the values of commands about cursors, sessions, transactions and databases.
func (s *Server) judgeOthers(c Command) *verdict {
	switch c.Name {
	case "endSessions":
		list, isList := c.Body.Lookup("endSessions").ArrayOK()
		if !isList {
			return refuse(10065, "invalid parameter: expected an object (endSessions)")
		}
		ids, _ := list.Values()
		for i, id := range ids {
			if id.Type != bson.TypeEmbeddedDocument {
				return refuse(typeMismatch, "BSON field 'EndSessionsCmdFromClient.endSessions.%d' is the wrong type '%s', expected type 'object'", i, id.Type)
			}
		}
	case "commitTransaction", "abortTransaction": // there are no transactions
		if _, _, isNumbered := c.session(); !isNumbered {
			code := map[Role]int32{Primary: 125, Router: invalidOptions}[s.role]
			return refuse(code, "%s must be run within a transaction", c.Name)
		}
		if s.role == Router && c.Name == "commitTransaction" {
			return refuse(50940, "Cannot recover the transaction decision without a recoveryToken")
		}
		v := refuse(251, "Given transaction number does not match any in-progress transactions.")
		v.labels = bson.A{"TransientTransactionError"}
		return v
	case "dropDatabase":
		if n, _ := c.Body.Lookup(c.Name).AsFloat64OK(); n != 1 {
			return refuse(map[Role]int32{Primary: 20, Router: badValue}[s.role], "have to pass 1 as db parameter")
		}
	case "moveChunk":
		if s.role == Primary {
			return refuse(193, "Cannot accept sharding commands if not started with --shardsvr")
		}
		return refuse(shardNotFound, "moveChunk destination shard does not exist")
	case "aggregate":
		if _, isNamed := c.Body.Lookup(c.Name).StringValueOK(); !isNamed && len(documentsOf(c.Body, "pipeline")) == 0 {
			return refuse(invalidNS, "{aggregate: 1} is not valid for an empty pipeline.")
		}
		return judgePipeline(c)
	case "getMore":
		if collection, err := c.Body.LookupErr("collection"); err != nil || collection.Type != bson.TypeString {
			return refuse(failedToParse, "Field 'collection' must be of type string")
		}
		value := c.Body.Lookup("getMore")
		size, hasSize := c.Body.Lookup("batchSize").AsFloat64OK()
		switch id, isLong := value.Int64OK(); {
		case !isLong:
			return refuse(typeMismatch, "Field 'getMore' must be of type long")
		case id == 0:
			return refuse(badValue, "Cursor id for getMore must be non-zero")
		case hasSize && size <= 0:
			return refuse(badValue, "Batch size for getMore must be positive, but received: %v", size)
		}
	case "killCursors":
		list, _ := c.Body.Lookup("cursors").ArrayOK()
		ids, _ := list.Values()
		if len(ids) == 0 {
			return refuse(badValue, "Must specify at least one cursor id")
		}
		for i, id := range ids {
			if id.Type != bson.TypeInt64 {
				return refuse(failedToParse, "Field 'cursors' contains an element that is not of type long: %d", i)
			}
		}
	}
	return nil
}

// judgePipeline refuses stages of a pipeline that FerretDB refuses by other codes. See
// https://www.mongodb.com/docs/manual/reference/operator/aggregation-pipeline/.
func judgePipeline(c Command) *verdict {
	for _, stage := range documentsOf(c.Body, "pipeline") {
		elements := elementsOf(stage)
		if len(elements) != 1 {
			return refuse(40323, "A pipeline stage specification object must contain exactly one field.")
		}
		number, _ := stage.Lookup("$skip").AsFloat64OK()
		switch name := elements[0].Key; {
		case !slices.Contains(stages, name):
			return refuse(40324, "Unrecognized pipeline stage name: '%s'", name)
		case name == "$skip" && number < 0:
			return refuse(15956, "Argument to $skip cannot be negative")
		case name == "$group":
			for _, grouped := range elementsOf(field(stage, "$group")) {
				accumulator, _ := grouped.Value.(bson.RawValue).DocumentOK()
				operator := firstField(accumulator)
				if grouped.Key != "_id" && operator != "" && !slices.Contains(accumulators, operator) {
					return refuse(15952, "unknown group operator '%s'", operator)
				}
			}
		}
	}
	return nil
}

var (
	stages = strings.Fields("$addFields $bucket $bucketAuto $collStats $count $currentOp $densify $documents $facet $fill $geoNear $graphLookup " +
		"$group $indexStats $limit $listLocalSessions $listSessions $lookup $match $merge $out $planCacheStats $project $redact $replaceRoot " +
		"$replaceWith $sample $set $setWindowFields $skip $sort $sortByCount $unionWith $unset $unwind $changeStream")
	accumulators = strings.Fields("$accumulator $addToSet $avg $bottom $bottomN $count $first $firstN $last $lastN $max $maxN $median " +
		"$mergeObjects $min $minN $percentile $push $stdDevPop $stdDevSamp $sum $top $topN")
)
