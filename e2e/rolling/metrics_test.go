//go:build linux

package rolling

import (
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
)

// patience bounds the time of a test that would hang.
const patience = time.Minute

// expiry is the metric with the time when the current certificate of a program expires.
const expiry = "waybook_tls_certificate_expiry_timestamp_seconds"

// awaitMetric waits until a program has a metric whose value isWanted accepts.
func awaitMetric(t *testing.T, pod *launch.Pod, metric string, isWanted func(float64) bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if value, found := launch.Metric(t, pod.Admin, metric); found && isWanted(value) {
			return
		}
	}
	t.Fatalf("%s of %s did not reach the wanted value:\n%s", metric, pod.Name, pod.Printed())
}
