package movefile

import (
	"bytes"
	"fmt"

	"github.com/waybook/waybook/waybookctl/output"
)

// schema returns the JSON Schema of a record, draft 2020-12. It describes records without any
// allowance. What it cannot say is in the descriptions.
func schema() ([]byte, error) {
	var definitions object
	var of []any
	all := plans()
	for _, kind := range Kinds() {
		of = append(of, object{{"$ref", "#/$defs/" + string(kind)}})
		definitions = append(definitions, member{string(kind), definition(kind, all[kind])})
	}
	var out bytes.Buffer
	printer := output.Printer{Format: output.JSON, Out: &out}
	err := printer.Value(object{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"title", "A record that moves into Waybook"},
		{"description", "Each line of a file is one record. docs/moving-in.md explains the files."},
		{"oneOf", of},
		{"$defs", definitions},
	}, nil)
	return out.Bytes(), err
}

// definition returns the schema of a kind.
func definition(kind Kind, p *plan) object {
	d := p.schema()
	o := object{
		{"type", "object"},
		{"properties", append(object{{"kind", object{{"const", kind}}}}, d.properties...)},
		{"required", append([]string{"kind"}, d.required...)},
		{"additionalProperties", false},
	}
	if p.hasParent {
		var parents []any
		for _, name := range p.parents() {
			isGiven := object{{name, object{{"not", object{{"type", "null"}}}}}}
			parents = append(parents, object{{"required", []string{name}}, {"properties", isGiven}})
		}
		o = append(o, member{"oneOf", parents})
	}
	return o
}

// described are the parts of an object's schema.
type described struct {
	properties object
	required   []string
}

func (p *plan) schema() (d described) {
	for _, f := range p.fields {
		d.properties = append(d.properties, member{f.name, f.schema()})
		if f.required {
			d.required = append(d.required, f.name)
		}
	}
	return d
}

// schema returns the schema of a field. An optional field may be null.
func (f field) schema() object {
	o := object{{"description", f.doc}}
	r := f.rule
	switch r.form {
	case formText:
		o = append(o, r.text()...)
	case formID:
		o = append(o, member{"type", []string{"integer", "string"}}, member{"minimum", 1}, member{"minLength", 1}, member{"maxLength", maxIDBytes})
		if r.max > 0 {
			o = append(o, member{"maximum", r.max}, member{"pattern", "^[1-9][0-9]{0,15}$"})
		} else {
			o = append(o, member{"pattern", `^([1-9][0-9]*|.*[^0-9].*)$`})
		}
	case formInteger:
		o = append(o, member{"type", []string{"integer"}}, member{"minimum", r.min}, member{"maximum", r.max})
	case formDecimal:
		o = append(o, member{"type", []string{"number"}}, member{"minimum", r.min}, member{"maximum", r.max})
	case formMoment:
		o = append(o, member{"type", []string{"string", "integer"}},
			member{"pattern", `^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})?$`})
	case formDay:
		o = append(o, member{"type", []string{"string"}}, member{"format", "date"}, member{"pattern", "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"})
	case formObject:
		o = append(append(o, member{"type", []string{"object"}}), f.object.members()...)
	case formList:
		o = append(o, member{"type", []string{"array"}}, member{"minItems", r.min}, member{"maxItems", r.max},
			member{"items", append(object{{"type", "object"}}, f.object.members()...)})
	}
	if !f.required {
		for i := range o {
			if o[i].name == "type" {
				o[i].value = append(o[i].value.([]string), "null")
			}
			if o[i].name == "enum" {
				o[i].value = append(o[i].value.([]any), nil)
			}
		}
	}
	return o
}

// members returns the schema of an object inside a record.
func (p *plan) members() object {
	d := p.schema()
	return object{{"properties", d.properties}, {"required", d.required}, {"additionalProperties", false}}
}

// text returns the schema of a text.
func (r rule) text() object {
	o := object{{"type", []string{"string"}}}
	if len(r.words) > 0 {
		var words []any
		for _, word := range r.words {
			words = append(words, word)
		}
		return append(o, member{"enum", words})
	}
	if r.min > 0 {
		o = append(o, member{"minLength", r.min})
	}
	switch {
	case r.max > 0:
		o = append(o, member{"maxLength", r.max})
	case r.maxBytes > 0:
		o = append(o, member{"maxLength", r.maxBytes}, member{"$comment", fmt.Sprintf("At most %d bytes in UTF-8.", r.maxBytes)})
	}
	if r.pattern != "" {
		o = append(o, member{"pattern", "^$|" + r.pattern})
	}
	return o
}

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON writes the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	fields := make(output.Object, len(o))
	for i, m := range o {
		fields[i] = output.Field{Name: m.name, Value: m.value}
	}
	return fields.MarshalJSON()
}
