package run

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/bench/internal/baseline"
	"github.com/waybook/waybook/bench/internal/load"
	"github.com/waybook/waybook/bench/internal/process"
)

// contender is one of the compared ways to serve a case.
type contender struct {
	name contenderName
	open load.Opener
	// serves are the processes that take part in serving, the one in front first.
	serves []*process.Process
	// replyBytes is the size of the reply: of the body, or of all messages.
	replyBytes int
}

type contenderName string

const (
	byEdge         contenderName = "edge"
	byGateway      contenderName = "grpc-gateway"
	byRPC          contenderName = "gRPC direct"
	byHTTPBaseline contenderName = "baseline: net/http"
	byRPCBaseline  contenderName = "baseline: gRPC"
)

// answered is the replies to a case. The baselines serve them again.
type answered struct {
	// header is the header of the edge's reply, without the fields that any server adds.
	header http.Header
	// edge and gateway are the bodies of the replies. messages are the replies to a direct
	// call.
	edge, gateway []byte
	messages      []proto.Message
}

func (d *deployment) rpc(c testCase) load.RPC {
	return load.RPC{Channels: d.channels[c.service], Method: c.method, Request: c.request, Reply: c.reply, Streams: c.streams}
}

// ask sends the request of a case to the edge, the gateway and the service, once each.
func (d *deployment) ask(ctx context.Context, c testCase) (a answered, err error) {
	url := "http://" + d.edge.Addresses["edge"] + "/API.php"
	toEdge := get(url + "?" + c.form.Encode())
	if c.writes {
		toEdge = post(url, "application/x-www-form-urlencoded", c.form.Encode())
		toEdge.cookie = d.content.Cookie
	}
	if a.edge, a.header, err = fetch(ctx, toEdge); err != nil {
		return a, err
	}
	if !strings.Contains(string(a.edge), wantXML) {
		return a, fmt.Errorf("%s: the edge replied with a failure: %s", c.name, a.edge)
	}
	body, err := protojson.Marshal(c.request)
	if err != nil {
		return a, err
	}
	toGateway := post("http://"+d.gateway.Addresses["http"]+c.method, "application/json", string(body))
	if a.gateway, _, err = fetch(ctx, toGateway); err != nil {
		return a, err
	}
	a.messages, err = d.rpc(c).Replies(ctx)
	return a, err
}

// asked is a single HTTP request.
type asked struct{ method, url, contentType, body, cookie string }

func get(url string) asked { return asked{method: http.MethodGet, url: url} }

func post(url, contentType, body string) asked {
	return asked{method: http.MethodPost, url: url, contentType: contentType, body: body}
}

// fetch makes a request and returns the body and the header, without the fields that any
// server adds.
func fetch(ctx context.Context, a asked) (body []byte, header http.Header, err error) {
	request, err := http.NewRequestWithContext(ctx, a.method, a.url, strings.NewReader(a.body))
	if err != nil {
		return nil, nil, err
	}
	for name, value := range map[string]string{"Content-Type": a.contentType, "Cookie": a.cookie} {
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}}
	response, err := client.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if body, err = io.ReadAll(response.Body); err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s replied with status %s: %s", a.url, response.Status, body)
	}
	for _, name := range []string{"Date", "Content-Length", "Connection"} {
		response.Header.Del(name)
	}
	return body, response.Header, err
}

// startBaselines starts the baselines with the recorded replies to the cases.
func startBaselines(w *workshop, list []testCase, replies map[string]answered) (*process.Process, error) {
	var answers []baseline.Answer
	for _, c := range list {
		reply := replies[c.name]
		answer := baseline.Answer{
			Name: c.name, Header: reply.header, Body: reply.edge, Streams: c.streams,
			Request: string(proto.MessageName(c.request)), Reply: string(proto.MessageName(c.reply)),
		}
		for _, message := range reply.messages {
			encoded, err := proto.Marshal(message)
			if err != nil {
				return nil, err
			}
			answer.Messages = append(answer.Messages, encoded)
		}
		answers = append(answers, answer)
	}
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
	return w.start("baseline", nil, "-answers="+path)
}

// opener returns an opener of connections that send a case to the edge.
func (d *deployment) opener(c testCase) load.Opener {
	return opener(d.edge.Addresses["edge"], c.edgeRequest(d.content.Cookie), wantXML)
}

func opener(address string, request []byte, want string) load.Opener {
	return load.HTTP{Address: address, Requests: [][]byte{request}, Want: want}.Open
}

// contenders returns all contenders of a case.
func (d *deployment) contenders(w *workshop, c testCase, reply answered, baselines *process.Process) ([]contender, error) {
	gatewayRequest, err := c.gatewayRequest()
	if err != nil {
		return nil, err
	}
	channels, err := w.dial(baselines.Addresses["grpc"], nil, callChannels)
	if err != nil {
		return nil, err
	}
	messageBytes := 0
	for _, message := range reply.messages {
		messageBytes += proto.Size(message)
	}
	echo := d.rpc(c)
	echo.Channels, echo.Method = channels, baseline.Method(c.name)
	return []contender{
		{byEdge, d.opener(c), d.serving(c, d.edge), len(reply.edge)},
		{byGateway, opener(d.gateway.Addresses["http"], gatewayRequest, c.wantJSON), d.serving(c, d.gateway), len(reply.gateway)},
		{byRPC, d.rpc(c).Open, d.serving(c, d.services[c.service]), messageBytes},
		{byHTTPBaseline, opener(baselines.Addresses["http"], c.baselineRequest(), wantXML), []*process.Process{baselines}, len(reply.edge)},
		{byRPCBaseline, echo.Open, []*process.Process{baselines}, messageBytes},
	}, nil
}
