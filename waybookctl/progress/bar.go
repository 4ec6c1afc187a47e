package progress

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// redrawEvery is how often a bar is drawn at most.
const redrawEvery = 100 * time.Millisecond

// Bar draws a bar on a terminal: how much is done, how fast, and how long it will take.
type Bar struct {
	out  io.Writer
	draw *progressbar.ProgressBar
}

// NewBar returns a reporter that draws on a terminal.
func NewBar(out io.Writer) *Bar { return &Bar{out: out} }

// Start draws an empty bar.
func (b *Bar) Start(stage string, unit Unit, total int64) {
	if total == 0 {
		total = -1 // unknown
	}
	options := []progressbar.Option{
		progressbar.OptionSetWriter(b.out),
		progressbar.OptionSetDescription(stage),
		progressbar.OptionThrottle(redrawEvery),
		progressbar.OptionSetSpinnerChangeInterval(0), // else a goroutine draws too, even after the end
		progressbar.OptionFullWidth(),
		progressbar.OptionShowCount(),
		progressbar.OptionShowIts(),
		progressbar.OptionShowElapsedTimeOnFinish(),
		progressbar.OptionSetPredictTime(true),
	}
	if unit == Bytes {
		options = append(options, progressbar.OptionShowBytes(true))
	} else {
		options = append(options, progressbar.OptionSetItsString(unit.String()))
	}
	b.draw = progressbar.NewOptions64(total, options...)
}

// Reach draws the bar, if the last time is a while ago. A terminal that can't be written
// to is no reason to end the work; the same holds below.
func (b *Bar) Reach(done int64) { _ = b.draw.Set64(done) }

// Note writes a line above the bar.
func (b *Bar) Note(text string) {
	_ = b.draw.Clear()
	_, _ = fmt.Fprintln(b.out, text)
	_ = b.draw.RenderBlank()
}

// Finish leaves the bar as it is and goes to the next line.
func (b *Bar) Finish() {
	_ = b.draw.Exit()
	_, _ = fmt.Fprintln(b.out)
}
