// Package olddata makes the data of an old service in the format of docs/moving-in.md: always the
// same data for the same options. It has what such services have after years: identifiers with gaps,
// some of which are texts, comments of people without accounts, references to what was deleted, and
// texts that nobody would choose.
package olddata

import (
	"bufio"
	"errors"
	"flag"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/waybook/waybook/moving/format"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
)

// Options say how much is made, and with which flaws.
type Options struct {
	Seed                                                          uint64
	Users, Albums, Photos, Comments, Entries, Landmarks, Sessions int
	// Flaws is how many of 10,000 records have a flaw: a reference to what is gone, a title that is
	// too long, or a control character.
	Flaws int
	// Scattered children are under any parent, as if all had come at the same time. A store takes more writes for them.
	Scattered bool
}

// Defaults returns the sizes of a service that ran for years.
func Defaults() Options {
	return Options{Seed: 1, Users: 20_000, Albums: 200_000, Photos: 1_000_000, Comments: 2_000_000, Entries: 100_000,
		Landmarks: 20_000, Sessions: 5_000, Flaws: 3}
}

// Flags adds flags for all options, whose defaults are the present ones.
func (o *Options) Flags(flags *flag.FlagSet) {
	flags.Uint64Var(&o.Seed, "seed", o.Seed, "seed of all that is random")
	flags.IntVar(&o.Users, "users", o.Users, "number of users")
	flags.IntVar(&o.Albums, "albums", o.Albums, "number of albums")
	flags.IntVar(&o.Photos, "photos", o.Photos, "number of photos")
	flags.IntVar(&o.Comments, "comments", o.Comments, "number of comments")
	flags.IntVar(&o.Entries, "entries", o.Entries, "number of entries, half of them with a vote")
	flags.IntVar(&o.Landmarks, "landmarks", o.Landmarks, "number of landmarks")
	flags.IntVar(&o.Sessions, "sessions", o.Sessions, "number of sessions")
	flags.IntVar(&o.Flaws, "flaws", o.Flaws, "how many of 10,000 records have a flaw")
	flags.BoolVar(&o.Scattered, "scattered", o.Scattered, "photos and comments are under albums of any time")
}

// Divided returns the options with all sizes divided.
func (o Options) Divided(by int) Options {
	for _, size := range []*int{&o.Users, &o.Albums, &o.Photos, &o.Comments, &o.Entries, &o.Landmarks, &o.Sessions} {
		*size /= by
	}
	return o
}

// Write writes the data to files in a folder, and returns their paths in the documented order. compression is "", "gz" or
// "zst".
func Write(folder, compression string, options Options) (paths []string, err error) {
	s := service{options}
	for _, part := range []struct {
		name  string
		count int
		nth   func(n int) []*moveinv1.Record
	}{
		{"users", s.Users, s.person}, {"rewards", s.Entries, only(s.entry, format.KindReward)},
		{"albums", s.Albums, only(s.album, format.KindAlbum)}, {"landmarks", s.Landmarks, only(s.landmark, format.KindLandmark)},
		{"entries", s.Entries, only(s.entry, format.KindEntry)}, {"photos", s.Photos, s.photo}, {"comments", s.Comments, s.comment},
		{"ballots", s.Entries, only(s.entry, format.KindBallot)}, {"album-recommendations", s.Albums, only(s.album, format.KindRecommendation)},
		{"landmark-recommendations", s.Landmarks, only(s.landmark, format.KindRecommendation)},
	} {
		path := filepath.Join(folder, part.name+".ndjson")
		if compression != "" {
			path += "." + compression
		}
		if err := writeFile(path, compression, part.count, part.nth); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// only returns a function that keeps the records of a kind.
func only(nth func(int) []*moveinv1.Record, kind format.Kind) func(int) []*moveinv1.Record {
	return func(n int) []*moveinv1.Record {
		return slices.DeleteFunc(nth(n), func(r *moveinv1.Record) bool { return kindOf(r) != kind })
	}
}

// writeFile writes the records of each of several things.
func writeFile(path, compression string, count int, nth func(int) []*moveinv1.Record) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	var unpacked io.Writer = file
	finish := func() error { return nil }
	switch compression {
	case "gz":
		packed := gzip.NewWriter(file)
		unpacked, finish = packed, packed.Close
	case "zst":
		packed, err := zstd.NewWriter(file, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return err
		}
		unpacked, finish = packed, packed.Close
	case "":
	default:
		return errors.New("the compression is gz, zst or none")
	}
	buffered := bufio.NewWriterSize(unpacked, 1<<16)
	var line []byte
	counts := map[format.Kind]int64{}
	for n := range count {
		for _, record := range nth(n) {
			counts[kindOf(record)]++
			line = format.Encode(line[:0], record)
			if _, err := buffered.Write(line); err != nil {
				return err
			}
		}
	}
	_, err = buffered.Write(format.EncodeEnd(line[:0], counts))
	return errors.Join(err, buffered.Flush(), finish())
}

// service makes the records.
type service struct{ Options }

// dice returns random numbers for one thing: always the same ones.
func (s service) dice(kind format.Kind, n int) *rand.Rand {
	const spread = 0x9e3779b97f4a7c15
	return rand.New(rand.NewPCG(s.Seed*spread+uint64(kind[0])<<8+uint64(kind[1]), uint64(n)*spread+1)) // #nosec G404 -- the same ones each time
}

// number returns the identifier of the nth thing of a kind. They grow, with gaps.
func (s service) number(kind format.Kind, n int) int64 {
	return 7 + 3*int64(n) + int64(s.dice(kind, n).IntN(3))
}

// id returns the identifier of the nth thing of a kind, of which some have texts.
func (s service) id(kind format.Kind, n int) string {
	number := s.number(kind, n)
	if number%53 == 0 {
		return "old-" + string(kind[:1]) + "." + Decimal(number)
	}
	return Decimal(number)
}

func (s service) user(n int) int64 { return s.number(format.KindUser, n) }

// gone is an identifier that nothing has.
func gone(die *rand.Rand) int64 { return 900_000_000 + die.Int64N(1000) }

func (s service) hasFlaw(die *rand.Rand) bool { return die.IntN(10_000) < s.Flaws }

// kindOf returns the kind of a record.
func kindOf(record *moveinv1.Record) format.Kind {
	m := record.ProtoReflect()
	return format.Kind(m.WhichOneof(m.Descriptor().Oneofs().Get(0)).Name())
}
