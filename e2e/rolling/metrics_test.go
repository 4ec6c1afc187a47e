//go:build linux

package rolling

import (
	"io"
	"net/http"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/manifestrun"
)

// patience bounds the time of a test that would hang.
const patience = time.Minute

// expiry is the time when the current certificate of a program expires.
var expiry = regexp.MustCompile(`(?m)^waybook_tls_certificate_expiry_timestamp_seconds (\S+)$`)

// awaitMetric waits until a program has a metric whose value isWanted accepts.
func awaitMetric(t *testing.T, pod *manifestrun.Pod, metric *regexp.Regexp, isWanted func(float64) bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		response, err := http.Get("http://" + pod.Admin + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		metrics, err := io.ReadAll(response.Body)
		if closeErr := response.Body.Close(); err != nil || closeErr != nil {
			t.Fatal(err, closeErr)
		}
		found := metric.FindSubmatch(metrics)
		if found == nil {
			continue
		}
		value, err := strconv.ParseFloat(string(found[1]), 64)
		if err != nil {
			t.Fatal(err)
		}
		if isWanted(value) {
			return
		}
	}
	t.Fatalf("%s of %s did not reach the wanted value:\n%s", metric, pod.Name, pod.Printed())
}
