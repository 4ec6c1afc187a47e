package mongowire

import (
	"bytes"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// judgeStatement returns why a server refuses a statement of a write, with the fields of the write error besides
// its code and text.
func (s *Server) judgeStatement(c Command, i int) (v *verdict, more bson.D, err error) {
	statement := c.Statements[i]
	_, _, isRetryable := c.session()
	limit, _ := statement.Lookup("limit").AsFloat64OK()
	switch isMulti := isNonzero(statement.Lookup("multi")); {
	case c.Name == "update" && isMulti && isRetryable:
		return refuse(invalidOptions, "Cannot use (or request) retryable writes with multi=true"), nil, nil
	case c.Name == "delete" && limit == 0 && isRetryable:
		return refuse(invalidOptions, "Cannot use (or request) retryable writes with limit=0"), nil, nil
	case c.Name == "insert":
		if v := s.judgeInsert(c, statement); v != nil || !s.breaksUnseen(c, statement) {
			return v, nil, nil
		}
		return s.taken(c, identified(statement))
	}
	if v := s.misdirected(c, statement); v != nil {
		return v, nil, nil
	}
	if v := s.judgeHint(c, statement); v != nil {
		return v, nil, nil
	}
	if c.Name == "update" {
		return s.judgeChangeOf(c, changeOf(statement, "q", "u"))
	}
	return judgeFilter(field(statement, "q")), nil, nil
}

// judgeInsert returns why a server does not store a document, whatever others there are.
func (s *Server) judgeInsert(c Command, stored bson.Raw) *verdict {
	if v := s.judgeStored(stored); v != nil {
		return v
	}
	if v := unstorable(c); v != nil {
		return v
	}
	if key := s.shards.key(c); key != nil {
		if value := stored.Lookup(firstField(key)); value.Type == bson.TypeArray {
			v := refuse(shardKeyNotFound, "Shard key cannot contain array values or array descendants.")
			v.isOfCommand = true
			return v
		}
	}
	for _, index := range s.indexesOf(c) {
		arrays := 0
		for _, key := range elementsOf(field(index, "key")) {
			if stored.Lookup(key.Key).Type == bson.TypeArray {
				arrays++
			}
		}
		if arrays > 1 {
			return refuse(171, "cannot index parallel arrays")
		}
	}
	return nil
}

// breaksUnseen reports whether a document may break a unique index without FerretDB seeing it: FerretDB compares
// neither fields that are missing nor the members of arrays.
func (s *Server) breaksUnseen(c Command, stored bson.Raw) bool {
	for _, index := range s.indexesOf(c) {
		if !isNonzero(index.Lookup("unique")) {
			continue
		}
		missing, arrays, keys := 0, 0, elementsOf(field(index, "key"))
		for _, key := range keys {
			switch value, err := stored.LookupErr(key.Key); {
			case err != nil:
				missing++
			case value.Type == bson.TypeNull:
				arrays++
			case value.Type == bson.TypeArray:
				arrays++
				s.indexes.mu.Lock()
				s.indexes.arrays[c.namespace()] = true
				s.indexes.mu.Unlock()
			}
		}
		isLeftOut := isNonzero(index.Lookup("sparse")) && missing == len(keys)
		if missing+arrays > 0 && !isLeftOut || s.indexes.hasArrays(c) {
			return true
		}
	}
	return false
}

// taken returns the refusal of a new document by a unique index, or nil.
func (s *Server) taken(c Command, stored bson.Raw) (*verdict, bson.D, error) {
	found, err := s.findDuplicate(c, stored, nil)
	if err != nil || found == nil {
		return nil, nil, err
	}
	return &verdict{code: duplicateKey, text: found.text(c)}, s.shown(found), nil
}

// sizable is the size of an update that may make a document too large, in bytes.
const sizable = 1 << 20

// judgeChangeOf returns why a server refuses an update of the documents that there are.
func (s *Server) judgeChangeOf(c Command, is change) (v *verdict, more bson.D, err error) {
	if v := s.judgeChange(is); v != nil {
		return v, nil, nil
	}
	by, isDocument := is.by.DocumentOK()
	key := firstField(s.shards.key(c))
	inserts := is.upserts && isDocument
	if !inserts && !names(by, "_id") && !names(by, key) && len(by) < sizable {
		return nil, nil, nil
	}
	found, err := s.find(c, is.query, 1, nil)
	if err != nil {
		return nil, nil, nil //nolint:nilerr // FerretDB refuses the filter, and will do so again
	}
	if len(found) == 0 {
		if v := immutable(is, nil); v != nil || !inserts {
			return v, nil, nil
		}
		var equal bson.D
		if err := is.query.Unmarshal(&equal); err != nil {
			return nil, nil, err
		}
		candidate, err := updated(equal, is.by, true)
		if err != nil || !s.breaksUnseen(c, document(candidate)) {
			return nil, nil, err
		}
		return s.taken(c, identified(document(candidate)))
	}
	matched := found[0]
	if v := immutable(is, matched); v != nil {
		return v, nil, nil
	}
	if len(by) >= sizable && len(by)+len(matched) > maxDocument+16<<10 {
		return refuse(10334, "BSONObj size: %d is invalid. Size must be between 0 and 16793600(16MB)", len(by)+len(matched)), nil, nil
	}
	return s.judgeKeyChange(c, is, by, matched), nil, nil
}

// judgeKeyChange returns why a router refuses a change of the shard key. See
// https://www.mongodb.com/docs/manual/core/sharding-change-shard-key-value/.
func (s *Server) judgeKeyChange(c Command, is change, by, matched bson.Raw) *verdict {
	key := firstField(s.shards.key(c))
	set, err := field(by, "$set").LookupErr(key)
	if !names(by, key) || err == nil && set.Equal(matched.Lookup(key)) {
		return nil
	}
	switch _, _, isRetryable := c.session(); {
	case is.isMulti:
		return refuse(invalidOptions, "Multi-update operations are not allowed when updating the shard key field.")
	case !isRetryable:
		return refuse(20, "Must run update to shard key field in a multi-statement transaction or with retryWrites: true.")
	}
	return nil
}

// names reports whether an update names a field, or may do.
func names(update bson.Raw, field string) bool {
	return field != "" && bytes.Contains(update, append([]byte(field), 0))
}
