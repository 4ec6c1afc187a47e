package mongowire_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/waybooktest"
)

func TestARetriedWriteIsAppliedOnce(t *testing.T) {
	for name, kind := range map[string]mongowire.FaultKind{
		"cut before": mongowire.CutBefore, "cut after": mongowire.CutAfter, "not the primary": mongowire.NotPrimary,
	} {
		t.Run(name, func(t *testing.T) {
			server := mongotest.StartServer(t, mongowire.Config{})
			things := connect(t, server)
			insert(t, things, id(1))
			server.SetFaults(once("update", mongowire.Fault{Kind: kind}))
			result, err := things.UpdateOne(t.Context(), id(1), inc("n", 1))
			waybooktest.OK(t, err)
			if result.ModifiedCount != 1 || server.Count("update") != 2 {
				t.Errorf("got %+v after %d updates", result, server.Count("update"))
			}
			var got struct{ N int }
			waybooktest.OK(t, things.FindOne(t.Context(), id(1)).Decode(&got))
			if got.N != 1 {
				t.Errorf("the increment was applied %d times", got.N)
			}
		})
	}
}

func TestAReadIsRetried(t *testing.T) {
	for name, kind := range map[string]mongowire.FaultKind{
		"cut before": mongowire.CutBefore, "cut after": mongowire.CutAfter, "not the primary": mongowire.NotPrimary,
	} {
		t.Run(name, func(t *testing.T) {
			server := mongotest.StartServer(t, mongowire.Config{})
			things := connect(t, server)
			insert(t, things, id(1))
			server.SetFaults(once("find", mongowire.Fault{Kind: kind}))
			waybooktest.OK(t, things.FindOne(t.Context(), id(1)).Err())
			if n := server.Count("find"); n != 2 {
				t.Errorf("got %d finds", n)
			}
		})
	}
}

func TestARefusalHasTheCodeOfTheFaultAndExecutesNothing(t *testing.T) {
	server := mongotest.StartServer(t, mongowire.Config{})
	things := connect(t, server)
	server.SetFaults(once("insert", mongowire.Fault{Kind: mongowire.Refuse, Code: 46, Name: "LockBusy"}))
	_, err := things.InsertOne(t.Context(), id(1))
	var refused mongo.CommandError
	if !errors.As(err, &refused) || refused.Code != 46 || refused.Name != "LockBusy" {
		t.Errorf("got %v", err)
	}
	wantCount(t, things, 0)
}

func TestAWriteConcernErrorHasTheCodeOfTheFaultAndTheWriteHappened(t *testing.T) {
	server := mongotest.StartServer(t, mongowire.Config{})
	things := connect(t, server)
	server.SetFaults(once("insert", mongowire.Fault{Kind: mongowire.Unacknowledged, Code: 100, Name: "UnsatisfiableWriteConcern"}))
	_, err := things.InsertOne(t.Context(), id(1))
	var refused mongo.WriteException
	if !errors.As(err, &refused) || refused.WriteConcernError == nil || refused.WriteConcernError.Code != 100 {
		t.Errorf("got %v", err)
	}
	wantCount(t, things, 1)
}

func TestAfterAStepDownTheDriverWaitsForTheElection(t *testing.T) {
	server := mongotest.StartServer(t, mongowire.Config{})
	things := connect(t, server, options.Client().SetServerSelectionTimeout(20*time.Millisecond))
	insert(t, things, id(1))
	elect := server.StepDown()
	if err := things.FindOne(t.Context(), id(1)).Err(); err == nil {
		t.Error("a secondary answered a read of the primary")
	}
	done := make(chan error)
	patient := connect(t, server)
	go func() {
		_, err := patient.InsertOne(t.Context(), id(2))
		done <- err
	}()
	elect()
	waybooktest.OK(t, <-done)
}

func TestTheCommandForAStepDownLeavesNoPrimaryForItsSeconds(t *testing.T) {
	for name, role := range map[string]mongowire.Role{"replica set": mongowire.Primary, "cluster": mongowire.Router} {
		t.Run(name, func(t *testing.T) {
			server := mongotest.StartServer(t, mongowire.Config{Role: role})
			things := connect(t, server, options.Client().SetRetryWrites(false).SetServerSelectionTimeout(20*time.Millisecond))
			insert(t, things, id(1))
			waybooktest.OK(t, mongotest.StepDown(t.Context(), server.URI("")))
			_, err := things.InsertOne(t.Context(), id(2))
			if err == nil {
				t.Error("a secondary took a write")
			}
			for began := time.Now(); err != nil; _, err = things.InsertOne(t.Context(), id(2)) {
				if time.Since(began) > 10*time.Second {
					t.Fatal(err)
				}
			}
			wantCount(t, things, 2)
		})
	}
}

func TestWithoutAMajorityNoWriteIsAcknowledgedAndEveryOneIsExecuted(t *testing.T) {
	server := mongotest.StartServer(t, mongowire.Config{})
	things := connect(t, server)
	insert(t, things, id(1))
	release := server.HoldMajority(mongowire.Failing)
	for name, write := range map[string]func() error{
		"a change": func() error {
			_, err := things.UpdateOne(t.Context(), id(1), set("n", 7))
			return err
		},
		"a write that changes nothing": func() error {
			_, err := things.UpdateOne(t.Context(), id(2), set("n", 7))
			return err
		},
	} {
		var unacknowledged mongo.WriteException
		if err := write(); !errors.As(err, &unacknowledged) || unacknowledged.WriteConcernError == nil ||
			unacknowledged.WriteConcernError.Code != 64 {
			t.Errorf("%s: got %v", name, err)
		}
	}
	var got struct{ N int }
	waybooktest.OK(t, things.FindOne(t.Context(), id(1)).Decode(&got))
	if got.N != 7 {
		t.Errorf("the update was not executed: %+v", got)
	}
	one := things.Clone(options.Collection().SetWriteConcern(writeconcern.W1()))
	_, err := one.UpdateOne(t.Context(), id(1), set("n", 8))
	waybooktest.OK(t, err)
	linearizable := things.Clone(options.Collection().SetReadConcern(readconcern.Linearizable()))
	var expired mongo.CommandError
	if err := linearizable.FindOne(t.Context(), id(1)).Err(); !errors.As(err, &expired) || expired.Code != 50 {
		t.Errorf("linearizable read: got %v", err)
	}
	release()
	waybooktest.OK(t, linearizable.FindOne(t.Context(), id(1)).Err())
	_, err = things.UpdateOne(t.Context(), id(1), set("n", 9))
	waybooktest.OK(t, err)
}

func TestAWriteWaitsForTheMajorityWithinItsTime(t *testing.T) {
	server := mongotest.StartServer(t, mongowire.Config{})
	things := connect(t, server)
	release := server.HoldMajority(mongowire.Waiting)
	command := bson.D{
		{Key: "insert", Value: "things"}, {Key: "documents", Value: bson.A{id(1)}},
		{Key: "writeConcern", Value: bson.D{{Key: "w", Value: "majority"}, {Key: "wtimeout", Value: 1}}},
	}
	var late mongo.WriteException
	if err := things.Database().RunCommand(t.Context(), command).Err(); !errors.As(err, &late) || late.WriteConcernError == nil ||
		late.WriteConcernError.Code != 64 {
		t.Errorf("got %v", err)
	}
	done := make(chan error)
	go func() {
		_, err := things.InsertOne(t.Context(), id(2))
		done <- err
	}()
	awaitArrivals(t, server, things, "insert", 2)
	select {
	case err := <-done:
		t.Errorf("the write was answered before the release: %v", err)
	default:
	}
	release()
	waybooktest.OK(t, <-done)
	wantCount(t, things, 2)
}

func TestLatencyDelaysEachCommandByItself(t *testing.T) {
	server := mongotest.StartServer(t, mongowire.Config{})
	things := connect(t, server)
	insert(t, things, id(1))
	ctx, hangUp := context.WithCancel(t.Context())
	server.SetLatency(mongowire.Latency{Write: time.Hour})
	done := make(chan error)
	for n := range 8 {
		go func() {
			_, err := things.InsertOne(ctx, id(10+n))
			done <- err
		}()
	}
	for stored := int64(0); stored < 9; { // other clients see the writes, which have no reply yet
		n, err := things.CountDocuments(t.Context(), bson.D{})
		waybooktest.OK(t, err)
		stored = n
	}
	server.SetLatency(mongowire.Latency{Read: time.Hour})
	go func() { done <- things.FindOne(ctx, id(1)).Err() }()
	insert(t, things, id(2))
	hangUp()
	for range 9 {
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
}
