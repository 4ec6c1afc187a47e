package scale

import (
	"math"
	"time"
)

// The unit of load: docs/scale.md.
const (
	unitAlbums   = 1e6
	unitRequests = 100 // per second
	writeShare   = 0.1
	// albumBytes is what an album with its photos and comments takes with its indexes.
	albumBytes = 14_000
)

// Budget is what one shard may do. None of it was measured: no cluster was available.
type Budget struct {
	// Queries and Writes are per second.
	Queries, Writes float64
	Bytes           float64
	// Updates is how often one document may change in a second.
	Updates float64
}

// Estimated returns the budget that docs/scale.md counts with.
func Estimated() Budget {
	return Budget{Queries: 20_000, Writes: 3_000, Bytes: 2e12, Updates: 1_000}
}

// step is what a kind of request does in the store besides the session check of a write.
type step struct {
	operation       string
	share           float64 // of the reads, or of the writes
	queries, writes float64
	asksAll         bool
}

// albumReads is the share of getAlbum in the reads, and albumQueries are its queries: the
// album, its photos and its comments.
const (
	albumReads   = 0.60
	albumQueries = 3
)

// readSteps are an assumed mix. The queries are those of the code.
func readSteps() []step {
	return []step{
		{operation: "getAlbum", share: albumReads, queries: albumQueries},
		{operation: "getUserAlbumList", share: 0.16, queries: 1},
		{operation: "getPOI", share: 0.12, queries: 3},
		{operation: "getBlog", share: 0.10, queries: 2},
		{operation: "getCategoryPOIList", share: 0.02, queries: 1, asksAll: true},
	}
}

// The shares of the writes that change an album in demand: comments, whose identifiers are in
// order, and recommendations, whose identifiers are not.
const (
	comments        = 10 / 22.5
	recommendations = 1 / 22.5
)

// writeSteps are creates in the proportions of the model's documents.
func writeSteps() []step {
	const creates = 10 + 10 + 1 + 1 + 0.5
	return []step{
		{operation: "addPhoto", share: 10 / creates, queries: 2, writes: 2},
		{operation: "addComment", share: 10 / creates, queries: 1, writes: 2},
		{operation: "addAlbum", share: 1 / creates, queries: 1, writes: 1},
		{operation: "recommend", share: 1 / creates, queries: 4, writes: 3},
		{operation: "postBlog", share: 0.5 / creates, queries: 3, writes: 4},
	}
}

// sum adds up the queries and writes of a mix per request. broadcasts are the queries that ask
// all shards; queries are the others.
func sum(steps []step) (queries, writes, broadcasts float64) {
	for _, s := range steps {
		writes += s.share * s.writes
		if s.asksAll {
			broadcasts += s.share * s.queries
		} else {
			queries += s.share * s.queries
		}
	}
	return queries, writes, broadcasts
}

// Load is what a multiple of the unit asks of the parts of the system, per second.
type Load struct {
	Factor, Albums, Requests, Bytes float64
	Names                           Asked
	// Queries and Writes go to placed collections and sessions, one shard each.
	Queries, Writes float64
	// Broadcasts go to every shard, UserQueries to the shard of users.
	Broadcasts, UserQueries float64
	// HotRequests and HotCreates are those of the hottest album.
	HotRequests, HotComments, HotUpdates float64
	// Cores are those of edges and of services that are busy.
	EdgeCores, ServiceCores float64
}

// The CPU time of programs per request, from docs/performance-tables.md ("Each service a process").
const (
	readCPU     = 240 * time.Microsecond // getAlbum-children
	writeCPU    = 528 * time.Microsecond // addAlbum
	edgeReadCPU = 132 * time.Microsecond // of readCPU, in the edge's process
	// callCPU is what a call for names is assumed to add: a bare getAlbum's service and half of
	// its edge are 64 and 46.
	callCPU = 110 * time.Microsecond
)

// busiest is how many albums per second one process of the album service shows at the most in
// the simulation of its names.
const busiest = 1000

// NewLoad returns the load of a multiple of the unit.
func NewLoad(factor float64, names Asked) Load {
	l := Load{Factor: factor, Albums: factor * unitAlbums, Requests: factor * unitRequests, Bytes: factor * unitAlbums * albumBytes, Names: names}
	reads, writes := l.Requests*(1-writeShare), l.Requests*writeShare
	readQueries, _, broadcasts := sum(readSteps())
	writeQueries, storeWrites, _ := sum(writeSteps())
	const sessions = 1
	l.Queries = reads*readQueries + writes*(writeQueries+sessions)
	l.Writes = writes * storeWrites
	l.Broadcasts = reads * broadcasts
	albums := reads * albumReads
	l.UserQueries = albums*names.Calls + writes
	hot := HottestAlbum(l.Albums)
	l.HotRequests = albums * hot
	l.HotComments = writes * comments * hot
	l.HotUpdates = writes * (comments + recommendations) * hot
	l.EdgeCores = reads*edgeReadCPU.Seconds() + writes*writeCPU.Seconds()/2
	l.ServiceCores = reads*(readCPU-edgeReadCPU).Seconds() + writes*writeCPU.Seconds()/2 + albums*names.Calls*callCPU.Seconds()
	return l
}

// SimulateNames returns how often names are asked for at a multiple of the unit.
func SimulateNames(factor float64, seed uint64) Asked {
	shown := factor * unitRequests * (1 - writeShare) * albumReads
	processes := math.Ceil(shown / busiest)
	return Names{
		Albums: factor * unitAlbums, Owners: int(factor * unitAlbums / AlbumsPerOwner),
		Rate: shown / processes, For: namesTTL, Seed: seed,
	}.Run()
}

// Shards returns how many shards keep each shard at half of its budget.
func (l Load) Shards(b Budget) int {
	half := func(load, limit float64) float64 { return math.Ceil(load / (limit / 2)) }
	byQueries := math.Ceil(l.Queries / (b.Queries/2 - l.Broadcasts))
	return int(max(1, byQueries, half(l.Writes, b.Writes), half(l.Bytes, b.Bytes)))
}

// Bound is a part of the system and the share of its limit that a load uses.
type Bound struct {
	Name string
	Used float64
}

// idsPerSecond is the number of identifiers of a place that the clock allows.
const idsPerSecond = 1000.0 / 16

// Bounds returns the parts that more shards or processes do not help.
func (l Load) Bounds(b Budget) []Bound {
	mean := l.Queries/float64(l.Shards(b)) + l.Broadcasts
	return []Bound{
		{"one shard for everything", max((l.Queries+l.Broadcasts+l.UserQueries)/b.Queries, l.Writes/b.Writes, l.Bytes/b.Bytes)},
		{"identifiers in the hottest place", l.HotComments / idsPerSecond},
		{"the shard of the users", l.UserQueries / b.Queries},
		{"the shard of the hottest album", (mean + l.HotRequests*albumQueries) / b.Queries},
		{"updates of the hottest album", l.HotUpdates / b.Updates},
		{"queries that ask all shards", l.Broadcasts / b.Queries},
	}
}
