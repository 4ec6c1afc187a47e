package cli

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/waybook/waybook/proto/descriptors"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// generator makes commands from descriptors: a struct for kong for each noun, with a command for each unary method.
type generator struct {
	// comments has the descriptors with comments.
	comments *descriptors.Resolver
}

// command is a command of a method.
type command struct {
	noun   noun
	method protoreflect.MethodDescriptor
	row
}

// fromContracts makes the commands of all command lines of a process, which share its descriptors.
var fromContracts = generator{new(descriptors.Resolver)}

// types returns the types of the structs with the generated commands of the chosen nouns, by noun.
func (g generator) types(isChosen func(noun string) bool) (map[string]reflect.Type, error) {
	all := map[string][]command{}
	for _, service := range []string{"account", "album", "blog", "poi"} {
		described, err := protoregistry.GlobalFiles.FindDescriptorByName(serviceName(service))
		if err != nil {
			return nil, err
		}
		methods := described.(protoreflect.ServiceDescriptor).Methods()
		for i := range methods.Len() {
			for _, each := range commandsOf(service, methods.Get(i)) {
				if isChosen(each.noun.name) {
					all[each.noun.name] = append(all[each.noun.name], each)
				}
			}
		}
	}
	made := map[string]reflect.Type{}
	for name, commands := range all {
		root := &group{}
		for _, each := range commands {
			leaf, err := g.leaf(each)
			if err != nil {
				return nil, err
			}
			root.add(strings.Fields(each.command), leaf, each.noun.name)
		}
		made[name] = reflect.StructOf(root.fields)
	}
	return made, nil
}

// serviceName returns the full name of a service.
func serviceName(service string) protoreflect.FullName {
	return protoreflect.FullName(fmt.Sprintf("waybook.%s.v1.%s%sService", service, strings.ToUpper(service[:1]), service[1:]))
}

// commandsOf returns the commands of a method: those of its rows, or the one that its name makes. Streams have none:
// lists, exports, imports and changes --watch use them.
func commandsOf(service string, method protoreflect.MethodDescriptor) (all []command) {
	if method.IsStreamingClient() || method.IsStreamingServer() {
		return nil
	}
	of, words := derive(service, string(method.Name()))
	hasRow := false
	for _, each := range rows {
		if each.method == string(method.Name()) {
			if hasRow = true; each.command != "" {
				all = append(all, command{of, method, each})
			}
		}
	}
	if !hasRow {
		all = []command{{of, method, row{command: words}}}
	}
	return all
}

// verbs are the verbs of methods whose command is a noun, perhaps one within the noun, and a verb.
var verbs = map[string]string{
	"Create": "create", "Get": "show", "List": "list", "Update": "update", "Delete": "delete", "Add": "add", "Remove": "remove", "Grant": "grant",
}

// derive returns the noun and the other words of a method: GetAlbum is album show, ListPhotos is photo list,
// BatchGetAlbums is batch-get.
func derive(service, method string) (of noun, words string) {
	verb, object := splitVerb(method)
	for _, each := range nouns {
		if each.service != service {
			continue
		}
		if of.name == "" || strings.Contains(object, each.message) {
			of = each
		}
	}
	if word := verbs[verb]; word != "" {
		sub := strings.TrimSuffix(strings.TrimPrefix(object, of.message), "s")
		return of, strings.TrimSpace(kebab(sub) + " " + word)
	}
	return of, kebab(strings.TrimSuffix(strings.TrimSuffix(method, of.message), of.message+"s"))
}

func splitVerb(method string) (verb, rest string) {
	end := strings.IndexFunc(method[1:], unicode.IsUpper) + 1
	if end == 0 {
		end = len(method)
	}
	return method[:end], method[end:]
}

// kebab writes RewardTotal as reward-total.
func kebab(name string) string {
	var out strings.Builder
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) {
			out.WriteByte('-')
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}

// group is a struct of commands.
type group struct {
	fields []reflect.StructField
	inner  map[string]*group
}

// add adds a command of one or two words.
func (g *group) add(words []string, leaf reflect.StructField, noun string) {
	if len(words) == 1 {
		leaf.Name = fieldName(len(g.fields))
		g.fields = append(g.fields, leaf)
		return
	}
	if g.inner == nil {
		g.inner = map[string]*group{}
	}
	within := g.inner[words[0]]
	if within == nil {
		within = &group{}
		g.inner[words[0]] = within
		g.fields = append(g.fields, reflect.StructField{Name: fieldName(len(g.fields))})
	}
	within.add(words[1:], leaf, noun)
	at := slices.IndexFunc(g.fields, func(f reflect.StructField) bool { return f.Tag == "" || f.Tag.Get("name") == words[0] })
	article := "a"
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		article = "an"
	}
	g.fields[at].Type = reflect.StructOf(within.fields)
	g.fields[at].Tag = tagOf("cmd", "", "name", words[0], "help", strings.ToUpper(words[0][:1])+words[0][1:]+"s of "+article+" "+noun+".")
}

func fieldName(i int) string { return "F" + strconv.Itoa(i) }

// tagOf returns a tag from keys and values.
func tagOf(pairs ...string) reflect.StructTag {
	var parts []string
	for i := 0; i < len(pairs); i += 2 {
		parts = append(parts, pairs[i]+":"+strconv.Quote(pairs[i+1]))
	}
	return reflect.StructTag(strings.Join(parts, " "))
}

// leaf returns the field of a command.
func (g generator) leaf(c command) (reflect.StructField, error) {
	help := c.help
	if help == "" {
		help = imperative(g.comment(c.method))
	}
	words := strings.Fields(c.command)
	made := reflect.StructField{Tag: tagOf("cmd", "", "name", words[len(words)-1], "rpc", string(c.method.Name()), "with", c.fixed, "help", help)}
	reply := c.method.Output().Fields()
	if reply.ByName("has_more") != nil {
		made.Type = reflect.TypeFor[changes]()
		return made, nil
	}
	var fields []reflect.StructField
	for _, each := range g.inputs(c, c.method.Input(), input{isRequired: true}) {
		field := each.field(c)
		field.Name = fieldName(len(fields))
		fields = append(fields, field)
	}
	if reply.ByName("next_page_token") != nil {
		fields = append(fields, reflect.TypeFor[limit]().Field(0))
	}
	made.Type = reflect.StructOf(fields)
	return made, nil
}

// input is an argument or a flag: a field of the request.
type input struct {
	path       string
	of         protoreflect.FieldDescriptor
	name, help string
	isRequired bool
	// together are flags that are given together.
	together string
}

// unset are fields that no flag sets: those that the program sets, and secrets, which are not on a command line.
var unset = []protoreflect.Name{
	"request_id", "page_size", "page_token", "update_mask", "read_mask", "password", "secret", "token",
}

// inputs returns the arguments and flags of a message within a request.
func (g generator) inputs(c command, message protoreflect.MessageDescriptor, within input) (all []input) {
	isTop := within.path == ""
	chosen, isChosen := strings.Fields(c.fields), c.fields != ""
	for i := range message.Fields().Len() {
		field := message.Fields().Get(i)
		name := field.Name()
		isFirst := isTop && len(all) == 0 && isRequired(field) && !isActor(c, field)
		if slices.Contains(unset, name) || isTop && isChosen && !isFirst && !slices.Contains(chosen, string(name)) && !isActor(c, field) {
			continue
		}
		if isTop && slices.Contains(strings.Fields(strings.ReplaceAll(c.fixed, "!", "")), string(name)) {
			continue
		}
		p := input{of: field, path: strings.TrimPrefix(within.path+"."+string(name), "."), together: within.together}
		isNamed := isTop && slices.Contains(chosen, string(name)) && field.Message() == nil && field.HasPresence()
		isOnly := isTop && isChosen && field.ContainingOneof() != nil && !field.HasOptionalKeyword()
		p.isRequired = within.isRequired && (isRequired(field) || isNamed || isOnly || !isTop && field.Message() == nil && defaults[string(name)] == "")
		p.help = g.comment(field)
		p.name = strings.ReplaceAll(cmp.Or(renamed[p.path], renamed[string(name)], strings.TrimSuffix(string(name), "_id")), "_", "-")
		if isActor(c, field) {
			p.name = "as"
		}
		if flattened := field.Message(); flattened != nil && isFlat(field) {
			if !p.isRequired {
				p.together = cmp.Or(p.together, p.path)
			}
			if inner := g.inputs(c, flattened, p); !collide(field, inner) {
				all = append(all, inner...)
			}
			continue
		}
		all = append(all, p)
	}
	return all
}

// collide reports whether other fields beside a message have the names of inputs within it.
func collide(within protoreflect.FieldDescriptor, inner []input) bool {
	return slices.ContainsFunc(inner, func(p input) bool {
		other := within.ContainingMessage().Fields().ByName(protoreflect.Name(p.name))
		return other != nil && other != within
	})
}

// isFlat reports whether a field is a message whose fields are flags: one with scalars and messages of such.
func isFlat(field protoreflect.FieldDescriptor) bool {
	message := field.Message()
	if message == nil || field.IsList() || message.FullName() == dateName || message.ParentFile().Package() == "google.protobuf" {
		return false
	}
	for i := range message.Fields().Len() {
		if inner := message.Fields().Get(i); inner.Message() != nil && !isFlat(inner) {
			return false
		}
	}
	return true
}

const dateName = "waybook.type.v1.Date"

// isRequired reports whether the rules of a field refuse a request that does not set it.
func isRequired(field protoreflect.FieldDescriptor) bool {
	rules, _ := proto.GetExtension(field.Options(), validate.E_Field).(*validate.FieldRules)
	if rules.GetRequired() {
		return true
	}
	if field.HasPresence() || rules.GetIgnore() == validate.Ignore_IGNORE_IF_ZERO_VALUE {
		return false
	}
	return rules.GetInt64().GetGte() > 0 || rules.GetInt32().GetGte() > 0 || rules.GetString().GetMinLen() > 0 ||
		rules.GetString().GetPattern() != "" || slices.Contains(rules.GetEnum().GetNotIn(), 0) || rules.GetRepeated().GetMinItems() > 0
}

func isUser(field protoreflect.FieldDescriptor) bool {
	return proto.GetExtension(field.Options(), typev1.E_Identifies) == typev1.Identifies_IDENTIFIES_USER
}

// isActor reports whether a field is the user who does what the command does.
func isActor(c command, field protoreflect.FieldDescriptor) bool {
	options, _ := c.method.Options().(*descriptorpb.MethodOptions)
	return isUser(field) && options.GetIdempotencyLevel() != descriptorpb.MethodOptions_NO_SIDE_EFFECTS
}

// scalars are the types of scalar fields. Others, and messages, are JSON on the command line.
var scalars = map[protoreflect.Kind]reflect.Type{
	protoreflect.BoolKind: reflect.TypeFor[bool](), protoreflect.StringKind: reflect.TypeFor[string](), protoreflect.DoubleKind: reflect.TypeFor[float64](),
	protoreflect.Int32Kind: reflect.TypeFor[int32](), protoreflect.Int64Kind: reflect.TypeFor[int64](),
}

// longText is the length from which on a text may come from standard input.
const longText = 10_000

// field returns the field of a struct for kong.
func (p input) field(c command) reflect.StructField {
	tag := []string{"name", p.name, "field", p.path}
	kind := reflect.TypeFor[jsonText]()
	rules, _ := proto.GetExtension(p.of.Options(), validate.E_Field).(*validate.FieldRules)
	switch {
	case p.of.Message() != nil && p.of.Message().FullName() == dateName && !p.of.IsList():
		kind = reflect.TypeFor[day]()
	case p.of.Message() != nil:
	case p.of.Enum() != nil:
		kind = reflect.TypeFor[enumText]()
		words := wordsOf(p.of.Enum())
		for _, refused := range rules.GetEnum().GetNotIn() {
			words = slices.DeleteFunc(words, func(word string) bool { return word == wordOfNumber(p.of.Enum(), protoreflect.EnumNumber(refused)) })
		}
		tag = append(tag, "words", strings.Join(words, ","))
	case rules.GetString().GetMaxLen() >= longText:
		kind = reflect.TypeFor[textOrInput]()
		p.help = strings.TrimSuffix(p.help, ".") + "; - reads it from standard input."
	default:
		kind = cmp.Or(scalars[p.of.Kind()], kind)
	}
	if p.of.IsList() && kind != reflect.TypeFor[jsonText]() {
		kind = reflect.SliceOf(kind)
		tag = append(tag, "sep", "none")
	}
	isActing := p.name == "as"
	switch isArgument := p.isRequired && !strings.Contains(p.path, ".") && !isUser(p.of) && p.of.Enum() == nil && p.of.Message() == nil; {
	case isArgument:
		tag = append(tag, "arg", "")
		if string(p.of.Name()) == strings.ToLower(c.noun.message)+"_id" {
			p.help = "The " + c.noun.name + "'s identifier."
		}
	case isActing && p.path == "actor_id":
		p.help = "Act as this user, not as the owner."
	case p.isRequired:
		tag = append(tag, "required", "")
	case p.together != "":
		tag = append(tag, "and", p.together)
	}
	if value := defaults[string(p.of.Name())]; value != "" && c.fields != "" {
		tag = append(tag, "default", value)
		p.help = strings.TrimSuffix(p.help, ".") + "; ${default} by default."
	}
	place := cmp.Or(placeholders[p.name], strings.ToUpper(strings.ReplaceAll(p.name, "-", "_")))
	if isUser(p.of) {
		place = "USER"
	}
	return reflect.StructField{Type: kind, Tag: tagOf(append(tag, "placeholder", place, "help", p.help)...)}
}

// comment returns the comment of a method or a field on one line, without the errors.
func (g generator) comment(of protoreflect.Descriptor) string {
	found, err := g.comments.FindDescriptorByName(of.FullName())
	if err != nil {
		return ""
	}
	text := strings.Join(strings.Fields(found.ParentFile().SourceLocations().ByDescriptor(found).LeadingComments), " ")
	text, _, _ = strings.Cut(text, " Errors:")
	return strings.NewReplacer("fields that are not set", "fields without a flag", "when unspecified", "when not given", "when not set", "when not given").Replace(text)
}

// imperative returns the first sentence of a method's comment as help: Creates an album is Create an album.
func imperative(comment string) string {
	sentence, _, isMore := strings.Cut(comment, ". ")
	if isMore {
		sentence += "."
	}
	for _, each := range [][2]string{{"Returns a page of ", "List "}, {"Returns ", "Show "}} {
		if rest, isSo := strings.CutPrefix(sentence, each[0]); isSo {
			return each[1] + rest
		}
	}
	verb, rest, _ := strings.Cut(sentence, " ")
	return strings.TrimSuffix(verb, "s") + " " + rest
}
