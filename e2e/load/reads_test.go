package load

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/waybooktest"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// site is a program on a store of some size.
type site struct {
	store
	process *launch.Process
	client  *waybooktest.Client
	pois    poiv1.PoiServiceClient
	// page100 is the page token of the hundredth page of ten landmarks.
	page100 string
}

func startSite(b *testing.B, size int) *site {
	b.Helper()
	s := &site{store: filled(b, "太魯閣國家公園遊客中心", size, size)}
	s.process = launch.Start(b, binary, s.data, "-demo=false")
	s.pois = poiv1.NewPoiServiceClient(launch.Dial(b, s.process.GRPC))
	s.client = waybooktest.ClientAt(b, s.process.HTTP)
	for range 99 {
		s.page100 = s.page(b, s.page100)
	}
	return s
}

// page reads a page of ten landmarks and returns the next page token.
func (s *site) page(b *testing.B, token string) string {
	b.Helper()
	reply, err := s.pois.ListPois(b.Context(), &poiv1.ListPoisRequest{Category: category, PageSize: 10, PageToken: token})
	if err != nil || len(reply.GetPois()) != 10 {
		b.Fatalf("a page of %d, %v", len(reply.GetPois()), err)
	}
	return reply.GetNextPageToken()
}

func (s *site) get(b *testing.B, query string) {
	b.Helper()
	s.client.Get(query).MustSucceed(b)
}

// BenchmarkReadsAt1000And200000 reads in turns from a small store and a large one,
// so that both meet the same machine, and reports how much dearer the large one is
// (rule 15.6: within 1.2).
func BenchmarkReadsAt1000And200000(b *testing.B) {
	sites := [2]*site{startSite(b, 1_000), startSite(b, 200_000)}
	for _, read := range []struct {
		name string
		run  func(*testing.B, *site)
	}{
		{"getAlbum", func(b *testing.B, s *site) {
			s.get(b, fmt.Sprintf("func=getAlbum&albumID=%d", s.albums[rand.IntN(len(s.albums))]))
		}},
		{"getPOI", func(b *testing.B, s *site) {
			s.get(b, fmt.Sprintf("func=getPOI&POIID=%d", s.store.pois[rand.IntN(len(s.store.pois))]))
		}},
		{"ListPois page 100", func(b *testing.B, s *site) { s.page(b, s.page100) }},
	} {
		b.Run(read.name, func(b *testing.B) {
			var spent [2]time.Duration
			for b.Loop() {
				for i, s := range sites {
					began := time.Now()
					read.run(b, s)
					spent[i] += time.Since(began)
				}
			}
			b.ReportMetric(float64(spent[0].Nanoseconds())/float64(b.N), "ns/small")
			b.ReportMetric(float64(spent[1].Nanoseconds())/float64(b.N), "ns/large")
			b.ReportMetric(spent[1].Seconds()/spent[0].Seconds(), "ratio")
		})
	}
}
