package run

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/waybook/waybook/bench/internal/load"
	"github.com/waybook/waybook/bench/internal/process"
)

// profile writes CPU profiles of standalone under three loads.
func (b *bench) profile(ctx context.Context) (err error) {
	if err := os.MkdirAll(b.settings.Profiles, 0o750); err != nil {
		return err
	}
	w := b.workshop.within()
	defer func() { err = errors.Join(err, w.close()) }()
	// The program stays with the profiles, because pprof needs it.
	if err := process.Build(ctx, "", b.settings.Profiles, profiledProgram); err != nil {
		return err
	}
	binary := filepath.Join(b.settings.Profiles, filepath.Base(profiledProgram))
	data, filled, err := w.filledStore(ctx, b.settings.Documents)
	if err != nil {
		return err
	}
	for _, each := range []struct {
		name        string
		connections int
	}{{fullAlbum, manyConnections}, {longList, 1}, {"addAlbum", manyWriters}} {
		path := filepath.Join(b.settings.Profiles, each.name+".pprof")
		p, err := process.Start(binary, noLimits, append(standaloneArgs(data), "-cpu-profile="+path)...)
		if err != nil {
			return err
		}
		d := &deployment{content: filled, edge: p}
		c := caseNamed(filled, each.name)
		_, err = load.Closed(ctx, d.opener(c), each.connections, b.settings.Duration)
		if err := errors.Join(err, p.Stop()); err != nil {
			return err
		}
		b.progress("%s: go tool pprof -top %s %s", each.name, binary, path)
	}
	return nil
}
