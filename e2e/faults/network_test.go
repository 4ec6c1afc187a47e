//go:build linux

package faults

import "time"

// hit injects a fault into a hop, several times.
func (r *run) hit(pick func() *hop, begin func(*hop)) {
	for range r.times() {
		h := pick()
		begin(h)
		r.hold(shortestHold, longestHold)
		h.heal(r.t.Context())
		r.carry()
	}
}

func (r *run) cut() {
	for range r.times() {
		h := r.anyHop()
		h.cut()
		r.hold(shortestHold, longestHold)
		h.mend(r.t)
		r.carry()
	}
}

func (r *run) delay() {
	r.hit(r.anyHop, func(h *hop) {
		h.trouble(r.t, "latency", replies, map[string]int{"latency": 100 + r.random.IntN(300), "jitter": 50})
	})
}

func (r *run) throttle() {
	r.hit(r.anyHop, func(h *hop) {
		h.trouble(r.t, "bandwidth", replies, map[string]int{"rate": 1 + r.random.IntN(20)})
		h.trouble(r.t, "bandwidth", requests, map[string]int{"rate": 1 + r.random.IntN(20)})
	})
}

// halfWay closes each connection after some bytes.
func (r *run) halfWay(h *hop) {
	direction := []string{requests, replies}[r.random.IntN(2)]
	// The limit has any magnitude: it ends within a handshake, a reply, or between the parts of a
	// list.
	most := 1 << (4 + r.random.IntN(13))
	h.trouble(r.t, "limit_data", direction, map[string]int{"bytes": 1 + r.random.IntN(most)})
}

func (r *run) breakHalfWay() { r.hit(r.anyHop, r.halfWay) }

func (r *run) breakStoreHalfWay() { r.hit(r.anyStoreHop, r.halfWay) }

// swallow forwards requests but drops all replies; in the end, the connections break.
func (r *run) swallow(h *hop) { h.trouble(r.t, "timeout", replies, map[string]int{"timeout": 0}) }

func (r *run) loseReplies() { r.hit(r.anyHop, r.swallow) }

func (r *run) loseStoreReplies() { r.hit(r.anyStoreHop, r.swallow) }

// loseStore disconnects all services from the database.
func (r *run) loseStore() {
	for _, h := range r.fleet.storeHops {
		h.cut()
	}
	r.hold(r.outage, r.outage+time.Second)
	for _, h := range r.fleet.storeHops {
		h.mend(r.t)
	}
}
