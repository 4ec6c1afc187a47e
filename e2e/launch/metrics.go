package launch

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// Get returns the body of the reply to a GET. Its connection is closed after the reply.
func Get(t testing.TB, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Metrics returns the metrics that an admin port serves.
func Metrics(t testing.TB, admin string) string {
	t.Helper()
	return Get(t, "http://"+admin+"/metrics")
}

// Metric returns the value of a metric without labels. found is false if the port has none of that
// name.
func Metric(t testing.TB, admin, name string) (value float64, found bool) {
	t.Helper()
	for line := range strings.Lines(Metrics(t, admin)) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), name+" "); ok {
			value, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			return value, true
		}
	}
	return 0, false
}
