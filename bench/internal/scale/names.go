package scale

import (
	"container/list"
	"math/rand/v2"
	"time"
)

// The cache of names in a process: internal/content/profiles.
const (
	cachedNames = 20_000
	namesTTL    = 30 * time.Second
	// commenters is the number of comments of an album, each with its author's name.
	commenters = 10
)

// Names describes the names that one process of the album service shows.
type Names struct {
	Albums float64
	Owners int
	// Rate is the number of albums shown per second, For how long, after as long a start.
	Rate float64
	For  time.Duration
	Seed uint64
}

// Asked is how often a process asks for names.
type Asked struct {
	// Calls is the share of the albums shown for which the process calls the account service.
	// Users is the number of users in such a call.
	Calls, Users float64
}

// Run simulates a cache that drops the name that was used least recently. Albums are requested
// by Zipf's law, and so are their owners and commenters distributed over the users.
func (n Names) Run() Asked {
	random := rand.New(rand.NewPCG(n.Seed, readers)) // #nosec G404 -- no secret
	albums, users := newZipf(1, int(n.Albums), 0), newZipf(1, n.Owners, 0)
	cache := newCache()
	shown := int(n.Rate * n.For.Seconds())
	var calls, asked int
	for i := range 2 * shown {
		now := time.Duration(float64(i) / n.Rate * float64(time.Second))
		album := uint64(albums.rankAt(random.Float64()))
		missed := 0
		for user := range uint64(1 + commenters) {
			u := float64(mix(n.Seed+album, user)>>11) / (1 << 53)
			if !cache.use(users.rankAt(u), now) {
				missed++
			}
		}
		if i >= shown && missed > 0 {
			calls++
			asked += missed
		}
	}
	return Asked{Calls: float64(calls) / float64(shown), Users: float64(asked) / float64(max(1, calls))}
}

// cache remembers the names that were used most recently.
type cache struct {
	order *list.List
	names map[int]*list.Element
}

type name struct {
	user    int
	expires time.Duration
}

func newCache() *cache { return &cache{order: list.New(), names: map[int]*list.Element{}} }

// use reports whether the cache has a user's name, and stores it if not.
func (c *cache) use(user int, now time.Duration) bool {
	if element, ok := c.names[user]; ok {
		c.order.MoveToFront(element)
		entry := element.Value.(*name)
		if entry.expires > now {
			return true
		}
		entry.expires = now + namesTTL
		return false
	}
	if c.order.Len() == cachedNames {
		oldest := c.order.Back()
		delete(c.names, oldest.Value.(*name).user)
		c.order.Remove(oldest)
	}
	c.names[user] = c.order.PushFront(&name{user: user, expires: now + namesTTL})
	return false
}
