package mongowire_test

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/wiremessage"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/waybooktest"
)

// player sends the commands of probes as they are, which a driver would not, to a primary with a secondary beside
// it, or to a router.
type player struct {
	server, secondary *mongowire.Server
	database          string
	started           map[int32]<-chan result
	thaw              func()

	mu          sync.Mutex
	connections map[string]net.Conn
	// values are what the placeholders of a probe stand for.
	values map[string]any
}

// patience is how long the player waits for a reply.
const patience = 15 * time.Second

type result struct {
	reply bson.Raw
	err   error
}

func newPlayer(t *testing.T, config mongowire.Config) *player {
	t.Helper()
	p := &player{server: mongotest.StartAlone(t, config)}
	if config.Role == mongowire.Primary {
		config.Beside = p.server
		p.secondary = mongotest.StartUnmonitored(t, config)
		p.secondary.StepDown()
	}
	return p
}

// play runs the commands of a probe in a new database, and returns how the answers differ.
func (p *player) play(t *testing.T, probe probe, want []answer) (differences []string) {
	t.Helper()
	p.database, p.started, p.thaw = mongotest.Database(), map[int32]<-chan result{}, func() {}
	p.connections, p.values = map[string]net.Conn{}, map[string]any{
		"@c": "things", "@cview": "view", "@db": p.database, "@zero": bson.Timestamp{}, "@othershard": "shard01",
		"@future": bson.Timestamp{T: uint32(time.Now().Add(time.Hour).Unix()), I: 1},
	}
	enabled, err := bson.Marshal(bson.D{{Key: "enableSharding", Value: p.database}, {Key: "$db", Value: "admin"}})
	waybooktest.OK(t, err)
	_, err = p.send("", enabled) // a replica set has no such command
	waybooktest.OK(t, err)
	for _, text := range probe.Setup {
		_, _ = p.run(probe.Name, text) // some are to fail
	}
	for i, text := range probe.Commands {
		got, err := p.run(probe.Name, text)
		difference := ""
		switch hasReply := want[i].Connection == ""; {
		case err == nil && hasReply:
			difference = want[i].differs(t, got)
		case err != nil && hasReply:
			difference = fmt.Sprint("no reply: ", err)
		case err == nil:
			difference = "a reply"
		}
		if difference != "" {
			differences = append(differences, fmt.Sprintf("command %d: %s", i, difference))
		}
	}
	p.thaw()
	p.server.Elect()
	_, err = p.send("", p.encode("", bson.D{{Key: "dropDatabase", Value: 1}}))
	waybooktest.OK(t, err)
	for _, each := range p.connections {
		each.Close()
	}
	return differences
}

// run runs a command or a pseudo-command of a probe. README.md of the answers describes them.
func (p *player) run(name string, text json.RawMessage) (bson.Raw, error) {
	var command bson.D
	if err := bson.UnmarshalExtJSON(text, true, &command); err != nil {
		return nil, err
	}
	command = p.fill(command).(bson.D)
	pseudo, value := command[0].Key, command[0].Value
	number, _ := value.(int32)
	done, err := bson.Marshal(bson.D{{Key: "ok", Value: 1.0}})
	switch pseudo {
	case "@shard":
		p.shard(value == "place")
	case "@freeze":
		p.thaw = p.server.HoldMajority(mongowire.Waiting)
	case "@thaw":
		p.thaw()
	case "@primary":
		p.server.Elect()
	case "@pause":
	case "@start":
		arrived, ended := p.server.Mark(), make(chan result, 1)
		p.started[number] = ended
		go func() {
			reply, err := p.send(fmt.Sprint(pseudo, number), p.encode(name, command[1:]))
			ended <- result{reply, err}
		}()
		for p.server.Mark() == arrived {
			time.Sleep(time.Millisecond)
		}
	case "@collect":
		p.server.StepDown() // as the primary of a replica set does that sees no majority
		got := <-p.started[number]
		return got.reply, got.err
	case "@secondary", "@other":
		return p.send(pseudo, p.encode(name, command[1:]))
	default:
		return p.send("", p.encode(name, command))
	}
	return done, err
}

// shard spreads the collection over both shards: by place, the places from 100 on to the second, or by hashes of _id.
func (p *player) shard(byPlace bool) {
	namespace, key := p.database+".things", bson.D{{Key: "_id", Value: "hashed"}}
	ranges := []mongowire.Range{{Min: math.MinInt64, Max: 0, Shard: "shard00"}, {Min: 0, Max: math.MaxInt64, Shard: "shard01"}}
	if byPlace {
		key, ranges[0].Max, ranges[1].Min = bson.D{{Key: "_place", Value: 1}}, 100, 100
	}
	index := bson.D{{Key: "key", Value: key}, {Key: "name", Value: key[0].Key + fmt.Sprint("_", key[0].Value)}}
	_, _ = p.send("", p.encode("", bson.D{{Key: "createIndexes", Value: "things"}, {Key: "indexes", Value: bson.A{index}}}))
	p.server.SetShardKey(namespace, key, ranges...)
}

// fill replaces the placeholders in a value.
func (p *player) fill(value any) any {
	switch v := value.(type) {
	case bson.D:
		if len(v) == 1 && v[0].Key == "$pairs" {
			pairs := bson.D{}
			for _, each := range v[0].Value.(bson.A) {
				pair := each.(bson.A)
				pairs = append(pairs, bson.E{Key: pair[0].(string), Value: p.fill(pair[1])})
			}
			return pairs
		}
		for i := range v {
			v[i].Value = p.fill(v[i].Value)
		}
	case bson.A:
		for i := range v {
			v[i] = p.fill(v[i])
		}
	case string:
		if strings.HasPrefix(v, "@") {
			return p.placeholder(v)
		}
		return strings.ReplaceAll(v, "@c", "things")
	}
	return value
}

func (p *player) placeholder(name string) any {
	kind, rest, _ := strings.Cut(name, ":")
	count, filling, _ := strings.Cut(rest, ":")
	n, _ := strconv.Atoi(count)
	switch kind {
	case "@fill":
		return strings.Repeat(filling, n)
	case "@nest":
		var nested any = int32(1)
		for range n {
			nested = bson.D{{Key: "n", Value: nested}}
		}
		return nested
	case "@seq", "@ints", "@deletes":
		list := make(bson.A, n)
		for i := range list {
			switch kind {
			case "@seq":
				list[i] = bson.D{{Key: "_id", Value: int64(i)}, {Key: "a", Value: int32(i)}, {Key: "_place", Value: int64(i)}} // #nosec G115
			case "@ints":
				list[i] = int32(i) // #nosec G115
			case "@deletes":
				list[i] = bson.D{{Key: "q", Value: bson.D{{Key: "_id", Value: int32(i)}}}, {Key: "limit", Value: int32(1)}} // #nosec G115
			}
		}
		return list
	case "@lsid", "@lsid1", "@lsid2":
		p.note(name, bson.D{{Key: "id", Value: bson.Binary{Subtype: 4, Data: []byte(rand.Text()[:16])}}}, false)
	case "@db.@c":
		return p.database + ".things"
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.values[name]
}

// note sets the value of a placeholder, again if replaces.
func (p *player) note(name string, value any, replaces bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, isSet := p.values[name]; !isSet || replaces {
		p.values[name] = value
	}
}

// encode returns a command in the database of the probe.
func (p *player) encode(name string, command bson.D) bson.Raw {
	if !slices.ContainsFunc(command, func(field bson.E) bool { return field.Key == "$db" }) {
		command = append(command, bson.E{Key: "$db", Value: p.database})
	}
	encoded, err := bson.Marshal(command)
	if err != nil {
		panic(err) // it was decoded
	}
	switch name {
	case "insert/invalid-utf8":
		encoded = bytes.ReplaceAll(encoded, []byte("~~"), []byte{0xff, 0xfe})
	case "insert/truncated":
		encoded = bytes.ReplaceAll(encoded, []byte("\x07\x00\x00\x00abcdef"), []byte("\xff\x00\x00\x00abcdef"))
	}
	return encoded
}

// send sends a command over the connection of a name, and returns the reply. A connection that fails is replaced.
func (p *player) send(connection string, command bson.Raw) (reply bson.Raw, err error) {
	over, err := p.connect(connection)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			p.mu.Lock()
			defer p.mu.Unlock()
			over.Close()
			delete(p.connections, connection)
		}
	}()
	if err := over.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	start, wire := wiremessage.AppendHeaderStart(nil, 1, 0, wiremessage.OpMsg)
	wire = wiremessage.AppendMsgFlags(wire, 0)
	wire = wiremessage.AppendMsgSectionType(wire, wiremessage.SingleDocument)
	wire = append(wire, command...)
	binary.LittleEndian.PutUint32(wire[start:], uint32(len(wire))) // #nosec G115 -- a command of the tests
	if _, err := over.Write(wire); err != nil {
		return nil, err
	}
	length := make([]byte, 4)
	if _, err := io.ReadFull(over, length); err != nil {
		return nil, err
	}
	rest := make([]byte, binary.LittleEndian.Uint32(length)-4)
	if _, err := io.ReadFull(over, rest); err != nil {
		return nil, err
	}
	reply = rest[17:] // behind the header, the flags and the type of the section
	if id, _ := reply.Lookup("cursor", "id").AsInt64OK(); id != 0 {
		p.note("@cursor", id, true)
	}
	if t, i, ok := reply.Lookup("operationTime").TimestampOK(); ok {
		p.note("@time", bson.Timestamp{T: t, I: i}, true)
	}
	return reply, nil
}

func (p *player) connect(name string) (net.Conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.connections[name]; known != nil {
		return known, nil
	}
	to := p.server
	if name == "@secondary" {
		to = p.secondary
	}
	dialed, err := net.Dial("tcp", to.Address())
	if err == nil {
		p.connections[name] = dialed
	}
	return dialed, err
}
