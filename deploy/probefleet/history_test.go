package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

func TestMain(m *testing.M) { testbackend.Main(m) }

// calledOff is a terminal at which somebody presses Ctrl-C after some lines.
type calledOff struct {
	bytes.Buffer
	after int
	stop  context.CancelFunc
}

func (c *calledOff) Write(p []byte) (int, error) {
	if c.after--; c.after == 0 {
		c.stop()
	}
	return c.Buffer.Write(p)
}

func TestHistoryRebuildGoesOn(t *testing.T) {
	t.Parallel()
	stores := storeFlags{Dir: t.TempDir(), DatabaseURL: testbackend.SQLite(t), RedisURL: "redis://127.0.0.1:1", ClickHouseURL: testbackend.ClickHouse(t)}
	if err := migrate(t.Context(), stores.DatabaseURL, stores.ClickHouseURL, nil); err != nil {
		t.Fatal(err)
	}
	results, err := resultstore.Open(t.Context(), stores.ClickHouseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer results.Close()
	from := time.Now().UTC().Truncate(day).Add(-3 * day)
	var rows []uptime.Result
	for at := from; at.Before(from.Add(2 * day)); at = at.Add(6 * time.Hour) {
		rows = append(rows, uptime.Result{TargetID: 1, Region: "eu", ScheduledAt: at, CheckedAt: at, Status: uptime.StatusUp, TotalUS: 1, Attempt: 1, Prober: "p", IngestedAt: at})
	}
	if err := results.Insert(t.Context(), resultstore.Batch{Token: uuid.NewString(), Rows: rows}); err != nil {
		t.Fatal(err)
	}

	begun := historyRebuild{storeFlags: stores, From: from.Format(time.DateOnly), To: from.Add(2*day - 90*time.Minute).Format(time.RFC3339)}
	ctx, cancel := context.WithCancel(t.Context())
	terminal := &calledOff{after: 1, stop: cancel}
	if err := begun.Run(ctx, console{terminal, terminal}); err == nil || service.Code(err) != service.ExitFailure || errors.Is(err, context.Canceled) { // which would be a good end
		t.Fatalf("interrupted: %v", err)
	}
	if said := terminal.String(); !strings.Contains(said, from.Add(day).Format(time.DateOnly)+" done, 48%") || !strings.Contains(said, from.Add(day).Format(time.RFC3339)+" to "+from.Add(2*day-time.Hour).Format(time.RFC3339)+" is done") ||
		!strings.Contains(said, "23 hours were computed") || !strings.Contains(said, "\n  probefleet history rebuild --resume --clickhouse-url=… --database-url=… --dir=") || strings.Contains(said, stores.ClickHouseURL) {
		t.Errorf("said %q", said)
	}
	var out, progress bytes.Buffer
	if err := (&historyRebuild{storeFlags: stores, Resume: true}).Run(t.Context(), console{&out, &progress}); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("rebuilt 24 hours from %s to %s, corrected 0 figures\n", from.Format(time.RFC3339), from.Add(2*day-time.Hour).Format(time.RFC3339))
	if out.String() != want || !strings.HasPrefix(progress.String(), "going on from "+from.Add(day).Format(time.RFC3339)) || !strings.Contains(progress.String(), "100%") {
		t.Errorf("said %q and %q", out.String(), progress.String())
	}
	for name, c := range map[string]historyRebuild{
		"nothing to resume": {Resume: true}, "no range": {Resume: true, From: "2026-01-01"}, "no instant": {From: "yesterday"}, "long gone": {From: "2020-01-01", To: "2020-02-01"},
	} {
		c.storeFlags = stores
		if err := c.Run(t.Context(), console{&out, &progress}); err == nil || errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ahead := &calledOff{after: 1}
	ctx, ahead.stop = context.WithCancel(t.Context())
	defer ahead.stop()
	err = (&historyRebuild{storeFlags: stores, From: from.Format(time.DateOnly), To: "2100-01-01"}).Run(ctx, console{ahead, ahead})
	if err == nil || strings.HasPrefix(ahead.String(), "2099") { // the first hours it did are those of now
		t.Errorf("up to a day to come: %q, %v", ahead.String(), err)
	}
	out.Reset()
	if err := begun.Run(t.Context(), console{&out, &progress}); err != nil || !strings.HasPrefix(out.String(), "rebuilt 47 hours") {
		t.Errorf("again: %q, %v", out.String(), err)
	}
}

func TestMigrateChangesRetention(t *testing.T) {
	t.Parallel()
	url := testbackend.ClickHouse(t)
	if err := migrate(t.Context(), "", url, nil); err != nil {
		t.Fatal(err)
	}
	var lines []string
	report := func(line string) { lines = append(lines, line) }
	for _, step := range []struct {
		keep resultstore.Retentions
		want int
	}{{resultstore.Retentions{}, 0}, {resultstore.Retentions{Hourly: 90 * day}, 2}, {resultstore.Retentions{Hourly: 90 * day}, 0}} {
		lines = nil
		if err := retain(t.Context(), url, step.keep, report); err != nil || len(lines) != step.want {
			t.Errorf("%+v: %q, %v", step.keep, lines, err)
		}
	}
	if err := retain(t.Context(), url, resultstore.Retentions{Hourly: 2 * day}, report); err == nil {
		t.Error("hourly shorter than raw was accepted")
	}
}
