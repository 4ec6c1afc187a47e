package service

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waybook/waybook/internal/docstore/mongo"
)

func TestAStartThatWaitsLogsItsCauseOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logged bytes.Buffer
		waits := &waitLog{log: slog.New(slog.NewTextHandler(&logged, nil))}
		waits.report(t.Context(), "db:27017/waybook", nil)
		for range 40 { // over two minutes
			waits.report(t.Context(), "db:27017/waybook", errors.New("connection refused"))
			time.Sleep(3500 * time.Millisecond) // on the fake clock
		}
		began := strings.Count(logged.String(), `level=INFO msg="waiting for MongoDB" location=db:27017/waybook`)
		failed := strings.Count(logged.String(), `level=WARN msg="still waiting for MongoDB" location=db:27017/waybook error="connection refused"`)
		if began != 1 || failed != 3 {
			t.Errorf("%d and %d lines, want 1 and 3:\n%s", began, failed, logged.String())
		}
		for range 3 {
			waits.report(t.Context(), "db:27017/waybook", mongo.ErrUserRefused)
		}
		if n := strings.Count(logged.String(), `error="`+mongo.ErrUserRefused.Error()); n != 1 {
			t.Errorf("%d lines of another cause, want 1:\n%s", n, logged.String())
		}
	})
}
