package heap

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

const mib = 1 << 20

func TestAHeapGrowsByTheMinimumUntilThePercentageIsMore(t *testing.T) {
	for live, want := range map[int64]int{
		0: 1600, mib: 1600, 4 * mib: 1600, 8 * mib: 800, 16 * mib: 400, 32 * mib: 200, 64 * mib: 200, 8192 * mib: 200,
	} {
		if got := percentFor(64*mib, live); got != want {
			t.Errorf("at %d MiB the heap may grow by %d %%, want %d %%", live/mib, got, want)
		}
	}
	if got := percentFor(0, mib); got != percent {
		t.Errorf("without a minimum the heap may grow by %d %%", got)
	}
}

func TestASteadyLoadKeepsItsGrowth(t *testing.T) {
	for _, perSecond := range []int64{1 << 10, 100 << 10, 1 << 20, 5 << 18, 3 << 19, 7 << 18, 2 << 20, 100 << 20} {
		now := time.Unix(0, 0)
		s := state{collected: now}
		changes := 0
		for range 20 {
			next := int64(smallest * percent / 100)
			if s.isBusy {
				next = int64(DefaultGrowth)
			}
			now = now.Add(time.Duration(float64(next) / float64(perSecond) * float64(time.Second)))
			before := s.isBusy
			s = s.after(s.cycles+1, now)
			if s.isBusy != before {
				changes++
			}
		}
		if changes > 1 {
			t.Errorf("at %d bytes of garbage a second the state changed %d times", perSecond, changes)
		}
	}
}

func TestABusyHeapGetsItsGrowthAndAnIdleOneGivesItBack(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	p := NewPacer(64 * mib)
	now := p.state.collected
	cycles := p.state.cycles
	for _, step := range []struct {
		passed time.Duration
		cycles uint64
		live   int64
		want   int
	}{
		{time.Second, 0, 0, 200},              // no collection
		{7 * time.Second, 1, 8 * mib, 200},    // a late one
		{time.Second, 1, 8 * mib, 800},        // an early one
		{time.Second, 0, 8 * mib, 800},        // none yet
		{30 * time.Second, 1, 16 * mib, 400},  // more live data, and a growth that takes its time
		{59 * time.Second, 0, 16 * mib, 400},  // idle for a while
		{2 * time.Second, 0, 16 * mib, 200},   // idle
		{10 * time.Second, 20, 4 * mib, 1600}, // a burst between two looks
	} {
		now = now.Add(step.passed)
		cycles += step.cycles
		p.adjust(reading{cycles, step.live}, now)
		if got := currentPercent(); got != step.want {
			t.Errorf("after %+v the percentage is %d", step, got)
		}
	}
}

func TestARunningPacerSeesCollections(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	ctx, stop := context.WithCancel(t.Context())
	p := NewPacer(int64(DefaultGrowth))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.Run(ctx)
	}()
	for currentPercent() == percent && t.Context().Err() == nil {
		runtime.GC()
	}
	stop()
	<-ended
}

func currentPercent() int {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return int(sample[0].Value.Uint64())
}
