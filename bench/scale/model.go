package main

import (
	"fmt"
	"math"
	"strconv"

	"github.com/waybook/waybook/bench/internal/report"
)

// The unit of load: docs/scale.md.
const (
	unitAlbums   = 1e6
	unitRequests = 100 // per second
	// albumBytes is what an album with its photos and comments takes with its indexes.
	albumBytes = 14_000
)

// An assumed mix. 10 % of the requests are writes. Of the reads, 60 % are getAlbum, 16 % getUserAlbumList, 12 %
// getPOI, 10 % getBlog, and 2 % getCategoryPOIList, which asks all shards. The queries are those of the code.
const (
	writeShare     = 0.1
	albumReads     = 0.60
	albumQueries   = 3 // the album, its photos and its comments
	readQueries    = albumReads*albumQueries + 0.16*1 + 0.12*3 + 0.10*2
	readBroadcasts = 0.02 * 1
)

// The writes are creates in the proportions of the model's documents: for each album ten photos, ten comments, a
// recommendation and half an entry.
const (
	creates         = 1 + 10 + 10 + 1 + 0.5
	comments        = 10 / creates
	recommendations = 1 / creates
	sessionQueries  = 1
	writeQueries    = (1*1+10*2+10*1+1*4+0.5*3)/creates + sessionQueries
	writeWrites     = (1*1 + 10*2 + 10*2 + 1*3 + 0.5*4) / creates
)

// The budget of one shard. None of it was measured: no cluster was available.
const (
	shardQueries = 20_000 // per second
	shardWrites  = 3_000  // per second
	shardBytes   = 2e12
	// documentUpdates is how often one document may change in a second.
	documentUpdates = 1_000
	// idsPerSecond is the number of identifiers of a place that the clock allows.
	idsPerSecond = 1000.0 / 16
)

// The CPU time of programs per request, in seconds, each service a process, on 2026-11-21 (docs/scale.md).
const (
	readCPU     = 240e-6 // getAlbum-children
	writeCPU    = 528e-6 // addAlbum
	edgeReadCPU = 132e-6 // of readCPU, in the edge's process
	// callCPU is what a call for names is assumed to add: a bare getAlbum's service and half of
	// its edge are 64 and 46.
	callCPU = 110e-6
)

// unit is a multiple of the unit of load.
type unit struct {
	factor float64
	// nameCalls is the share of the albums shown for which a process asks for names, with a cache of 20,000
	// for 30 seconds, as simulated at commit 9f35df6.
	nameCalls float64
}

// units are the multiples in the tables.
func units() []unit { return []unit{{1, 0.674691}, {10, 0.583086}, {100, 0.644963}, {1000, 0.692967}} }

// load is what a multiple of the unit asks of the parts of the system, per second.
type load struct {
	requests, bytes float64
	// queries and writes go to placed collections and sessions, one shard each.
	queries, writes float64
	// broadcasts go to every shard, userQueries to the shard of users.
	broadcasts, userQueries float64
	// hotRequests, hotComments and hotUpdates are those of the hottest album.
	hotRequests, hotComments, hotUpdates float64
	// edgeCores and serviceCores are busy.
	edgeCores, serviceCores float64
}

// newLoad returns the load of a multiple of the unit.
func newLoad(u unit) load {
	albums, requests := u.factor*unitAlbums, u.factor*unitRequests
	reads, writes := requests*(1-writeShare), requests*writeShare
	shown := reads * albumReads
	// Zipf's law with exponent 1: the share of the first of all albums is the inverse of 1 + 1/2 + … + 1/albums.
	const gamma = 0.57721566490153286
	hottest := 1 / (math.Log(albums) + gamma)
	return load{
		requests: requests, bytes: albums * albumBytes,
		queries: reads*readQueries + writes*writeQueries, writes: writes * writeWrites,
		broadcasts: reads * readBroadcasts, userQueries: shown*u.nameCalls + writes,
		hotRequests: shown * hottest, hotComments: writes * comments * hottest, hotUpdates: writes * (comments + recommendations) * hottest,
		edgeCores:    reads*edgeReadCPU + writes*writeCPU/2,
		serviceCores: reads*(readCPU-edgeReadCPU) + writes*writeCPU/2 + shown*u.nameCalls*callCPU,
	}
}

// shards returns how many shards keep each shard at half of its budget.
func (l load) shards() float64 {
	return max(1, math.Ceil(l.queries/(shardQueries/2-l.broadcasts)), math.Ceil(l.writes/(shardWrites/2)), math.Ceil(l.bytes/(shardBytes/2)))
}

// bound is a part of the system and the share of its limit that a load uses.
type bound struct {
	name string
	used float64
}

// bounds returns the parts that more shards or processes do not help.
func (l load) bounds() []bound {
	mean := l.queries/l.shards() + l.broadcasts
	return []bound{
		{"one shard for everything", max((l.queries+l.broadcasts+l.userQueries)/shardQueries, l.writes/shardWrites, l.bytes/shardBytes)},
		{"identifiers in the hottest place", l.hotComments / idsPerSecond},
		{"the shard of the users", l.userQueries / shardQueries},
		{"the shard of the hottest album", (mean + l.hotRequests*albumQueries) / shardQueries},
		{"updates of the hottest album", l.hotUpdates / documentUpdates},
		{"queries that ask all shards", l.broadcasts / shardQueries},
	}
}

// needs returns the table of what each multiple needs.
func needs() string {
	rows := [][]string{{
		"", "data", "requests/s", "writes/s", "queries/s", "of them to users", "albums shown that ask for names",
		"busy cores of edges", "of services", "shards",
	}}
	for _, u := range units() {
		l := newLoad(u)
		rows = append(rows, []string{
			fmt.Sprintf("%g×", u.factor), terabytes(l.bytes), report.Number(l.requests), report.Number(l.writes),
			report.Number(l.queries + l.broadcasts + l.userQueries), report.Number(l.userQueries), fmt.Sprintf("%.0f %%", 100*u.nameCalls),
			report.Number(l.edgeCores), report.Number(l.serviceCores), fmt.Sprint(l.shards()),
		})
	}
	return report.Markdown(rows)
}

// bounds returns the table of the load as a part of each limit.
func bounds() string {
	header, rows := []string{""}, [][]string{}
	for i, u := range units() {
		header = append(header, fmt.Sprintf("%g×", u.factor))
		for n, bound := range newLoad(u).bounds() {
			if i == 0 {
				rows = append(rows, []string{bound.name})
			}
			rows[n] = append(rows[n], twoDigits(bound.used))
		}
	}
	for n := range rows {
		rows[n] = append(rows[n], fullAt(n))
	}
	return report.Markdown(append([][]string{append(header, "full at")}, rows...))
}

// fullAt returns the multiple at which the n-th part reaches its limit, between those of the table by a
// straight line on logarithmic axes.
func fullAt(n int) string {
	all := units()
	for i := 1; i < len(all); i++ {
		low, high := math.Log(newLoad(all[i-1]).bounds()[n].used), math.Log(newLoad(all[i]).bounds()[n].used)
		if low <= 0 && high > 0 {
			step := math.Log(all[i].factor / all[i-1].factor)
			return fmt.Sprintf("%.0f×", all[i-1].factor*math.Exp(step*-low/(high-low)))
		}
	}
	return "above 1000×"
}

// terabytes formats a number of bytes.
func terabytes(n float64) string {
	if n < 1e12 {
		return fmt.Sprintf("%.3g GB", n/1e9)
	}
	return fmt.Sprintf("%.3g TB", n/1e12)
}

// twoDigits formats a number with two significant digits.
func twoDigits(n float64) string {
	digits := math.Pow(10, 1-math.Floor(math.Log10(n)))
	return strconv.FormatFloat(math.Round(n*digits)/digits, 'f', -1, 64)
}
