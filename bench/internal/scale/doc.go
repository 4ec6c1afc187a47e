// Package scale simulates Waybook on a sharded MongoDB cluster: how documents and requests
// spread over the shards by their places, what the balancer moves, how identifiers are drawn in
// one place, and which part reaches its limit first as the load grows. Each result depends only
// on the settings and the seed. docs/scale.md shows the results.
package scale
