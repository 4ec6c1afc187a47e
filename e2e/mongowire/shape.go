package mongowire

import (
	"maps"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Options returns the names of a command's options, each once and in order, without their values. Where
// the value is a choice, the name has it, as in writeConcern.w:majority. The options of a statement, or of
// an index to create, are behind the name of their list, as in updates.hint. What every command of this name has
// is left out.
func (c Command) Options() []string {
	options := map[string]bool{}
	add := func(within string, element bson.RawElement) {
		name := within + element.Key()
		if choice, isText := element.Value().StringValueOK(); isText && isChoice(element.Key()) {
			name += ":" + choice
		}
		options[name] = true
	}
	addAll := func(within string, document bson.Raw, without ...string) {
		elements, _ := document.Elements()
		for _, element := range elements {
			if !slices.Contains(without, element.Key()) {
				add(within, element)
			}
		}
	}
	elements, _ := c.Body.Elements()
	for _, element := range elements[1:] {
		switch name := element.Key(); name {
		case "$db", "lsid", "$clusterTime", "filter", "query", "update", "pipeline", "cursor", "collection", "cursors":
		case "readConcern", "writeConcern", "$readPreference", "index":
			if inner, isDocument := element.Value().DocumentOK(); isDocument {
				addAll(name+".", inner)
			} else {
				add("", element)
			}
		case "indexes":
			for _, index := range documentsOf(c.Body, name) {
				addAll(name+".", index, "key", "name")
			}
		default:
			add("", element)
		}
	}
	if c.Name != "insert" {
		for _, statement := range c.Statements {
			addAll(statementsField(c.Name)+".", statement, "q", "u", "limit")
			if limit, _ := statement.Lookup("limit").AsInt64OK(); c.Name == "delete" && limit == 0 {
				options["deletes.multi"] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(options))
}

// isChoice reports whether the value of an option is one of a few words.
func isChoice(option string) bool {
	return slices.Contains([]string{"level", "w", "mode", "commitQuorum", "validationLevel", "validationAction"}, option)
}

// Operators returns the operators in a command, each once and in order.
func (c Command) Operators() []string {
	operators := map[string]bool{}
	var walk func(document bson.Raw)
	walk = func(document bson.Raw) {
		elements, _ := document.Elements()
		for _, element := range elements {
			if strings.HasPrefix(element.Key(), "$") && !slices.Contains([]string{"$db", "$readPreference", "$clusterTime"}, element.Key()) {
				operators[element.Key()] = true
			}
			switch value := element.Value(); value.Type {
			case bson.TypeEmbeddedDocument, bson.TypeArray:
				walk(value.Value)
			}
		}
	}
	walk(c.Body)
	if c.Name != "insert" {
		for _, statement := range c.Statements {
			walk(statement)
		}
	}
	return slices.Sorted(maps.Keys(operators))
}
