package run

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/waybook/waybook/bench/internal/load"
	"github.com/waybook/waybook/bench/internal/piwigo"
	"github.com/waybook/waybook/bench/internal/process"
)

const piwigoSection = "piwigo"

// side is a case at one of the two programs.
type side struct {
	// requests has an encoded request for each client.
	requests [][]byte
	// holds is how often a reply contains each text.
	holds map[string]int
}

// besidePiwigo compares what Waybook and Piwigo use for requests that give much the same. Piwigo has neither
// entries nor landmarks, so photos with comments stand for them.
func (b *bench) besidePiwigo(ctx context.Context) (err error) {
	w := b.workshop.within()
	defer func() { err = errors.Join(err, w.close()) }()
	data, err := w.newData()
	if err != nil {
		return err
	}
	gallery, err := piwigo.Start(b.settings.Piwigo, data)
	if err != nil {
		return err
	}
	w.onClose(gallery.Stop)
	b.progress("fill both")
	theirs, removeAdded, err := fillGallery(gallery)
	if err != nil {
		return err
	}
	d, err := startStandalone(ctx, w, 0)
	if err != nil {
		return err
	}
	ours, err := d.fillBesideGallery(ctx)
	if err != nil {
		return err
	}
	edge := d.edge.Addresses["edge"]
	var list []testCase
	for _, name := range []string{bareAlbum, blogWithComments, fullAlbum, fullLandmark, shortList, addsAlbum} {
		if err := errors.Join(ours[name].check(edge), theirs[name].check(gallery.Address)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		list = append(list, testCase{name: name, connections: manyConnections})
	}
	// Piwigo reads all albums for each new one, so a turn begins without those of the turns before it.
	list[len(list)-1].prepare = func(context.Context) error { return removeAdded() }
	return b.contest(ctx, "Waybook in one process beside Piwigo", list, func(c testCase) ([]contender, error) {
		return []contender{
			{"Waybook", ours[c.name].opener(edge, wantXML), []*process.Process{d.edge}},
			{"Piwigo", theirs[c.name].opener(gallery.Address, `stat="ok"`), gallery.Servers},
		}, nil
	})
}

// check makes each request once and checks the replies.
func (s side) check(address string) error {
	for _, request := range s.requests {
		reply, _, err := fetch(address, request)
		if err != nil {
			return err
		}
		for text, want := range s.holds {
			if found := strings.Count(string(reply), text); found != want {
				return fmt.Errorf("the reply to %s contains %q %d times, want %d:\n%s", request, text, found, want, reply)
			}
		}
	}
	return nil
}

// opener opens connections that send the request of one client each.
func (s side) opener(address, want string) load.Opener {
	return func(n int) (load.Connection, error) {
		return opener(address, s.requests[n%len(s.requests)], want)(n)
	}
}
