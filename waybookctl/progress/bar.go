package progress

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// redrawEvery is the shortest time between two drawings of a bar.
const redrawEvery = 100 * time.Millisecond

// Bar draws a bar on a terminal: how much is done, how fast, and the estimated time left.
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
		progressbar.OptionSetSpinnerChangeInterval(0), // otherwise a goroutine draws too, even after the end
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

// Reach draws the bar if the last drawing was at least redrawEvery ago. Here and below, errors of
// the terminal are ignored, because they must not end the work.
func (b *Bar) Reach(done int64) { _ = b.draw.Set64(done) }

// Note writes a line above the bar.
func (b *Bar) Note(text string) {
	_ = b.draw.Clear()
	_, _ = fmt.Fprintln(b.out, text)
	_ = b.draw.RenderBlank()
}

// Finish leaves the bar on the screen and starts a new line.
func (b *Bar) Finish() {
	_ = b.draw.Exit()
	_, _ = fmt.Fprintln(b.out)
}
