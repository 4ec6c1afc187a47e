package operations_test

import (
	"context"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/waybooktest"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	"github.com/waybook/waybook/waybookctl/storekeeping"
)

// check checks a store and expects findings, ignoring their details.
func (s store) check(mode integrity.Mode, want ...integrity.Finding) storekeeping.Report {
	s.t.Helper()
	report, err := storekeeping.Check(s.t.Context(), s.options(), mode)
	s.must(err)
	got := []integrity.Finding{}
	for _, finding := range report.Findings {
		if finding.Detail == "" {
			s.t.Errorf("%+v has no detail", finding)
		}
		finding.Detail = ""
		got = append(got, finding)
	}
	if len(want)+len(got) > 0 && !reflect.DeepEqual(got, want) {
		s.t.Errorf("got  %+v\nwant %+v", got, want)
	}
	return report
}

// change changes fields of a document directly in the store.
func change(ctx context.Context, s store, table docstore.Table, id int64, fields map[string]any) {
	s.t.Helper()
	raw, err := docstore.GetFrom(ctx, table, docstore.ValueOf(id), docstore.Present)
	s.must(err)
	revision, err := docstore.RevisionOf(raw)
	s.must(err)
	made := docstore.Change{ID: docstore.ValueOf(id), Revision: revision}
	for path, value := range fields {
		kind, encoded, err := bson.MarshalValue(value)
		s.must(err)
		made.Set = append(made.Set, docstore.Assignment{Path: path, Value: bson.RawValue{Type: kind, Value: encoded}})
	}
	_, err = table.Update(ctx, made)
	s.must(err)
}

// lose removes a document from the store, without a tombstone.
func lose(ctx context.Context, s store, table docstore.Table, id int64) {
	s.t.Helper()
	s.must(table.Delete(ctx, docstore.Deletion{ID: docstore.ValueOf(id)}))
	deleted, _, err := table.Tombstones(ctx, 0, 100)
	s.must(err)
	at := slices.IndexFunc(deleted, func(t docstore.Tombstone) bool { return t.ID == docstore.ValueOf(id) })
	if at < 0 {
		s.t.Fatalf("%d is not among the deleted documents %v", id, deleted)
	}
	s.must(table.Forget(ctx, deleted[at]))
}

func TestAStoreWrittenByServicesIsCleanOnEachStore(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s store) {
		made := s.fill()
		s.serve(func(w *waybooktest.Waybook) {
			_, err := w.Album.DeleteAlbum(t.Context(), &albumv1.DeleteAlbumRequest{ActorId: made.users[0], AlbumId: made.albums[1]})
			s.must(err)
		})
		specs := s.specs()
		before := s.contents(specs)
		report := s.check(integrity.Look)
		counts := map[string]int64{}
		for _, c := range report.Collections {
			if !c.Exists || c.Service == "" {
				t.Errorf("got %+v", c)
			}
			counts[c.Name] = c.Documents
		}
		for _, spec := range specs {
			if _, has := counts[spec.Name]; !has {
				t.Errorf("%s is not in the report", spec.Name)
			}
		}
		if counts["users"] != 2 || counts["albums"] != 1 || counts["blog_ballots"] != 4 || counts["poi_comments"] != 6 {
			t.Errorf("counts are %v", counts)
		}
		s.check(integrity.Repair)
		if after := s.contents(specs); !maps.Equal(after, before) {
			t.Errorf("the store was\n%v\nand is\n%v", before, after)
		}
	})
}

func TestDamageIsFoundExactlyAndRepairedOnEachStore(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s store) {
		made := s.fill()
		specs := s.specs()
		whole := s.contents(specs)
		s.tamper(func(ctx context.Context, r *recorder) {
			lose(ctx, s, r.tables["albums"], made.albums[1])
			lose(ctx, s, r.tables["blogs"], made.blogs[1])
			change(ctx, s, r.tables["pois"], made.pois[1], map[string]any{"score": int64(9)})
		})
		for _, spec := range specs {
			if spec.Name == "albums" {
				s.dropIndex(spec, "category")
			}
			if spec.Name == "poi_photos" {
				s.dropIndex(spec, "parent")
			}
		}
		damaged := s.contents(specs)

		orphans := func(service, collection string, count int64, parent int64) integrity.Finding {
			return integrity.Finding{Service: service, Collection: collection, Kind: integrity.Orphan, Count: count, Parents: []int64{parent}}
		}
		index := func(service, collection string) integrity.Finding {
			return integrity.Finding{Service: service, Collection: collection, Kind: storekeeping.MissingIndex, Count: 1}
		}
		wrong := integrity.Finding{Service: "poi", Collection: "pois", Kind: integrity.WrongTally, Count: 1, Parents: []int64{made.pois[1]}}
		lost := []integrity.Finding{
			orphans("blog", "blog_ballots", 2, made.blogs[1]),
			orphans("blog", "blog_comments", 3, made.blogs[1]),
			orphans("blog", "blog_recommendations", 2, made.blogs[1]),
		}
		// While an index is missing, nothing is read of its service.
		for range 2 {
			s.check(integrity.Look, slices.Concat([]integrity.Finding{index("album", "albums")}, lost, []integrity.Finding{index("poi", "poi_photos")})...)
		}
		if after := s.contents(specs); !maps.Equal(after, damaged) {
			t.Error("integrity.Look changed the store")
		}

		want := slices.Concat([]integrity.Finding{
			index("album", "albums"),
			orphans("album", "album_comments", 3, made.albums[1]),
			orphans("album", "album_recommendations", 2, made.albums[1]),
			orphans("album", "album_photos", 2, made.albums[1]),
		}, lost, []integrity.Finding{index("poi", "poi_photos"), wrong})
		for i := range want[:8] {
			want[i].Repaired = want[i].Count
		}
		s.check(integrity.Repair, want...)
		// The fault that only an operator can judge remains; correct it.
		s.check(integrity.Look, wrong)
		s.tamper(func(ctx context.Context, r *recorder) {
			change(ctx, s, r.tables["pois"], made.pois[1], map[string]any{"score": int64(2)})
		})
		s.check(integrity.Look)

		left := s.contents(specs)
		for key, document := range whole {
			lost := isOf(key, document, "album", made.albums[1]) || isOf(key, document, "blog", made.blogs[1])
			after, isThere := left[key]
			if lost == isThere || isThere && withoutRevision(after) != withoutRevision(document) {
				t.Errorf("%s was\n%s\nand is\n%s", key, document, after)
			}
			delete(left, key)
		}
		if len(left) > 0 {
			t.Errorf("unexpected documents: %v", left)
		}
	})
}

// isOf reports whether a document is that of a kind with an id, or belongs to it. Documents of different
// collections may have the same id.
func isOf(key, document, kind string, id int64) bool {
	if strings.HasPrefix(key, kind+"_") {
		return strings.Contains(document, `"parent_id": `+bsonInt(id)) || strings.Contains(document, `"album_id": `+bsonInt(id))
	}
	return key == kind+"s "+bsonInt(id)
}

func bsonInt(n int64) string {
	_, value, _ := bson.MarshalValue(n)
	return bson.RawValue{Type: bson.TypeInt64, Value: value}.String()
}

// withoutRevision returns the text of a document without its revision. Fields that were added later
// follow the revision.
func withoutRevision(document string) string {
	return regexp.MustCompile(`,?"(`+docstore.RevisionField+`|content_revision)": ?\{"\$numberLong":"\d+"\}`).ReplaceAllString(document, "")
}

func TestAnIndexThatCannotBeCreatedIsReportedOnEachStore(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s store) {
		s.fill()
		specs := s.specs()
		for i, spec := range specs {
			if spec.Name == "album_photos" {
				s.dropIndex(spec, docstore.RequestIndex)
				s.twin(spec)
				specs[i].Indexes, specs[i].PlaceFields = nil, nil
			}
		}
		before := s.contents(specs)
		want := []integrity.Finding{
			{Service: "album", Collection: "album_photos", Kind: storekeeping.MissingIndex, Count: 1},
		}
		s.check(integrity.Look, want...)
		if _, err := storekeeping.Check(t.Context(), s.options(), integrity.Repair); err == nil || !strings.Contains(err.Error(), docstore.RequestIndex) {
			t.Errorf("the repair: %v", err)
		}
		if after := s.contents(specs); !maps.Equal(after, before) {
			t.Error("the store has changed")
		}
	})
}

// twin inserts a duplicate of the first document of a collection that has lost its unique index.
func (s store) twin(spec docstore.Spec) {
	s.t.Helper()
	ctx := s.t.Context()
	spec.Indexes = slices.DeleteFunc(slices.Clone(spec.Indexes), func(ix docstore.Index) bool { return ix.Unique })
	engine, err := s.flags.Open(ctx)
	s.must(err)
	table, err := engine.Open(ctx, spec)
	s.must(err)
	documents, _, err := table.Scan(ctx, docstore.Scan{Where: docstore.All(docstore.IDIndex).Everywhere(), Limit: 1})
	s.must(err)
	var twin bson.D
	s.must(bson.Unmarshal(documents[0], &twin))
	twin[0].Value = 1<<id.PlaceBits | documents[0].Lookup("_id").Int64()%id.Places
	raw, err := bson.Marshal(twin)
	s.must(err)
	errs, err := table.Insert(ctx, []bson.Raw{raw})
	s.must(err)
	s.must(errs[0])
	s.must(engine.Close())
}

func TestServicesMayRunDuringACheckOfMongoDBOnEachStore(t *testing.T) {
	t.Parallel()
	onMongoDB(t, func(t *testing.T, s store) {
		s.fill()
		s.serve(func(*waybooktest.Waybook) {
			s.check(integrity.Look)
			s.check(integrity.Repair)
		})
	})
}
