package run

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/bench/internal/load"
	"github.com/waybook/waybook/bench/internal/process"
	"github.com/waybook/waybook/bench/internal/report"
	"github.com/waybook/waybook/bench/internal/rival"
)

// byCase returns the contenders of a case.
type byCase func(testCase) ([]contender, error)

// compare measures the cases on a deployment: through the edge, beside that of another version if there is
// one, and otherwise beside its rivals.
func (b *bench) compare(ctx context.Context, start starter) (err error) {
	w := b.workshop.within()
	defer func() { err = errors.Join(err, w.close()) }()
	d, err := start(ctx, w, listedLandmarks)
	if err != nil {
		return err
	}
	if b.beside != nil {
		other := b.beside.within()
		defer func() { err = errors.Join(err, other.close()) }()
		before, err := start(ctx, other, listedLandmarks)
		if err != nil {
			return err
		}
		before.name += " of " + b.settings.Beside
		return b.contest(ctx, d.name, cases(d.content), edges(d, before))
	}
	b.progress("for a profile: go tool pprof http://%s/debug/pprof/profile", d.edge.Addresses["admin"])
	all, err := d.startRivals(ctx, w)
	if err != nil {
		return err
	}
	return b.contest(ctx, d.name, cases(d.content), all)
}

// contest measures the contenders of cases in turn, and prints a table.
func (b *bench) contest(ctx context.Context, title string, list []testCase, contenders byCase) error {
	table := report.New(title, "case", "contender")
	for _, c := range list {
		if len(b.settings.Cases) > 0 && !slices.Contains(b.settings.Cases, c.name) {
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
			if c.prepare != nil {
				if err := c.prepare(ctx); err != nil {
					return err
				}
			}
			_, err := all[i].closed(ctx, c.connections, b.settings.Duration, to)
			return err
		})
		if err != nil {
			return fmt.Errorf("%s, %s: %w", title, c.name, err)
		}
		for _, row := range rows {
			row.AddRatio("replies, ratio", repliesPerSecond, rows[0])
			row.AddRatio("CPU, ratio", serverCPU, rows[0])
		}
		b.progress("%s, %s: %s replies/s", title, c.name, report.Number(rows[0].Median(repliesPerSecond)))
	}
	table.Note("A ratio is of the turns of one round, over the first contender of the case.")
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

const byEdge = "edge"

// toEdge returns the contender that sends a case to the edge.
func (d *deployment) toEdge(c testCase) contender {
	open := opener(d.edge.Addresses["edge"], c.edgeRequest(d.content.cookie), wantXML)
	return contender{byEdge, open, d.serving(c, d.edge)}
}

func opener(address string, request []byte, want string) load.Opener {
	return load.HTTP{Address: address, Requests: [][]byte{request}, Want: want}.Open
}

// startRivals starts a gateway and the baselines, and returns rivals.
func (d *deployment) startRivals(ctx context.Context, w *workshop) (byCase, error) {
	gateway, err := w.start("rival", nil, d.gatewayArgs...)
	if err != nil {
		return nil, err
	}
	answers, err := d.askAll(ctx, cases(d.content))
	if err != nil {
		return nil, err
	}
	baselines, err := startBaselines(w, answers)
	if err != nil {
		return nil, err
	}
	return d.rivals(w, gateway, baselines)
}

// rivals returns the edge and its rivals: the call of the service, the gateway and the baselines.
func (d *deployment) rivals(w *workshop, gateway, baselines *process.Process) (byCase, error) {
	channels, err := w.dial(baselines.Addresses["grpc"], callChannels)
	return func(c testCase) ([]contender, error) {
		toGateway, err := c.gatewayRequest()
		echo := d.rpc(c)
		echo.Channels, echo.Method = channels, rival.Method(c.name)
		return []contender{
			d.toEdge(c),
			{"grpc-gateway", opener(gateway.Addresses["http"], toGateway, wantJSON), d.serving(c, gateway)},
			{"gRPC direct", d.rpc(c).Open, d.serving(c, d.services[c.service])},
			toBaseline(c, baselines),
			{"baseline: gRPC", echo.Open, []*process.Process{baselines}},
		}, err
	}, err
}

// toBaseline returns the contender that sends a case to the HTTP baseline.
func toBaseline(c testCase, baselines *process.Process) contender {
	return contender{"baseline: net/http", opener(baselines.Addresses["http"], get11(rival.Path(c.name)), wantXML), []*process.Process{baselines}}
}

// startBaselines starts the baselines with replies to serve.
func startBaselines(w *workshop, answers []rival.Answer) (*process.Process, error) {
	text, err := json.Marshal(answers)
	if err != nil {
		return nil, err
	}
	data, err := w.newData()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(data, "answers.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return nil, err
	}
	return w.start("rival", nil, "-answers="+path)
}

// askAll returns the replies of the deployment to cases.
func (d *deployment) askAll(ctx context.Context, list []testCase) (answers []rival.Answer, err error) {
	for _, c := range list {
		answer, err := d.ask(ctx, c)
		if err != nil {
			return nil, err
		}
		answers = append(answers, answer)
	}
	return answers, nil
}

// ask sends a case to the edge and to its service, once each.
func (d *deployment) ask(ctx context.Context, c testCase) (rival.Answer, error) {
	answer := rival.Answer{
		Name:    c.name,
		Request: string(proto.MessageName(c.request)), Reply: string(proto.MessageName(c.reply)),
	}
	var err error
	if answer.Body, answer.Header, err = fetch(d.edge.Addresses["edge"], c.edgeRequest(d.content.cookie)); err != nil {
		return answer, err
	}
	if !strings.Contains(string(answer.Body), wantXML) {
		return answer, fmt.Errorf("%s: the edge replied with a failure: %s", c.name, answer.Body)
	}
	message, err := d.rpc(c).Call(ctx)
	if err != nil {
		return answer, err
	}
	answer.Message, err = proto.Marshal(message)
	return answer, err
}

// fetch makes a single encoded request. It returns the body and the header of the reply, without the fields
// that any server adds.
func fetch(address string, request []byte) (body []byte, header http.Header, err error) {
	connection, err := net.Dial("tcp", address)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, connection.Close()) }()
	if _, err := connection.Write(request); err != nil {
		return nil, nil, err
	}
	reply, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		return nil, nil, err
	}
	if body, err = io.ReadAll(reply.Body); err == nil && reply.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s replied to %s with status %s: %s", address, request, reply.Status, body)
	}
	reply.Header.Del("Date")
	reply.Header.Del("Content-Length")
	return body, reply.Header, err
}
