package main

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/httpapi"
	"github.com/probefleet/probefleet/dashboard-api/internal/live"
	"github.com/probefleet/probefleet/internal/incidentstore"
)

const (
	incidentsEvery = time.Second
	entriesAtOnce  = 500
	// lateEntry is how much later than entries with higher ids one may be committed and still be
	// told: longer than a commit may take.
	lateEntry = time.Minute
)

// incidentFeed tells the hub what happens in incidents, whichever node wrote it. The entries of
// timelines say what changed: nothing happens in an incident without one.
type incidentFeed struct {
	store interface {
		NewestEntry(ctx context.Context) (int64, error)
		EntriesAfter(ctx context.Context, id int64, limit int) ([]incidentstore.Entry, error)
		Some(ctx context.Context, ids []int64) ([]incidentstore.Incident, error)
	}
	hub   *live.Hub
	log   *slog.Logger
	woken chan struct{}

	after int64               // everything up to this entry was told
	told  map[int64]time.Time // entries after it that were, and when
}

func newIncidentFeed(store *incidentstore.Store, hub *live.Hub, log *slog.Logger) *incidentFeed {
	return &incidentFeed{store: store, hub: hub, log: log, woken: make(chan struct{}, 1), told: map[int64]time.Time{}}
}

// wake has it look now: this node has written something.
func (f *incidentFeed) wake() {
	select {
	case f.woken <- struct{}{}:
	default:
	}
}

// begin notes where the timelines end, and a little more, of which some may not be committed yet.
// Whoever reads the channel reads the incidents after that.
func (f *incidentFeed) begin(ctx context.Context) error {
	newest, err := f.store.NewestEntry(ctx)
	if err != nil {
		return fmt.Errorf("incidents: %w", err)
	}
	f.after = max(0, newest-entriesAtOnce)
	return nil
}

func (f *incidentFeed) follow(ctx context.Context) error {
	ticker := time.NewTicker(incidentsEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-f.woken:
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := f.look(ctx, time.Now()); err != nil && ctx.Err() == nil {
			f.log.Debug("incidents not read: told later", "error", err)
		}
	}
}

// look tells what was written since the last time.
func (f *incidentFeed) look(ctx context.Context, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	for at := f.after; ; {
		entries, err := f.store.EntriesAfter(ctx, at, entriesAtOnce)
		if err != nil {
			return err
		}
		changed := map[int64]bool{}
		for _, e := range entries {
			at = e.ID
			if _, told := f.told[e.ID]; !told {
				changed[e.Incident] = true
			}
		}
		if err := f.tell(ctx, slices.Sorted(maps.Keys(changed)), now); err != nil {
			return err
		}
		for _, e := range entries {
			if _, told := f.told[e.ID]; !told {
				f.told[e.ID] = now
			}
		}
		if len(entries) < entriesAtOnce {
			break
		}
	}
	for id, at := range f.told {
		if now.Sub(at) > lateEntry {
			f.after = max(f.after, id)
		}
	}
	maps.DeleteFunc(f.told, func(id int64, _ time.Time) bool { return id <= f.after })
	return nil
}

func (f *incidentFeed) tell(ctx context.Context, ids []int64, now time.Time) error {
	if len(ids) == 0 {
		return nil
	}
	incidents, err := f.store.Some(ctx, ids)
	if err != nil {
		return err
	}
	changes := make([]live.Change, 0, len(ids))
	for _, i := range incidents {
		changes = append(changes, live.Change{ID: i.ID, Item: httpapi.NewIncident(i, now)})
	}
	f.hub.Incidents(changes)
	return nil
}
