package run

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/bench/internal/process"
	"github.com/waybook/waybook/bench/internal/report"
	"github.com/waybook/waybook/bench/internal/rival"
)

// byCase returns the contenders of a case.
type byCase func(testCase) ([]contender, error)

// compare measures the cases on a deployment: through the edge, beside that of another version if
// there is one, and otherwise beside its rivals.
func (b *bench) compare(ctx context.Context, w *workshop, start starter) error {
	d, err := start(ctx, w, listedLandmarks)
	if err != nil {
		return err
	}
	if b.beside != nil {
		other := b.beside.within()
		w.onClose(other.close)
		before, err := start(ctx, other, listedLandmarks)
		if err != nil {
			return err
		}
		before.name += " of " + b.settings.Beside
		return b.contest(ctx, d, edges(d, before))
	}
	b.progress("for a profile: go tool pprof http://%s/debug/pprof/profile", d.edge.Addresses["admin"])
	all, err := d.startRivals(ctx, w)
	if err != nil {
		return err
	}
	return b.contest(ctx, d, all)
}

// contest measures the contenders of cases in turn, and prints a table.
func (b *bench) contest(ctx context.Context, d *deployment, contenders byCase) error {
	table := report.New(d.name, "case", "contender")
	for _, c := range cases(d.content) {
		if !slices.Contains(b.settings.Cases, c.name) {
			continue
		}
		all, err := contenders(c)
		if err != nil {
			return err
		}
		rows := make([]*report.Row, len(all))
		for i, each := range all {
			rows[i] = table.Row(c.name, each.name)
		}
		err = b.inTurns(rows, func(i int, to *report.Row) error {
			_, err := all[i].closed(ctx, c.connections, b.settings.Duration, to)
			return err
		})
		if err != nil {
			return fmt.Errorf("%s, %s: %w", d.name, c.name, err)
		}
		for _, row := range rows {
			row.AddRatio("replies, ratio", repliesPerSecond, rows[0])
			row.AddRatio("CPU, ratio", serverCPU, rows[0])
		}
		b.progress("%s, %s: %s replies/s", d.name, c.name, report.Number(rows[0].Median(repliesPerSecond)))
	}
	return b.print(table)
}

// edges returns the edges of deployments, which have the same content by different identifiers.
func edges(deployments ...*deployment) byCase {
	return func(c testCase) (all []contender, _ error) {
		for _, d := range deployments {
			own := caseNamed(d.content, c.name)
			all = append(all, contender{d.name, d.toEdge(own).open, d.serving(own, d.edge)})
		}
		return all, nil
	}
}

// toEdge returns the contender that sends a case to the edge.
func (d *deployment) toEdge(c testCase) contender {
	return contender{"edge", c.edgeRequest(d).Open, d.serving(c, d.edge)}
}

// startRivals starts a gateway and the baselines, and returns rivals.
func (d *deployment) startRivals(ctx context.Context, w *workshop) (byCase, error) {
	gateway, err := w.start("rival", d.gatewayArgs...)
	if err != nil {
		return nil, err
	}
	baselines, _, err := d.startBaselines(ctx, w)
	if err != nil {
		return nil, err
	}
	return d.rivals(w, gateway, baselines)
}

// rivals returns the edge and its rivals: the call of the service, the gateway and the baselines.
func (d *deployment) rivals(w *workshop, gateway, baselines *process.Process) (byCase, error) {
	channels, err := w.dial(baselines.Addresses["grpc"], callChannels)
	return func(c testCase) ([]contender, error) {
		toGateway, err := c.gatewayRequest(gateway)
		echo := d.rpc(c)
		echo.Channels, echo.Method = channels, rival.Method(c.name)
		return []contender{
			d.toEdge(c),
			{"grpc-gateway", toGateway.Open, d.serving(c, gateway)},
			{"gRPC direct", d.rpc(c).Open, d.serving(c, d.services[c.service])},
			{"baseline: net/http", c.baselineRequest(baselines).Open, []*process.Process{baselines}},
			{"baseline: gRPC", echo.Open, []*process.Process{baselines}},
		}, err
	}, err
}

// startBaselines starts the baselines, with the replies of the deployment to serve.
func (d *deployment) startBaselines(ctx context.Context,
	w *workshop) (p *process.Process, answers []rival.Answer, err error) {
	for _, c := range cases(d.content) {
		answer, err := d.ask(ctx, c)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", c.name, err)
		}
		answers = append(answers, answer)
	}
	text, err := json.Marshal(answers)
	if err != nil {
		return nil, nil, err
	}
	data, err := w.newData()
	if err != nil {
		return nil, nil, err
	}
	path := filepath.Join(data, "answers.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return nil, nil, err
	}
	p, err = w.start("rival", "-answers="+path)
	return p, answers, err
}

// ask sends a case to the edge and to its service, once each.
func (d *deployment) ask(ctx context.Context, c testCase) (answer rival.Answer, err error) {
	answer.Name = c.name
	answer.Request, answer.Reply = proto.MessageName(c.request), proto.MessageName(c.reply)
	if answer.Body, answer.Header, err = c.edgeRequest(d).Fetch(); err != nil {
		return answer, err
	}
	message, err := d.rpc(c).Call(ctx, 0)
	if err != nil {
		return answer, err
	}
	answer.Message, err = proto.Marshal(message)
	return answer, err
}
