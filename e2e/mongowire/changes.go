package mongowire

import (
	"bytes"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// updateOperators are the operators of an update. See https://www.mongodb.com/docs/manual/reference/operator/update/.
var updateOperators = strings.Fields("$set $unset $inc $mul $min $max $rename $setOnInsert $currentDate $push $pull $pullAll $pop $addToSet $bit")

// pipelineStages are the stages of an update that is a pipeline.
var pipelineStages = strings.Fields("$set $addFields $unset $project $replaceRoot $replaceWith")

// change is an update of documents, as a statement of an update or a findAndModify has it.
type change struct {
	query, by        bson.RawValue
	isMulti, upserts bool
	arrayFilters     bson.RawValue
}

func changeOf(statement bson.Raw, query, by string) change {
	is := change{query: statement.Lookup(query), by: statement.Lookup(by), arrayFilters: statement.Lookup("arrayFilters")}
	is.isMulti = isNonzero(statement.Lookup("multi"))
	is.upserts = isNonzero(statement.Lookup("upsert"))
	return is
}

// judgeChange returns why a server refuses an update, whatever the documents are.
func (s *Server) judgeChange(is change) *verdict {
	if filter, isDocument := is.query.DocumentOK(); isDocument {
		if v := judgeFilter(filter); v != nil {
			return v
		}
		if v := judgeEqualities(filter); v != nil && is.upserts {
			return v
		}
	}
	if stages, isPipeline := is.by.ArrayOK(); isPipeline {
		values, _ := stages.Values()
		for _, value := range values {
			stage, _ := value.DocumentOK()
			if name := firstField(stage); !slices.Contains(pipelineStages, name) {
				return refuse(invalidOptions, "%s is not allowed to be used within an update", name)
			}
		}
		return nil
	}
	by, _ := is.by.DocumentOK()
	if s.role == Router && s.plays == Version44 && mixes(by) {
		return refuse(12, "multi-update or operators beside fields are no update")
	}
	if !strings.HasPrefix(firstField(by), "$") {
		if is.isMulti && firstField(by) != "" {
			return refuse(failedToParse, "multi update is not supported for replacement-style update")
		}
		return s.judgeNames(by, "")
	}
	if list, _ := is.arrayFilters.ArrayOK(); list != nil && !strings.Contains(by.String(), "$[") {
		if filters, _ := list.Values(); len(filters) > 0 {
			return refuse(failedToParse, "The array filter was not used in the update %s", by)
		}
	}
	var paths []string
	operators, _ := by.Elements()
	for _, operator := range operators {
		name := operator.Key()
		fields, isDocument := operator.Value().DocumentOK()
		switch {
		case !slices.Contains(updateOperators, name):
			return refuse(failedToParse, "Unknown modifier: %s. Expected a valid update modifier or pipeline-style update specified as an array", name)
		case !isDocument:
			return refuse(failedToParse, "Modifiers operate on fields but we found type %s instead. For example: {$mod: {<field>: ...}} not {%s: %s}",
				operator.Value().Type, name, operator.Value())
		case firstField(fields) == "" && len(fields) <= 5 && s.plays == Version44:
			return refuse(failedToParse, "'%s' is empty. You must specify a field like so: {%s: {<field>: ...}}", name, name)
		}
		assignments, _ := fields.Elements()
		for _, assignment := range assignments {
			path := assignment.Key()
			if v := s.judgeAssignment(name, path, assignment.Value(), is.query); v != nil {
				return v
			}
			targets := []string{path}
			if to, isText := assignment.Value().StringValueOK(); name == "$rename" && isText {
				if to == path {
					return refuse(badValue, "The source and target field for $rename must differ: %s: %q", path, to)
				}
				targets = append(targets, to)
			}
			for _, target := range targets {
				for _, other := range paths {
					if other == target || strings.HasPrefix(other, target+".") || strings.HasPrefix(target, other+".") {
						return refuse(40, "Updating the path '%s' would create a conflict at '%s'", target, min(other, target))
					}
				}
				paths = append(paths, target)
			}
		}
	}
	return nil
}

// mixes reports whether an update has operators beside fields.
func mixes(update bson.Raw) bool {
	operators, all := 0, elementsOf(update)
	for _, element := range all {
		if strings.HasPrefix(element.Key, "$") {
			operators++
		}
	}
	return operators > 0 && operators < len(all)
}

// judgeAssignment looks at one path of an operator, and at its value.
func (s *Server) judgeAssignment(operator, path string, value, query bson.RawValue) *verdict {
	parts := strings.Split(path, ".")
	switch {
	case path == "":
		return refuse(56, "An empty update path is not valid.")
	case slices.Contains(parts, ""):
		return refuse(56, "The update path '%s' contains an empty field name, which is not allowed.", path)
	}
	for i, part := range parts {
		switch isPositional := part == "$" || strings.HasPrefix(part, "$["); {
		case !strings.HasPrefix(part, "$") || isPositional && i > 0:
			continue
		case isPositional:
			return refuse(badValue, "Cannot have positional (i.e. '$') element in the first position in path '%s'", path)
		}
		return refuse(52, "The dollar ($) prefixed field '%s' in '%s' is not valid for storage.", part, path)
	}
	if before, _, isPositional := strings.Cut(path, ".$"); isPositional && strings.Contains(path+".", ".$.") && !strings.Contains(query.String(), before) {
		return refuse(badValue, "The positional operator did not find the match needed from the query.")
	}
	switch operator {
	case "$set", "$setOnInsert":
		if within, isDocument := value.DocumentOK(); isDocument && s.plays == Version44 {
			return s.judgeNames(within, path+".")
		}
	case "$inc", "$mul":
		if !isNumber(value) {
			return refuse(typeMismatch, "Cannot increment with non-numeric argument: {%s: %s}", path, value)
		}
	case "$currentDate":
		kind, isDocument := value.DocumentOK()
		name, _ := kind.Lookup("$type").StringValueOK()
		if isDocument && name != "date" && name != "timestamp" || !isDocument && value.Type != bson.TypeBoolean {
			return refuse(badValue, "The '$type' string field is required to be 'date' or 'timestamp': {$currentDate: {field : {$type: 'date'}}}")
		}
	case "$rename":
		if _, isText := value.StringValueOK(); !isText {
			return refuse(badValue, "The 'to' field for $rename must be a string: %s: %s", path, value)
		}
	}
	return nil
}

// judgeNames refuses names with a dollar in a document to store by an update.
func (s *Server) judgeNames(stored bson.Raw, at string) *verdict {
	elements, _ := stored.Elements()
	for _, element := range elements {
		name := element.Key()
		if strings.HasPrefix(name, "$") && name != "$ref" && name != "$id" && name != "$db" {
			return refuse(52, "The dollar ($) prefixed field '%s' in '%s%s' is not valid for storage.", name, at, name)
		}
		if within, isDocument := element.Value().DocumentOK(); isDocument {
			if v := s.judgeNames(within, at+name+"."); v != nil {
				return v
			}
		}
	}
	return nil
}

// judgeEqualities refuses a filter from which an upsert cannot tell the value of a field.
func judgeEqualities(filter bson.Raw) *verdict {
	seen := map[string]bool{}
	var walk func(bson.Raw) *verdict
	walk = func(filter bson.Raw) *verdict {
		elements, _ := filter.Elements()
		for _, element := range elements {
			name, value := element.Key(), element.Value()
			if name == "$and" {
				for _, each := range documentsOf(filter, "$and") {
					if v := walk(each); v != nil {
						return v
					}
				}
				continue
			}
			if operators, isDocument := value.DocumentOK(); isDocument && strings.HasPrefix(firstField(operators), "$") && firstField(operators) != "$eq" ||
				strings.HasPrefix(name, "$") {
				continue
			}
			if seen[name] {
				return refuse(54, "cannot infer query fields to set, path '%s' is matched twice", name)
			}
			seen[name] = true
		}
		return nil
	}
	return walk(filter)
}

// immutable returns why a change of _id is refused, given a document that it matches, or nil if it matches none.
func immutable(is change, matched bson.Raw) *verdict {
	by, _ := is.by.DocumentOK()
	if matched == nil && !is.upserts {
		return nil
	}
	own := matched.Lookup("_id")
	if matched == nil {
		filter, _ := is.query.DocumentOK()
		own = filter.Lookup("_id")
	}
	if !strings.HasPrefix(firstField(by), "$") {
		if other, err := by.LookupErr("_id"); err == nil && matched != nil && !other.Equal(own) {
			return refuse(66, "After applying the update, the (immutable) field '_id' was found to have been altered to _id: %s", other)
		}
		return nil
	}
	operators, _ := by.Elements()
	for _, operator := range operators {
		fields, _ := operator.Value().DocumentOK()
		other, err := fields.LookupErr("_id")
		if operator.Key() == "$rename" && bytes.Contains(fields, []byte("\x04\x00\x00\x00_id\x00")) {
			err = nil // to _id
		}
		isInsertion := operator.Key() == "$setOnInsert"
		if err != nil || isInsertion && matched != nil || (operator.Key() == "$set" || isInsertion) && (other.Equal(own) || own.IsZero()) {
			continue
		}
		return refuse(66, "Performing an update on the path '_id' would modify the immutable field '_id'")
	}
	return nil
}

// judgeStored returns why a server does not store a new document.
func (s *Server) judgeStored(stored bson.Raw) *verdict {
	if len(stored) > maxDocument {
		return refuse(badValue, "object to insert too large. size in bytes: %d, max size: %d", len(stored), maxDocument)
	}
	ids := 0
	elements, _ := stored.Elements()
	for _, element := range elements {
		name, value := element.Key(), element.Value()
		if strings.HasPrefix(name, "$") && s.plays == Version44 {
			return refuse(badValue, "Document can't have $ prefixed field names: %s", name)
		}
		if name != "_id" {
			continue
		}
		switch ids++; {
		case ids > 1:
			return refuse(badValue, "can't have multiple _id fields in one document")
		case value.Type == bson.TypeArray:
			return refuse(badValue, "can't use an array for _id")
		case value.Type == bson.TypeRegex:
			return refuse(badValue, "can't use a regex for _id")
		case value.Type == bson.TypeUndefined:
			return refuse(badValue, "can't use a undefined for _id")
		}
		if within, isDocument := value.DocumentOK(); isDocument && strings.HasPrefix(firstField(within), "$") {
			return refuse(52, "%s is not valid for storage.", firstField(within))
		}
	}
	return nil
}
