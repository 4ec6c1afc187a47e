package history_test

import (
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/faults/history"
)

var albums = history.List{Kind: "album", Owner: "7"}

// at returns a span in milliseconds.
func at(begin, end int) history.Span {
	return history.Span{Begin: time.Duration(begin) * time.Millisecond, End: time.Duration(end) * time.Millisecond}
}

func added(span history.Span, value string, id int64) history.Add {
	return history.Add{Span: span, List: albums, Value: value, ID: id}
}

func put(span history.Span, value string, isAcknowledged bool) history.Put {
	return history.Put{Span: span, Thing: "album/1", Value: value, IsAcknowledged: isAcknowledged}
}

func read(span history.Span, value string) history.Read {
	return history.Read{Span: span, Thing: "album/1", Value: value}
}

func listed(span history.Span, items ...history.Item) history.Listing {
	return history.Listing{Span: span, List: albums, Items: items}
}

func TestTheCheckerFindsEachBrokenPromise(t *testing.T) {
	one := added(at(0, 1), "a", 1)
	for name, c := range map[string]struct {
		rule   string
		events []any
	}{
		"an acknowledged thing is missing":           {history.Lost, []any{one, read(at(2, 3), history.Gone)}},
		"an acknowledged change is missing":          {history.Lost, []any{one, put(at(2, 3), "b", true), read(at(4, 5), "a")}},
		"a deleted thing is back":                    {history.Lost, []any{one, put(at(2, 3), history.Gone, true), read(at(4, 5), "a")}},
		"a value that was never written":             {history.Invented, []any{one, read(at(2, 3), "z")}},
		"a change before its request":                {history.Lost, []any{one, read(at(2, 3), "b"), put(at(4, 5), "b", true)}},
		"a list without an acknowledged thing":       {history.Lost, []any{one, listed(at(2, 3))}},
		"a list with a thing that was never created": {history.Invented, []any{listed(at(2, 3), history.Item{ID: 9, Value: "z"})}},
		"a list with a deleted thing":                {history.Lost, []any{one, put(at(2, 3), history.Gone, true), listed(at(4, 5), history.Item{ID: 1, Value: "a"})}},
		"a list with a thing twice":                  {history.Twice, []any{one, listed(at(2, 3), history.Item{ID: 1, Value: "a"}, history.Item{ID: 1, Value: "a"})}},
		"a list that shows an old value":             {history.Lost, []any{one, put(at(2, 3), "b", true), listed(at(4, 5), history.Item{ID: 1, Value: "a"})}},
		"an acknowledged request done twice":         {history.Twice, []any{one, listed(at(2, 3), history.Item{ID: 1, Value: "a"}, history.Item{ID: 2, Value: "a"})}},
		"an unacknowledged request done twice":       {history.Twice, []any{added(at(0, 1), "a", 0), listed(at(2, 3), history.Item{ID: 1, Value: "a"}, history.Item{ID: 2, Value: "a"})}},
		"a repeat that creates another":              {history.Twice, []any{one, added(at(2, 3), "a", 2)}},
		"a recommendation that does not count":       {history.Miscounted, []any{history.Mark{Tally: "x", Member: "7", IsAcknowledged: true}, history.Count{Tally: "x", Count: 0}}},
		"a ballot that counts twice":                 {history.Miscounted, []any{history.Mark{Tally: "x", Member: "7", IsAcknowledged: true}, history.Mark{Tally: "x", Member: "7"}, history.Count{Tally: "x", Count: 2}}},
		"a reward that is missing":                   {history.Miscounted, []any{one, history.Rewarded{List: albums, Count: 0}}},
		"two rewards for one thing":                  {history.Miscounted, []any{one, history.Rewarded{List: albums, Count: 2}}},
		"a reward for an unacknowledged entry is missing": {history.Miscounted, []any{
			added(at(0, 1), "a", 0), listed(at(2, 3), history.Item{ID: 5, Value: "a"}), history.Rewarded{List: albums, Count: 0},
		}},
		"a violation reported by a client": {history.Malformed, []any{history.Violation{Rule: history.Malformed}}},
	} {
		t.Run(name, func(t *testing.T) {
			h := history.New()
			h.Record(c.events...)
			found := h.Check()
			if len(found) != 1 || found[0].Rule != c.rule {
				t.Errorf("found %v, want one of %q", found, c.rule)
			}
		})
	}
}

func TestTheCheckerAcceptsValidHistories(t *testing.T) {
	one := added(at(0, 1), "a", 1)
	for name, events := range map[string][]any{
		"a change that was not acknowledged happened":       {one, put(at(2, 3), "b", false), read(at(4, 5), "b")},
		"a change that was not acknowledged did not happen": {one, put(at(2, 3), "b", false), read(at(4, 5), "a")},
		"a change in flight is seen":                        {one, put(at(2, 5), "b", true), read(at(3, 4), "b")},
		"a change in flight is not seen":                    {one, put(at(2, 5), "b", true), read(at(3, 4), "a")},
		"a deletion that was not acknowledged happened":     {one, put(at(2, 3), history.Gone, false), read(at(4, 5), history.Gone), listed(at(6, 7))},
		"a creation that was not acknowledged happened":     {added(at(0, 1), "a", 0), listed(at(2, 3), history.Item{ID: 4, Value: "a"}), history.Rewarded{List: albums, Count: 1}},
		"a creation that was not acknowledged did not":      {added(at(0, 1), "a", 0), listed(at(2, 3)), history.Rewarded{List: albums, Count: 0}},
		"a creation in flight is listed":                    {added(at(0, 5), "a", 1), listed(at(2, 3), history.Item{ID: 1, Value: "a"})},
		"a repeat returns the same":                         {added(at(0, 1), "a", 0), added(at(2, 3), "a", 1), added(at(4, 5), "a", 1), listed(at(6, 7), history.Item{ID: 1, Value: "a"})},
		"a thing exists before a repeat is acknowledged":    {added(at(0, 1), "a", 0), listed(at(2, 3), history.Item{ID: 1, Value: "a"}), read(at(3, 4), "a"), added(at(5, 6), "a", 1)},
		"a ballot that was not acknowledged counts":         {history.Mark{Tally: "x", Member: "7"}, history.Count{Tally: "x", Count: 1}},
		"a ballot that was not acknowledged does not":       {history.Mark{Tally: "x", Member: "7"}, history.Count{Tally: "x", Count: 0}},
		"a deleted entry was rewarded":                      {one, put(at(2, 3), history.Gone, true), listed(at(4, 5)), history.Rewarded{List: albums, Count: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			h := history.New()
			h.Record(events...)
			if found := h.Check(); len(found) > 0 {
				t.Errorf("found %v", found)
			}
		})
	}
}
