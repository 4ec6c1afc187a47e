package operations_test

import (
	"fmt"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
)

// exposed are the metrics of programs, with the names of their labels.
type exposed map[string]map[string]bool

// targetLabels are the labels that Prometheus adds to every metric.
var targetLabels = []string{"job", "instance"}

// newExposed returns the metrics that Prometheus has without scraping.
func newExposed() exposed { return exposed{"up": withLabels()} }

func withLabels(names ...string) map[string]bool {
	set := map[string]bool{}
	for _, name := range append(names, targetLabels...) {
		set[name] = true
	}
	return set
}

// add adds the metrics of one program, in Prometheus's text format.
func (e exposed) add(text string) error {
	reader := expfmt.NewTextParser(model.UTF8Validation)
	families, err := reader.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		return err
	}
	for name, family := range families {
		for _, metric := range family.GetMetric() {
			var own []string
			for _, label := range metric.GetLabel() {
				own = append(own, label.GetName())
			}
			switch family.GetType() {
			case dto.MetricType_HISTOGRAM:
				e.addSeries(name+"_bucket", append(own, "le")...)
				e.addSeries(name+"_sum", own...)
				e.addSeries(name+"_count", own...)
			case dto.MetricType_SUMMARY:
				e.addSeries(name, append(own, "quantile")...)
				e.addSeries(name+"_sum", own...)
				e.addSeries(name+"_count", own...)
			default:
				e.addSeries(name, own...)
			}
		}
	}
	return nil
}

func (e exposed) addSeries(name string, labels ...string) {
	if e[name] == nil {
		e[name] = withLabels()
	}
	for _, label := range labels {
		e[name][label] = true
	}
}

// check returns the metrics and labels that an expression names but no program exposes, and the
// known labels of its metrics.
func (e exposed) check(expression string) (problems []string, known map[string]bool) {
	known = map[string]bool{}
	parsed, err := parser.NewParser(parser.Options{}).ParseExpr(expression)
	if err != nil {
		return []string{err.Error()}, known
	}
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		switch node := node.(type) {
		case *parser.VectorSelector:
			has, ok := e[node.Name]
			if !ok {
				problems = append(problems, "no program exposes "+node.Name)
			}
			for label := range has {
				known[label] = true
			}
			for _, matcher := range node.LabelMatchers {
				if matcher.Name != model.MetricNameLabel && ok && !has[matcher.Name] {
					problems = append(problems, fmt.Sprintf("%s has no label %s", node.Name, matcher.Name))
				}
			}
		case *parser.AggregateExpr:
			_, below := e.check(node.Expr.String())
			for _, label := range node.Grouping {
				if !below[label] {
					problems = append(problems, fmt.Sprintf("no metric in %s has a label %s", node.Expr, label))
				}
			}
		}
		return nil
	})
	return problems, known
}
