package scale

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// Line is one line of a plot.
type Line struct {
	Name string
	X, Y []float64
}

// Plot is a plot with logarithmic axes.
type Plot struct {
	Title, X, Y string
	// XTicks and YTicks are the labeled values, the lowest and the highest of each axis at its
	// ends.
	XTicks, YTicks []float64
	Lines          []Line
	// Limit is a value of Y that is drawn as a dashed line.
	Limit      float64
	LimitLabel string
}

const (
	plotWidth, plotHeight   = 640, 330
	left, right, head, foot = 60, 20, 34, 46
)

// colors can be told apart by readers who see colors differently, in light and in dark.
var colors = [...]string{"#3b7dd8", "#d9722e", "#2f9e6e", "#a35bc4", "#c2417c", "#8a8a2c"}

// WriteSVG writes the plot. Its text has the color of the reader's scheme.
func (p Plot) WriteSVG(out io.Writer) error {
	var b strings.Builder
	rows := (len(p.Lines) + 1) / 2
	height := plotHeight + 18*rows
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12" role="img">`+"\n", plotWidth, height)
	fmt.Fprintf(&b, "<title>%s</title>\n", p.Title)
	b.WriteString("<style>text{fill:#333}.g{stroke:#8884;fill:none}.d{stroke:#888;stroke-dasharray:5 4}@media(prefers-color-scheme:dark){text{fill:#ddd}}</style>\n")
	fmt.Fprintf(&b, `<text x="%d" y="20" font-size="14">%s</text>`+"\n", left, p.Title)
	for _, x := range p.XTicks {
		at := p.x(x)
		fmt.Fprintf(&b, `<path class="g" d="M%.1f %dV%d"/><text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", at, head, plotHeight-foot, at, plotHeight-foot+16, label(x))
	}
	for _, y := range p.YTicks {
		at := p.y(y)
		fmt.Fprintf(&b, `<path class="g" d="M%d %.1fH%d"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n", left, at, plotWidth-right, left-6, at+4, label(y))
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", (left+plotWidth-right)/2, plotHeight-foot+34, p.X)
	fmt.Fprintf(&b, `<text transform="translate(14 %d) rotate(-90)" text-anchor="middle">%s</text>`+"\n", (head+plotHeight-foot)/2, p.Y)
	if p.Limit > 0 {
		at := p.y(p.Limit)
		fmt.Fprintf(&b, `<path class="d" d="M%d %.1fH%d"/><text x="%d" y="%.1f">%s</text>`+"\n", left, at, plotWidth-right, left+6, at+14, p.LimitLabel)
	}
	for i, line := range p.Lines {
		p.line(&b, i, line)
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(out, b.String())
	return err
}

// line writes a line with a mark at each value, and its entry in the legend.
func (p Plot) line(b *strings.Builder, i int, line Line) {
	color := colors[i%len(colors)]
	var path, marks strings.Builder
	for j, x := range line.X {
		fmt.Fprintf(&path, "%s%.1f %.1f", map[bool]string{true: "M", false: "L"}[j == 0], p.x(x), p.y(line.Y[j]))
		fmt.Fprintf(&marks, `<circle cx="%.1f" cy="%.1f" r="3"/>`, p.x(x), p.y(line.Y[j]))
	}
	fmt.Fprintf(b, `<g fill="%s"><path d="%s" fill="none" stroke="%s" stroke-width="2"/>%s</g>`+"\n", color, path.String(), color, marks.String())
	x, y := left+i%2*290, plotHeight+4+i/2*18
	fmt.Fprintf(b, `<rect x="%d" y="%d" width="10" height="10" fill="%s"/><text x="%d" y="%d">%s</text>`+"\n", x, y, color, x+16, y+10, line.Name)
}

func (p Plot) x(value float64) float64 {
	return left + (plotWidth-left-right)*part(value, p.XTicks)
}

func (p Plot) y(value float64) float64 {
	return plotHeight - foot - (plotHeight-head-foot)*part(value, p.YTicks)
}

// part returns where a value lies between the first and the last tick, from 0 to 1.
func part(value float64, ticks []float64) float64 {
	low, high := math.Log(ticks[0]), math.Log(ticks[len(ticks)-1])
	return min(1, max(0, (math.Log(value)-low)/(high-low)))
}

// label formats the value of a tick.
func label(value float64) string {
	switch {
	case value >= 1e6:
		return fmt.Sprintf("%g M", value/1e6)
	case value >= 1000:
		return fmt.Sprintf("%g,%03g", math.Floor(value/1000), math.Mod(value, 1000))
	}
	return fmt.Sprintf("%g", value)
}
