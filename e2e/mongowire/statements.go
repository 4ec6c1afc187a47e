package mongowire

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// ferretBatch is how many documents FerretDB inserts at a time. It notices the end of an
// ordered insert only within such a batch.
const ferretBatch = 100

// outcome is the sum of the replies to the parts of a write command.
type outcome struct {
	n, modified int64
	upserted    bson.A
	errors      []bson.D
}

// take adds what a statement did.
func (o *outcome) take(did deed, at int) {
	o.n, o.modified = o.n+did.n, o.modified+did.modified
	if !did.upserted.IsZero() {
		o.upserted = append(o.upserted, bson.D{{Key: "index", Value: int32(at)}, {Key: "_id", Value: did.upserted}}) // #nosec G115
	}
}

// fail adds a write error.
func (o *outcome) fail(at int, v *verdict, more ...bson.E) {
	o.errors = append(o.errors, append(bson.D{
		{Key: "index", Value: int32(at)}, {Key: "code", Value: v.code}, {Key: "errmsg", Value: v.text}, // #nosec G115
	}, more...))
}

func (o *outcome) reply(isUpdate bool) bson.Raw {
	reply := bson.D{{Key: "n", Value: int32(o.n)}} // #nosec G115
	if isUpdate {
		reply = append(reply, bson.E{Key: "nModified", Value: int32(o.modified)}) // #nosec G115
	}
	if len(o.upserted) > 0 {
		reply = append(reply, bson.E{Key: "upserted", Value: o.upserted})
	}
	if len(o.errors) > 0 {
		reply = append(reply, bson.E{Key: "writeErrors", Value: o.errors})
	}
	return document(append(reply, bson.E{Key: "ok", Value: 1.0}))
}

// execute executes the statements of a write, but for those that the session has executed already. The first that
// fails ends an ordered command.
func (s *Server) execute(c Command) (bson.Raw, error) {
	var sum outcome
	for i := 0; i < len(c.Statements) && (len(sum.errors) == 0 || !c.isOrdered()); {
		if did, isDone := s.sessions.done(c, i); isDone {
			if c.Name == "insert" {
				did.upserted = bson.RawValue{}
				if !c.isOrdered() {
					sum.errors = nil // a server loses the errors of those before it
				}
			}
			sum.take(did, i)
			i++
			continue
		}
		v, more, err := s.judgeStatement(c, i)
		if err != nil {
			return nil, err
		}
		if v != nil {
			if v.isOfCommand {
				return v.reply(), nil
			}
			sum.fail(i, v, more...)
			i++
			continue
		}
		next, refused, err := s.executeFrom(c, i, &sum)
		if err != nil || refused != nil {
			return refused, err
		}
		i = next
	}
	return sum.reply(c.Name == "update"), nil
}

// executeFrom executes a statement, and those behind it that can be sent with it. It returns the next one.
func (s *Server) executeFrom(c Command, i int, sum *outcome) (next int, refused bson.Raw, err error) {
	if c.Name == "insert" {
		return s.insert(c, i, sum)
	}
	statement := c.Statements[i]
	reply, err := s.backend.run(c.forwarded([]bson.Raw{forwardedStatement(statement)}))
	if err != nil {
		return 0, nil, err
	}
	failures := documentsOf(reply, "writeErrors")
	switch {
	case isUniqueFailure(reply):
		failures = []bson.Raw{document(bson.D{{Key: "code", Value: int32(duplicateKey)}})}
	case !isSuccess(reply):
		return 0, reply, nil
	default:
		did := deedOf(reply)
		sum.take(did, i)
		s.sessions.keep(c, i, did)
	}
	for _, failure := range failures {
		err := s.describe(c, failure, i, sum, func() (*duplicate, error) {
			return s.findUpdated(c, statement.Lookup("q"), statement.Lookup("u"), bson.D{}, isNonzero(statement.Lookup("multi")))
		})
		if err != nil {
			return 0, nil, err
		}
	}
	return i + 1, nil, nil
}

// insert sends documents of an ordered insert in parts, and those of an unordered one as a whole. It says which
// index refused a document, which FerretDB does not.
func (s *Server) insert(c Command, first int, sum *outcome) (next int, refused bson.Raw, err error) {
	size := len(c.Statements)
	if c.isOrdered() {
		size = ferretBatch
	}
	isSpecial := func(i int) bool { return s.breaksUnseen(c, c.Statements[i]) }
	for next = first + 1; next < len(c.Statements) && next-first < size && !isSpecial(first) && !isSpecial(next); next++ {
		_, isDone := s.sessions.done(c, next)
		if isDone || s.judgeInsert(c, c.Statements[next]) != nil {
			break
		}
	}
	part := make([]bson.Raw, next-first)
	for i := range part {
		part[i] = identified(c.Statements[first+i])
	}
	reply, err := s.backend.run(c.forwarded(part))
	if err != nil || !isSuccess(reply) {
		return 0, reply, err
	}
	failures, failed := documentsOf(reply, "writeErrors"), map[int]bool{}
	for _, failure := range failures {
		failed[indexOf(failure)] = true
	}
	for i, stored := range part {
		if failed[i] && c.isOrdered() {
			break
		}
		if !failed[i] {
			did := deed{n: 1, upserted: stored.Lookup("_id")}
			s.sessions.keep(c, first+i, did)
			sum.n++
		}
	}
	for _, failure := range failures {
		at := indexOf(failure)
		err := s.describe(c, failure, first+at, sum, func() (*duplicate, error) {
			// The documents behind this one were stored after it was refused.
			var behind bson.A
			for i := at + 1; i < len(part) && !c.isOrdered(); i++ {
				if !failed[i] {
					behind = append(behind, part[i].Lookup("_id"))
				}
			}
			return s.findDuplicate(c, part[at], behind)
		})
		if err != nil {
			return 0, nil, err
		}
	}
	return next, nil, nil
}

// identified returns a document with its _id at the front. A server gives it one if it has none.
func identified(stored bson.Raw) bson.Raw {
	if firstField(stored) == "_id" {
		return stored
	}
	id, err := stored.LookupErr("_id")
	first := bson.D{{Key: "_id", Value: bson.NewObjectID()}}
	if err == nil {
		first[0].Value = id
	}
	return with(document(first), elementsOf(without(stored, "_id")))
}

func elementsOf(of bson.Raw) (fields bson.D) {
	elements, _ := of.Elements()
	for _, element := range elements {
		fields = append(fields, bson.E{Key: element.Key(), Value: element.Value()})
	}
	return fields
}

// forwardedStatement returns a statement without what FerretDB does not know. An operator that is there twice is
// joined, as a server does.
func forwardedStatement(statement bson.Raw) bson.Raw {
	statement = without(statement, "hint", "collation", "arrayFilters")
	if by, isDocument := statement.Lookup("u").DocumentOK(); isDocument {
		return with(statement, bson.D{{Key: "u", Value: joined(by)}})
	}
	return statement
}

func joined(update bson.Raw) bson.Raw {
	var operators bson.D
	elements, _ := update.Elements()
	for _, element := range elements {
		fields, isDocument := element.Value().DocumentOK()
		before := valueOf(operators, element.Key())
		if first, isJoined := before.(bson.Raw); isJoined && isDocument {
			operators = put(operators, element.Key(), with(first, elementsOf(fields)))
			continue
		}
		value := any(element.Value())
		if isDocument {
			if strings.HasPrefix(element.Key(), "$") && firstField(fields) == "" && len(fields) <= 5 {
				continue // since 5.0 an empty operator changes nothing
			}
			value = fields
		}
		operators = append(operators, bson.E{Key: element.Key(), Value: value})
	}
	return document(operators)
}

// findAndModify turns FerretDB's refusal of a duplicate into that of a server. It selects the fields of the
// reply itself, which FerretDB does not. A repeat of what was executed returns the whole document, as a server does.
func (s *Server) findAndModify(c Command) (bson.Raw, error) {
	if did, isDone := s.sessions.done(c, 0); isDone && did.reply != nil {
		return did.reply, nil
	}
	statement := with(c.Body, bson.D{{Key: "q", Value: c.Body.Lookup("query")}})
	if update, err := c.Body.LookupErr("update"); err == nil {
		v, more, err := s.judgeChangeOf(c, changeOf(statement, "query", "update"))
		if err != nil {
			return nil, err
		}
		if v != nil {
			return refusal(v.code, codeName(v.code), v.text, more...), nil
		}
		if by, isDocument := update.DocumentOK(); isDocument {
			c.Body = with(c.Body, bson.D{{Key: "update", Value: joined(by)}})
		}
	}
	projection := field(c.Body, "fields")
	c.Body = without(c.Body, "fields", "collation", "arrayFilters")
	reply, err := s.backend.run(c.forwarded(nil))
	if err != nil {
		return nil, err
	}
	code, _ := reply.Lookup("code").AsInt64OK()
	if code != duplicateKey && !isUniqueFailure(reply) {
		if n, _ := reply.Lookup("lastErrorObject", "n").AsInt64OK(); n > 0 {
			s.sessions.keep(c, 0, deed{n: 1, modified: 1, reply: reply})
		}
		if found, isFound := reply.Lookup("value").DocumentOK(); isFound && firstField(projection) != "" {
			return with(without(reply, "value"), bson.D{{Key: "value", Value: projected(found, projection)}}), nil
		}
		return reply, nil
	}
	sort := bson.D{}
	if order, ok := c.Body.Lookup("sort").DocumentOK(); ok {
		sort = bson.D{{Key: "sort", Value: order}}
	}
	found, err := s.findUpdated(c, c.Body.Lookup("query"), c.Body.Lookup("update"), sort, false)
	if err != nil || found == nil {
		return reply, err
	}
	text := "Plan executor error during findAndModify :: caused by :: " + found.text(c)
	return refusal(duplicateKey, "DuplicateKey", text, s.shown(found)...), nil
}

// projected returns the fields of a document that a projection includes, or those that it does not exclude.
func projected(found, projection bson.Raw) bson.D {
	excludes := false
	wanted, _ := projection.Elements()
	for _, each := range wanted {
		excludes = excludes || each.Key() != "_id" && !isNonzero(each.Value())
	}
	shown := bson.D{}
	fields, _ := found.Elements()
	for _, each := range fields {
		value, err := projection.LookupErr(each.Key())
		isShown := excludes || each.Key() == "_id"
		if err == nil {
			isShown = isNonzero(value)
		}
		if isShown {
			shown = append(shown, bson.E{Key: each.Key(), Value: each.Value()})
		}
	}
	return shown
}

// describe adds a write error. If it is a duplicate, it says what find found.
func (s *Server) describe(c Command, failure bson.Raw, at int, sum *outcome, find func() (*duplicate, error)) error {
	code, _ := failure.Lookup("code").AsInt64OK()
	text, _ := failure.Lookup("errmsg").StringValueOK()
	if code != duplicateKey {
		sum.fail(at, &verdict{code: int32(code), text: text}) // #nosec G115 -- a code
		return nil
	}
	found, err := find()
	if err != nil {
		return err
	}
	if found == nil {
		sum.fail(at, refuse(duplicateKey, "E11000 duplicate key error collection: %s", c.namespace()))
		return nil
	}
	sum.fail(at, &verdict{code: duplicateKey, text: found.text(c)}, s.shown(found)...)
	return nil
}

// shown returns the fields by which a program learns the index of a duplicate. A mongos of 4.4 has only the text.
func (s *Server) shown(found *duplicate) bson.D {
	if s.role == Router && s.plays == Version44 {
		return nil
	}
	return found.fields()
}

// isUniqueFailure reports whether a reply is FerretDB's to an update that SQLite or PostgreSQL refused as
// a duplicate. It has no code of its own, only their text.
func isUniqueFailure(reply bson.Raw) bool {
	code, _ := reply.Lookup("code").AsInt64OK()
	text, _ := reply.Lookup("errmsg").StringValueOK()
	isRefused := strings.Contains(text, "UNIQUE constraint failed: index '") || strings.HasSuffix(text, "(SQLSTATE 23505)")
	return !isSuccess(reply) && code == 1 && isRefused
}

func indexOf(failure bson.Raw) int {
	index, _ := failure.Lookup("index").AsInt64OK()
	return int(index)
}

// documentsOf returns the documents in an array of a reply, and none if there is no array.
func documentsOf(reply bson.Raw, field ...string) (documents []bson.Raw) {
	array, ok := reply.Lookup(field...).ArrayOK()
	if !ok {
		return nil
	}
	values, err := array.Values()
	if err != nil {
		return nil
	}
	for _, value := range values {
		if each, ok := value.DocumentOK(); ok {
			documents = append(documents, each)
		}
	}
	return documents
}
