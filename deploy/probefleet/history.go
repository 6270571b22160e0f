package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/rollupstore"
	"github.com/probefleet/probefleet/internal/service"
)

type historyCommand struct {
	Rebuild historyRebuild `cmd:"" help:"Compute the hourly and daily figures of a range again from the results. Figures that were right stay as they are; one that was interrupted goes on."`
	Export  historyExport  `cmd:"" help:"Write what is kept of a target to a file: results, or hourly or daily figures."`
}

// historyRebuild may run beside the publisher's job: both write what the results say.
type historyRebuild struct {
	storeFlags `embed:""`
	From       string `help:"First hour, such as 2026-11-01 or 2026-11-01T06:00:00Z; default: as far back as results are kept."`
	To         string `help:"End, not included; default: now."`
	Resume     bool   `help:"Go on with the rebuild that was interrupted last."`
	Afresh     bool   `help:"Begin again, also when one of the same range was interrupted."`
}

func (c *historyRebuild) Run(ctx context.Context, to console) error {
	stores, err := c.resolve()
	if err == nil && (stores.DatabaseURL == "" || stores.ClickHouseURL == "") {
		err = errors.New("a rebuild needs DATABASE_URL and CLICKHOUSE_URL")
	}
	if err != nil {
		return service.Exit(service.ExitConfig, err)
	}
	results, err := resultstore.Open(ctx, stores.ClickHouseURL)
	if err != nil {
		return service.Exit(service.ExitDependency, err)
	}
	defer results.Close()
	db, err := database.Open(ctx, stores.DatabaseURL)
	if err != nil {
		return service.Exit(service.ExitDependency, err)
	}
	defer db.Close()
	return c.rebuild(ctx, to, results, rollupstore.New(db))
}

func (c *historyRebuild) rebuild(ctx context.Context, to console, results *resultstore.Store, notes *rollupstore.Store) error {
	now, err := results.ServerTime(ctx)
	if err != nil {
		return service.Exit(service.ExitDependency, err)
	}
	kept, err := results.Kept(ctx)
	if err != nil {
		return service.Exit(service.ExitDependency, err)
	}
	oldest := resultstore.OldestHour(now, kept.Raw)
	r, err := c.begin(ctx, notes, now, oldest)
	if err != nil {
		return err
	}
	state, err := notes.State(ctx)
	if err != nil {
		return service.Exit(service.ExitDependency, err)
	}
	if r.Resumed {
		_, _ = fmt.Fprintf(to.Err, "going on from %s\n", r.Before.Format(time.RFC3339))
	}
	if r.From.Before(oldest) {
		_, _ = fmt.Fprintf(to.Err, "results are kept for %v: beginning at %s\n", kept.Raw, oldest.Format(time.RFC3339))
	}
	b := rebuilder{results: results, notes: notes, to: to, rebuild: r, first: later(r.From, oldest), now: now}
	if !state.Succeeded.IsZero() {
		b.closed = state.Succeeded.Add(-resultstore.CloseAfter)
	}
	if err := b.run(ctx); err != nil {
		if ctx.Err() != nil {
			_, _ = fmt.Fprintf(to.Err, "interrupted: %s to %s is done, %s to %s is not; %d hours were computed, %d figures corrected. Go on with\n  %s\n",
				b.rebuild.Before.Format(time.RFC3339), r.To.Format(time.RFC3339), r.From.Format(time.RFC3339), b.rebuild.Before.Format(time.RFC3339), b.hours, b.revised, c.toResume())
			return service.Exit(service.ExitFailure, errUnfinished) // a context's end is a good one elsewhere
		}
		return service.Exit(service.ExitDependency, err)
	}
	_, _ = fmt.Fprintf(to.Out, "rebuilt %d hours from %s to %s, corrected %d figures\n", b.hours, r.From.Format(time.RFC3339), r.To.Format(time.RFC3339), b.revised)
	return nil
}

var errUnfinished = errors.New("the rebuild is not finished")

// toResume is the command line that goes on. URLs hold passwords: whoever gave them has them.
func (c *historyRebuild) toResume() string {
	words := []string{"probefleet history rebuild --resume"}
	for flag, given := range map[string]string{"--database-url": c.DatabaseURL, "--clickhouse-url": c.ClickHouseURL} {
		if given != "" {
			words = append(words, flag+"=…")
		}
	}
	slices.Sort(words[1:])
	if c.Dir != "" && c.Dir != "./data" {
		words = append(words, "--dir="+strconv.Quote(c.Dir))
	}
	return strings.Join(words, " ")
}

// begin notes the rebuild that is asked for, or finds the one to go on with.
func (c *historyRebuild) begin(ctx context.Context, notes *rollupstore.Store, now, oldest time.Time) (r rollupstore.Rebuild, err error) {
	if c.Resume {
		if c.From != "" || c.To != "" || c.Afresh {
			return r, service.Exit(service.ExitConfig, errors.New("--resume knows its range"))
		}
		r, found, err := notes.UnfinishedRebuild(ctx)
		if err == nil && !found {
			err = errors.New("no rebuild was interrupted")
		}
		return r, service.Exit(service.ExitDependency, err)
	}
	from, err := instantOr(c.From, oldest)
	if err != nil {
		return r, service.Exit(service.ExitConfig, err)
	}
	until, err := instantOr(c.To, now)
	if err != nil {
		return r, service.Exit(service.ExitConfig, err)
	}
	if until.After(now) {
		until = now
	}
	from = from.Truncate(time.Hour)
	until = until.Add(time.Hour - 1).Truncate(time.Hour)
	if !from.Before(until) || !oldest.Before(until) {
		return r, service.Exit(service.ExitConfig, fmt.Errorf("nothing to rebuild from %s to %s", from.Format(time.RFC3339), until.Format(time.RFC3339)))
	}
	r, err = notes.StartRebuild(ctx, from, until, now, c.Afresh)
	return r, service.Exit(service.ExitDependency, err)
}

func instantOr(text string, other time.Time) (time.Time, error) {
	if text == "" {
		return other, nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no instant such as 2026-11-01 or 2026-11-01T06:00:00Z", text)
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
