package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// run serves searches until ctx ends. It prints the address.
func run(ctx context.Context, args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("search", flag.ContinueOnError)
	address := flags.String("http", "127.0.0.1:8090", "`address` of GET /search")
	directory := flags.String("index", "search-index", "`directory` of the index")
	const local = "unix:waybook-data/grpc.sock" // where standalone serves all of them
	album := flags.String("album", local, "`address` of the album service")
	blog := flags.String("blog", local, "`address` of the blog service")
	poi := flags.String("poi", local, "`address` of the POI service")
	origin := flags.String("origin", "", "`origin` of a site whose pages may read results, such as https://waybook.example; none without it")
	zoneName := flags.String("time-zone", "Asia/Taipei", "time `zone` whose current day is the last day of published entries, as at the blog service")
	certificate := flags.String("tls-cert", "", "`file` with the certificate for mutual TLS; none without TLS")
	key := flags.String("tls-key", "", "`file` with the key of the certificate")
	authority := flags.String("tls-ca", "", "`file` with the authority of the services")
	if err := flags.Parse(args); err != nil {
		return err
	}
	secured, err := transport(*certificate, *key, *authority)
	if err != nil {
		return err
	}
	zone, err := time.LoadLocation(*zoneName)
	if err != nil {
		return err
	}
	index, err := OpenIndex(*directory)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, index.Close()) }()
	ctx, stop := context.WithCancel(ctx)
	var following sync.WaitGroup
	defer following.Wait()
	defer stop()
	for target, source := range map[*string]func(grpc.ClientConnInterface) Source{album: Albums, blog: Entries, poi: Landmarks} {
		connection, err := grpc.NewClient(*target, grpc.WithTransportCredentials(secured))
		if err != nil {
			return err
		}
		defer func() { _ = connection.Close() }()
		following.Go(func() { index.Follow(ctx, source(connection)) })
	}
	return serve(ctx, *address, readableFor(*origin, handler(index, zone)), out)
}

// transport returns the credentials of connections to the services.
func transport(certificate, key, authority string) (credentials.TransportCredentials, error) {
	if certificate == "" {
		return insecure.NewCredentials(), nil
	}
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(authority) // #nosec G304 -- the operator names it
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s holds no certificate", authority)
	}
	return credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: roots, MinVersion: tls.VersionTLS13}), nil
}

// serve answers searches until ctx ends.
func serve(ctx context.Context, address string, searches http.Handler, out io.Writer) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: searches, ReadHeaderTimeout: 5 * time.Second}
	stopped := context.AfterFunc(ctx, func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = server.Shutdown(ending) // what has not ended then is cut
	})
	defer stopped()
	fmt.Fprintf(out, "search on http://%s/search?q=\n", listener.Addr())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// readableFor lets the pages of a site read the replies of a handler (CORS).
func readableFor(origin string, next http.Handler) http.Handler {
	if origin == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", origin)
		next.ServeHTTP(w, r)
	})
}

// today returns the day in a time zone.
func today(zone *time.Location) int {
	year, month, day := time.Now().In(zone).Date()
	return dayOf(year, int(month), day)
}

// handler serves GET /search, with the entries that are published in a time zone, and GET /healthz for probes.
func handler(index Index, zone *time.Location) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /search", func(w http.ResponseWriter, r *http.Request) {
		asked, err := queryOf(r.URL.Query(), today(zone))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		found, isSimilar, err := index.Find(r.Context(), asked)
		if err != nil {
			slog.ErrorContext(r.Context(), "search", "err", err)
			http.Error(w, "the index failed", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"found": found, "similar": isSimilar}) // the client has gone if this fails
	})
	return mux
}

// queryOf returns the query of a request. The error names what is wrong.
func queryOf(form url.Values, today int) (Query, error) {
	const maxWordsBytes, maxResults, maxRadius = 200, 100, 100_000
	var wrong error
	number := func(name string, otherwise, least, most float64) float64 {
		if !form.Has(name) {
			return otherwise
		}
		value, err := strconv.ParseFloat(form.Get(name), 64)
		if err != nil || !(least <= value && value <= most) {
			wrong = errors.Join(wrong, fmt.Errorf("%s: a number from %v to %v", name, least, most))
		}
		return value
	}
	q := Query{
		Words: form.Get("q"), Kind: Kind(form.Get("kind")), Category: form.Get("category"), Today: today,
		Limit: int(number("limit", 20, 1, maxResults)),
	}
	if form.Has("lat") || form.Has("lng") || form.Has("radius") {
		nowhere := math.NaN()
		q.Near = &Circle{Place{number("lat", nowhere, -90, 90), number("lng", nowhere, -180, 180)}, number("radius", 1000, 0, maxRadius)}
		if !form.Has("lat") || !form.Has("lng") {
			wrong = errors.Join(wrong, errors.New("lat and lng: both or neither"))
		}
	}
	switch {
	case len(q.Words) > maxWordsBytes:
		wrong = errors.Join(wrong, fmt.Errorf("q: at most %d bytes", maxWordsBytes))
	case q.Words == "" && q.Near == nil:
		wrong = errors.Join(wrong, errors.New("q, or lat and lng: say what to search for"))
	}
	if !slices.Contains([]Kind{"", Album, Entry, Landmark}, q.Kind) {
		wrong = errors.Join(wrong, fmt.Errorf("kind: %s, %s or %s", Album, Entry, Landmark))
	}
	if q.Category != "" && !slices.Contains(categories, q.Category) {
		wrong = errors.Join(wrong, fmt.Errorf("category: one of %s", strings.Join(categories, ", ")))
	}
	return q, wrong
}
