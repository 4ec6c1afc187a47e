package sharding_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/waybooktest"
)

// stepsOfOperations are the steps of each operation with nothing in the caches: how many commands
// are in flight together, one step after the other. Those after a semicolon do not delay the reply.
func stepsOfOperations() map[string]string {
	return map[string]string{
		"getAlbum":                            "1 3 1",
		"getAlbum with withIDs":               "1 3 1",
		"getUserAlbumList":                    "1",
		"addAlbum":                            "2 1 1",
		"updateAlbum":                         "2 2",
		"getBlog":                             "1 2 1",
		"getBlog with withIDs":                "1 2 1",
		"getUserBlogList":                     "1",
		"postBlog":                            "2 1 1 2; 1 1",
		"updateBlog":                          "2 2",
		"castVote":                            "2 1 2 1 1 1 1",
		"getPOI":                              "1 3 1",
		"getPOI with withIDs":                 "1 3 1",
		"getCategoryPOIList":                  "1",
		"getNearbyPOIList with lat":           "2 1 1",
		"getNearbyPOIList with latMin":        "1 1",
		"getNearbyAlbumList with lat":         "2 1 1",
		"getNearbyAlbumList with latMin":      "1 1",
		"getNearbyBlogList with lat":          "2 1 1",
		"getNearbyBlogList with latMin":       "1 1",
		"getRecentAlbumList":                  "1 1",
		"getRecentBlogList":                   "1 1",
		"getRecentPOIList":                    "1 1",
		"getUserPOIList":                      "1 1",
		"getDatedBlogList":                    "1 1",
		"getDatedBlogList with userID":        "1 1",
		"addPhoto with albumID":               "2 1 1",
		"addPhoto with POIID":                 "2 1 1",
		"withdrawRecommendation with albumID": "2 2 1 1 1 1",
		"withdrawRecommendation with blogID":  "2 2 1 1 1 1",
		"withdrawRecommendation with POIID":   "2 2 1 1 1 1",
		"login":                               "2 1 1 2",
		"login again":                         "2 1 1 2",
		"ImportPois of two landmarks":         "1 1",
		"ListChanges of albums":               "1 1",
		"MoveIn of two albums":                strings.TrimSpace(strings.Repeat("1 ", 26)),
		"getAlbum of an old identifier":       "1 1 3 1",
		"getAlbum of an old identifier that is no number": "1 1 1",
		"GetAlbum of its title":                           "1",
		"GetAlbum of its photos":                          "1 1",
		"GetBlog of its content":                          "1",
		"GetPoi of its comments":                          "1 1 1",
		"BatchGetAlbums in three places":                  "1 1",
		"SearchNearby of albums":                          "2 1 1",
		"ListAlbums of all":                               "1 1",
		"ListBlogs of all":                                "1 1",
		"addComment with albumID":                         "2 1 1 1",
		"replyComment with albumID":                       "2 2 1 1 1",
		"removeComment with albumID":                      "2 2 1 1",
		"recommend with albumID":                          "2 1 2 1 1 1 1",
		"addComment with blogID":                          "2 1 1 1",
		"replyComment with blogID":                        "2 2 1 1 1",
		"removeComment with blogID":                       "2 2 1 1",
		"recommend with blogID":                           "2 1 2 1 1 1 1",
		"addComment with POIID":                           "2 1 1 1",
		"replyComment with POIID":                         "2 2 1 1 1",
		"removeComment with POIID":                        "2 2 1 1",
		"recommend with POIID":                            "2 1 2 1 1 1 1",
		"removePhoto with albumID":                        "2 2 1 1",
		"removePhoto with POIID":                          "2 2 1 1",
		"updateAlbum with delete":                         "2 1",
		"updateBlog with delete":                          "2 1",
		"ListCommentsByAuthor":                            "1 1",
		"RemoveCommentsByAuthor with kind":                "1",
		"logout":                                          "1 1",
	}
}

// stepsOf returns the steps of an operation.
func stepsOf(t *testing.T, each operation) (steps, after []int) {
	t.Helper()
	before, rest, _ := strings.Cut(stepsOfOperations()[each.name], ";")
	for i, text := range []string{before, rest} {
		for _, field := range strings.Fields(text) {
			n, err := strconv.Atoi(field)
			waybooktest.OK(t, err)
			if i == 0 {
				steps = append(steps, n)
			} else {
				after = append(after, n)
			}
		}
	}
	if len(steps) == 0 {
		t.Fatalf("stepsOfOperations lacks %s", each.name)
	}
	return steps, after
}

// stuck is how long an operation may lack commands before the test gives up: less than the edge
// waits for a service. A test that passes waits for commands only.
const stuck = 8 * time.Second

// gate holds back the commands on documents until as many have arrived as the present step has.
// So the commands of a step are in flight at the same time, and none needs the reply to another.
type gate struct {
	isData func(mongowire.Command) bool

	mu   sync.Mutex
	want []int
	// at is the present step. held are its commands, which wait for release.
	at      int
	held    []string
	release chan struct{}
	// seen are the commands of each step.
	seen []string
}

// choose holds a command back until its step is complete.
func (s *gate) choose(command mongowire.Command) mongowire.Fault {
	if !s.isData(command) {
		return mongowire.Fault{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = append(s.held, command.Name+" "+command.Collection)
	hold := s.release
	if s.at >= len(s.want) || len(s.held) == s.want[s.at] {
		s.pass()
	}
	return mongowire.Fault{Hold: hold}
}

// pass lets the held commands pass. The caller holds mu.
func (s *gate) pass() {
	slices.Sort(s.held)
	s.seen = append(s.seen, strings.Join(s.held, " + "))
	close(s.release)
	s.held, s.release = nil, make(chan struct{})
	s.at++
}

// giveUp lets all commands pass, one by one from now on.
func (s *gate) giveUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.want = nil
	s.pass()
}

// shown returns the commands of each step.
func (s *gate) shown() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for i, each := range s.seen {
		fmt.Fprintf(&b, "\n%d. %s", i+1, each)
	}
	return b.String()
}

// inSteps runs an operation on a process, and checks that its commands come in the operation's
// steps.
func (c *cluster) inSteps(t *testing.T, p *replica, each operation, about material) {
	t.Helper()
	steps, after := stepsOf(t, each)
	want := slices.Concat(steps, after)
	s := &gate{isData: c.isData, want: want, release: make(chan struct{})}
	c.server.SetFaults(s.choose)
	defer c.server.SetFaults(nil)
	tooLong := time.AfterFunc(stuck, s.giveUp)
	each.run(t, p, about)
	waybooktest.OK(t, p.Counting.Wait(t.Context()))
	if !tooLong.Stop() || s.at != len(want) {
		t.Fatalf("%s has other steps than %v:%s", each.name, want, s.shown())
	}
}

// TestCommandsThatNeedNoReplyOfAnotherAreInFlightTogether runs each operation with nothing in the
// caches.
func TestCommandsThatNeedNoReplyOfAnotherAreInFlightTogether(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	about := c.fill(c.start(c.engine))
	for _, each := range operations() {
		c.inSteps(t, c.start(c.engine), each, about)
	}
}
