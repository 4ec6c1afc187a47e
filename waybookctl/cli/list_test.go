package cli

import (
	"errors"
	"slices"
	"strconv"
	"testing"
)

// listed returns a fetch function for a list of total numbers, which records the pages asked for.
func listed(total int, asked *[]pageOf) func(pageOf) ([]int, string, error) {
	return func(page pageOf) (items []int, next string, err error) {
		*asked = append(*asked, page)
		from, _ := strconv.Atoi(page.token)
		for i := from; i < total && i < from+int(page.size); i++ {
			items = append(items, i)
		}
		if end := from + len(items); end < total {
			next = strconv.Itoa(end)
		}
		return items, next, nil
	}
}

func TestAListIsReadPageByPageUpToTheLimit(t *testing.T) {
	for _, test := range []struct {
		total       int
		most        uint
		want, calls int
	}{
		{0, 0, 0, 1}, {5, 0, 5, 1}, {250, 0, 250, 3}, {250, 100, 100, 1}, {250, 101, 101, 2}, {250, 300, 250, 3}, {5, 1, 1, 1},
	} {
		var asked []pageOf
		got := 0
		for item, err := range pages(limit{test.most}, listed(test.total, &asked)) {
			if err != nil || item != got {
				t.Fatalf("%d, %v, want %d", item, err, got)
			}
			got++
		}
		if got != test.want || len(asked) != test.calls {
			t.Errorf("%+v: %d items in %d calls", test, got, len(asked))
		}
	}
}

func TestNoPageIsFetchedBeforeItIsNeeded(t *testing.T) {
	var asked []pageOf
	for item, err := range pages(limit{}, listed(1000, &asked)) {
		if err != nil {
			t.Fatal(err)
		}
		if item == pageSize-1 {
			break
		}
	}
	if !slices.Equal(asked, []pageOf{{size: pageSize}}) {
		t.Errorf("asked for %v", asked)
	}
}

func TestPageSizesStayWithinTheLimit(t *testing.T) {
	var asked []pageOf
	for _, err := range pages(limit{130}, listed(1000, &asked)) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(asked, []pageOf{{pageSize, ""}, {30, "100"}}) {
		t.Errorf("asked for %v", asked)
	}
}

func TestAListThatFailsEndsWithTheFailure(t *testing.T) {
	broken := errors.New("broken")
	var last error
	count := 0
	for _, err := range pages(limit{}, func(page pageOf) ([]int, string, error) {
		if page.token != "" {
			return nil, "", broken
		}
		return []int{1, 2}, "more", nil
	}) {
		count, last = count+1, err
	}
	if count != 3 || !errors.Is(last, broken) {
		t.Errorf("%d items, the last with %v", count, last)
	}
}
