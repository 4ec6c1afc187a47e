package operations_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/platform/devca"
	"github.com/waybook/waybook/internal/waybooktest"
)

const monitoring = "../../deploy/k8s/components/monitoring/"

// alert is an alert of the rule file.
type alert struct {
	Alert, Expr, For    string
	Labels, Annotations map[string]string
}

func readAlerts(t *testing.T) (alerts []alert) {
	t.Helper()
	content, err := os.ReadFile(monitoring + "alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Metadata   struct{ Name string }
		Spec       struct {
			Groups []struct {
				Name  string
				Rules []alert
			}
		}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	if err := decoder.Decode(&file); err != nil {
		t.Fatal(err)
	}
	for _, group := range file.Spec.Groups {
		alerts = append(alerts, group.Rules...)
	}
	if len(alerts) < 10 {
		t.Fatalf("only %d alerts", len(alerts))
	}
	return alerts
}

// readDashboard returns the expressions of the dashboard by panel title, with Grafana's variables
// replaced by possible values.
func readDashboard(t *testing.T) map[string][]string {
	t.Helper()
	content, err := os.ReadFile(monitoring + "dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Type, Title string
			Targets     []struct{ Expr string }
		}
		Annotations struct{ List []struct{ Name, Expr string } }
		Templating  struct {
			List []struct{ Name, Definition string }
		}
	}
	if err := json.Unmarshal(content, &dashboard); err != nil {
		t.Fatal(err)
	}
	stand := strings.NewReplacer("$__rate_interval", "5m", "$job", "waybook.*").Replace
	expressions := map[string][]string{}
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			expressions[panel.Title] = append(expressions[panel.Title], stand(target.Expr))
		}
		if panel.Type != "row" && len(expressions[panel.Title]) == 0 {
			t.Errorf("panel %s has no expression", panel.Title)
		}
	}
	for _, each := range dashboard.Annotations.List {
		expressions[each.Name] = append(expressions[each.Name], stand(each.Expr))
	}
	for _, each := range dashboard.Templating.List {
		if values, ok := strings.CutPrefix(each.Definition, "label_values("); ok {
			metric, label, _ := strings.Cut(strings.TrimSuffix(values, ")"), ", ")
			expressions[each.Name] = append(expressions[each.Name], fmt.Sprintf("group by (%s) (%s)", label, metric))
		}
	}
	if len(expressions) < 20 {
		t.Fatalf("only %d panels", len(expressions))
	}
	return expressions
}

// scrapeSite makes a few calls to a site. It returns the metrics of its programs, and of a program
// with a certificate and small identifiers.
func scrapeSite(t *testing.T, s site) exposed {
	t.Helper()
	album := newAlbum(t, s)
	for _, query := range []string{fmt.Sprintf("func=getAlbum&albumID=%d", album), "func=getAlbum&albumID=1", "func=getCategoryPOIList&category=1"} {
		waybooktest.OnceAt(t, s.http).Get(query)
	}
	all := newExposed()
	for name, p := range s.processes {
		if err := all.add(launch.Metrics(t, p.Admin)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	own := newExposed()
	if err := own.add(launch.Metrics(t, startWithMore(t).Admin)); err != nil {
		t.Error(err)
	}
	for _, each := range []string{"waybook_tls_certificate_expiry_timestamp_seconds", "waybook_small_ids_used_ratio"} {
		if all[each] != nil {
			t.Errorf("a program without what it measures exposes %s", each)
		}
		all[each] = own[each]
	}
	return all
}

// startWithMore starts an account service with a certificate and small identifiers.
func startWithMore(t *testing.T) *launch.Process {
	t.Helper()
	vouches, err := devca.New("test", time.Now(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	own, err := vouches.Pair()
	if err != nil {
		t.Fatal(err)
	}
	pair, err := vouches.Issue([]string{"account"}, time.Now(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	args := []string{"-grpc=127.0.0.1:0", "-admin=127.0.0.1:0", "-data", filepath.Join(directory, "data"), "-small-ids-from=1000"}
	for name, content := range map[string][]byte{"tls-cert": pair.Certificate, "tls-key": pair.Key, "tls-ca": own.Certificate} {
		path := filepath.Join(directory, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "-"+name, path)
	}
	return launch.Begin(t, filepath.Join(binaries, "account"), nil, args...).Ready()
}

func TestTheDashboardAndTheAlertsUseExistingMetrics(t *testing.T) {
	t.Parallel()
	for name, start := range deployments {
		t.Run(name, func(t *testing.T) {
			s := start(t, t.TempDir())
			all := scrapeSite(t, s)
			s.end(t)
			for title, expressions := range readDashboard(t) {
				for _, expression := range expressions {
					if problems, _ := all.check(expression); len(problems) > 0 {
						t.Errorf("panel %s: %s", title, strings.Join(problems, "; "))
					}
				}
			}
			placeholder := regexp.MustCompile(`\$labels\.(\w+)`)
			for _, a := range readAlerts(t) {
				problems, known := all.check(a.Expr)
				if len(problems) > 0 {
					t.Errorf("%s: %s", a.Alert, strings.Join(problems, "; "))
				}
				for _, label := range placeholder.FindAllStringSubmatch(fmt.Sprint(a.Annotations), -1) {
					if !known[label[1]] {
						t.Errorf("%s mentions the label %s, which it does not have", a.Alert, label[1])
					}
				}
			}
			if t.Failed() {
				t.Log("exposed:", slices.Sorted(maps.Keys(all)))
			}
		})
	}
}
