package sharding_test

import (
	"fmt"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	drivermongo "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/mongo"
)

// FerretDB has no validators, so the test evaluates those that it is sent.
func TestTheValidatorsAcceptWhatTheServicesStore(t *testing.T) {
	t.Parallel()
	c := startOn(t, mongowire.Config{})
	client, err := drivermongo.Connect(options.Client().ApplyURI(c.uri))
	must(t, err)
	defer func() { must(t, client.Disconnect(t.Context())) }()
	validators := map[string]schema{}
	for _, spec := range c.specs {
		validators[spec.Name] = c.validatorOf(spec)
	}
	evaluate := func(after string) {
		for name, validator := range validators {
			cursor, err := client.Database(c.database).Collection(name).Find(t.Context(), bson.D{}, options.Find().SetComment("everywhere"))
			must(t, err)
			var documents []bson.Raw
			must(t, cursor.All(t.Context(), &documents))
			for _, document := range documents {
				if err := validator.refusal(document); err != nil {
					t.Fatalf("%s, after %s: a document is refused: %v", name, after, err)
				}
			}
		}
	}
	p := c.start(c.engine)
	about := c.fill(p)
	evaluate("the start")
	for _, each := range operations() {
		each.run(t, p, about)
		evaluate(each.name)
	}
}

// validatorOf returns the validator that Prepare sets.
func (c *cluster) validatorOf(spec docstore.Spec) (s schema) {
	t := c.t
	t.Helper()
	mark := c.server.Mark()
	if _, err := c.engine.Prepare(t.Context(), spec, mongo.Preparation{Validate: true}); err == nil {
		t.Fatal("FerretDB has validators by now")
	}
	commands, _ := c.server.Since(mark)
	must(t, commands[len(commands)-1].Body.Lookup("validator", "$jsonSchema").Unmarshal(&s))
	return s
}

// schema has the keywords of a $jsonSchema that the validators need; see
// https://www.mongodb.com/docs/manual/reference/operator/query/jsonSchema/.
type schema struct {
	// BSONType is a text or an array of them.
	BSONType   any               `bson:"bsonType"`
	Required   []string          `bson:"required"`
	Properties map[string]schema `bson:"properties"`
	AnyOf      []schema          `bson:"anyOf"`
	Others     bson.M            `bson:",inline"`
}

// refusal returns why a document does not fit, or nil.
func (s schema) refusal(document bson.Raw) error {
	for _, field := range s.Required {
		if _, err := document.LookupErr(field); err != nil {
			return fmt.Errorf("it has no %s", field)
		}
	}
	for field, of := range s.Properties {
		types, isList := of.BSONType.(bson.A)
		if !isList {
			types = bson.A{of.BSONType}
		}
		if value, err := document.LookupErr(field); err == nil && !slices.Contains(types, any(aliases[value.Type])) {
			return fmt.Errorf("%s is %s, not of %v", field, value, types)
		}
	}
	isAny := func(of schema) bool { return of.refusal(document) == nil }
	if len(s.AnyOf) > 0 && !slices.ContainsFunc(s.AnyOf, isAny) {
		return fmt.Errorf("it meets none of %v", s.AnyOf)
	}
	if len(s.Others) > 0 {
		return fmt.Errorf("the test does not know %v", s.Others)
	}
	return nil
}

// aliases are the names of types in a schema.
var aliases = map[bson.Type]string{
	bson.TypeInt32: "int", bson.TypeInt64: "long", bson.TypeString: "string", bson.TypeTimestamp: "timestamp",
}
