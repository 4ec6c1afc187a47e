package scale_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybook/waybook/bench/internal/scale"
)

const docs = "../../../docs"

// guided returns the sections whose results are compared with docs/scale.md: with
// WAYBOOK_SCALE=1 all of them.
func guided() []func(uint64) scale.Section {
	if os.Getenv("WAYBOOK_SCALE") == "1" {
		return scale.Sections()
	}
	return []func(uint64) scale.Section{scale.Growth}
}

func TestTheGuideHasTheTablesAndPlotsOfTheProgram(t *testing.T) {
	guide, err := os.ReadFile(filepath.Join(docs, "scale.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, simulate := range guided() {
		section := simulate(scale.Seed)
		for _, table := range section.Tables {
			var printed bytes.Buffer
			table.Print(&printed)
			for line := range strings.Lines(printed.String()) {
				if strings.HasPrefix(line, "|") && !strings.Contains(string(guide), line) {
					t.Errorf("%s: docs/scale.md lacks\n%s", table.Title, line)
				}
			}
		}
		for name, plot := range section.Plots {
			var drawn bytes.Buffer
			if err := plot.WriteSVG(&drawn); err != nil {
				t.Fatal(err)
			}
			committed, err := os.ReadFile(filepath.Join(docs, "images", name))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(drawn.Bytes(), committed) {
				t.Errorf("docs/images/%s is not what the program writes; run go run ./bench/scale -images docs/images", name)
			}
			if !strings.Contains(string(guide), "images/"+name) {
				t.Errorf("docs/scale.md does not show %s", name)
			}
		}
	}
}

func TestAPlotIsWellFormed(t *testing.T) {
	plot := scale.Plot{
		Title: "A", X: "x", Y: "y", XTicks: []float64{1, 10}, YTicks: []float64{1, 100}, Limit: 3, LimitLabel: "limit",
		Lines: []scale.Line{{Name: "one", X: []float64{1, 10}, Y: []float64{1, 1000}}},
	}
	var drawn bytes.Buffer
	if err := plot.WriteSVG(&drawn); err != nil {
		t.Fatal(err)
	}
	decoder, circles := xml.NewDecoder(&drawn), 0
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "circle" {
			circles++
		}
	}
	if circles != 2 {
		t.Errorf("drew %d values, want 2", circles)
	}
}

// small is a population that is filled quickly.
func small(most float64) scale.World {
	return scale.NewWorld(scale.Population{Albums: 2e6, Cap: most, Seed: 7})
}

func TestAllAlbumsHaveAPlaceWithAndWithoutACap(t *testing.T) {
	for _, most := range []float64{0, 1000, 100} {
		w := small(most)
		if got := w.AlbumsIn.Sum(); math.Abs(got/2e6-1) > 1e-4 {
			t.Errorf("cap %g: %g albums have a place, want 2e6", most, got)
		}
		if first := w.Share() * 2e6; most > 0 && first > most*1.0001 {
			t.Errorf("cap %g: the first owner has %g albums", most, first)
		}
		// Fewer bits and any number of shards hold the same albums.
		if got := w.AlbumsIn.Fold(12).Sum(); math.Abs(got/w.AlbumsIn.Sum()-1) > 1e-9 {
			t.Errorf("cap %g: %g albums have a place of 12 bits", most, got)
		}
	}
}

func TestEachSeedDrawsOtherPlacesAndTheSameOneAgain(t *testing.T) {
	draw := func(seed uint64) scale.Places {
		return scale.NewWorld(scale.Population{Albums: 2e5, Seed: seed}).All()
	}
	first, again, other := draw(1), draw(1), draw(2)
	differ := 0
	for i := range first {
		if first[i] != again[i] {
			t.Fatalf("place %d: %g, then %g", i, first[i], again[i])
		}
		if first[i] != other[i] {
			differ++
		}
	}
	if differ < len(first)/2 {
		t.Errorf("only %d places differ between two seeds", differ)
	}
}

func TestRequestsAddUpAndTheHottestAlbumHasOnePlace(t *testing.T) {
	w := small(0)
	requests := w.Requests()
	if sum := requests.Sum(); math.Abs(sum-1) > 1e-6 {
		t.Errorf("the shares add up to %g", sum)
	}
	most := 0.0
	for _, share := range requests {
		most = max(most, share)
	}
	if hottest := scale.HottestAlbum(w.Albums); most < hottest {
		t.Errorf("no place has the %g of the hottest album; the most is %g", hottest, most)
	}
}

func TestTheBalancerEvensOutWhatItMayMove(t *testing.T) {
	places := make(scale.Places, 64)
	for i := range places {
		places[i] = 100 << 20
	}
	cluster := scale.NewCluster(places, 4, scale.RangeSize)
	if moves := cluster.Balance(); moves.Bytes != 0 {
		t.Errorf("moved %g bytes of an even cluster", moves.Bytes)
	}
	cluster.AddShards(4)
	moves := cluster.Balance()
	if moves.Ranges < 24 || moves.Rounds < 6 {
		t.Errorf("%+v: a move takes one range and a shard takes part in one move a round", moves)
	}
	for i, n := range cluster.PerShard(places) {
		if n < 6*100<<20 {
			t.Errorf("shard %d has %g bytes after balancing", i, n)
		}
	}
}

func TestTheBalancerLeavesAJumboPlaceWhereItIs(t *testing.T) {
	places := make(scale.Places, 16)
	for i := range places {
		places[i] = 64 << 20
	}
	places[0] = 4 << 30
	marked := make(scale.Places, 16)
	marked[0] = 1
	cluster := scale.NewCluster(places, 2, scale.RangeSize)
	cluster.Balance()
	bytesOf, jumbo := cluster.PerShard(places), cluster.PerShard(marked)
	if jumbo[0] != 1 || bytesOf[0] != 4<<30 {
		t.Errorf("shards have %v bytes, and the jumbo place is at %v", bytesOf, jumbo)
	}
}

func TestAnEvenSplitOverFourTimesAsManyShardsMovesThreeQuarters(t *testing.T) {
	places := make(scale.Places, 1<<12)
	for i := range places {
		places[i] = 1
	}
	if moved := scale.EvenMoves(places, 4, 16) / places.Sum(); moved != 0.75 {
		t.Errorf("moved %g", moved)
	}
}

// hot is more than one place can do in time, with a restart.
func hot(policy scale.Policy) scale.Drawn {
	return scale.Draws{
		Tick: 16 * time.Millisecond, Sources: 4, Rate: 200, For: 2 * time.Minute, Restart: time.Minute, Policy: policy, Seed: 3,
	}.Run()
}

func TestASourceThatReadsTheHighestIdentifierSurvivesARestart(t *testing.T) {
	next, read := hot(scale.NextTick), hot(scale.ReadHighest)
	if next.Failed == 0 {
		t.Error("the next tick never failed")
	}
	if read.Failed != 0 || read.Inserts > 3 {
		t.Errorf("after the highest: %+v", read)
	}
	// 200/s are 3.2 ticks for each tick of the clock, for 2 minutes.
	if read.Ahead < 4*time.Minute || read.Ahead > 5*time.Minute {
		t.Errorf("ran ahead by %v", read.Ahead)
	}
}

func TestBelowTheRateOfTheClockIdentifiersStayWithIt(t *testing.T) {
	result := scale.Draws{Tick: 16 * time.Millisecond, Sources: 4, Rate: 20, For: time.Minute, Policy: scale.ReadHighest, Seed: 3}.Run()
	if result.Failed != 0 || result.Inserts > 1.5 || result.Ahead > time.Second {
		t.Errorf("%+v", result)
	}
	spread := scale.Import{Rate: 10_000, For: 2 * time.Second, Tick: 16 * time.Millisecond, Bits: scale.PlaceBits, Seed: 3}.Run()
	if spread > 1200*time.Millisecond {
		t.Errorf("an import ran ahead by %v", spread)
	}
	crowded := scale.Import{Rate: 10_000, For: 2 * time.Second, Tick: 16 * time.Millisecond, Bits: 4, Seed: 3}.Run()
	if crowded < 2*time.Second {
		t.Errorf("an import into 16 places ran ahead by only %v", crowded)
	}
}

func TestFewUsersAreAskedForOnceAndManyAgain(t *testing.T) {
	ask := func(owners int) scale.Asked {
		return scale.Names{Albums: 1e8, Owners: owners, Rate: 300, For: 20 * time.Second, Seed: 1}.Run()
	}
	if few := ask(100); few.Calls > 0.05 {
		t.Errorf("100 users: %+v", few)
	}
	if many := ask(50_000_000); many.Calls < 0.5 || many.Users < 2 {
		t.Errorf("50 million users: %+v", many)
	}
}

func TestNoShardIsAboveHalfOfItsBudget(t *testing.T) {
	budget := scale.Estimated()
	for _, factor := range []float64{1, 30, 100, 1000} {
		l := scale.NewLoad(factor, scale.Asked{Calls: 0.7, Users: 5})
		shards := float64(l.Shards(budget))
		for what, used := range map[string]float64{
			"queries": (l.Queries/shards + l.Broadcasts) / budget.Queries, "writes": l.Writes / shards / budget.Writes, "bytes": l.Bytes / shards / budget.Bytes,
		} {
			if used > 0.5001 {
				t.Errorf("%g×: %s of a shard are %g of its budget", factor, what, used)
			}
		}
	}
}
