package scale

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/waybook/waybook/bench/internal/report"
)

// Section is a part of the results.
type Section struct {
	Tables []report.Table
	// Plots are the plots by the names of their files.
	Plots map[string]Plot
}

// Seed is the seed of the results in docs/scale.md.
const Seed = 1

// Sections returns the parts of the results in their order.
func Sections() []func(seed uint64) Section {
	return []func(uint64) Section{Balance, Growing, Split, Identifiers, Growth}
}

// Write simulates everything. It prints the tables, and writes the plots to a directory unless
// that is empty.
func Write(out io.Writer, images string, seed uint64) error {
	for _, simulate := range Sections() {
		section := simulate(seed)
		for _, table := range section.Tables {
			table.Print(out)
		}
		if images == "" {
			continue
		}
		for name, plot := range section.Plots {
			if err := plot.create(filepath.Join(images, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// create writes the plot to a file.
func (p Plot) create(path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(p.WriteSVG(file), file.Close())
}
