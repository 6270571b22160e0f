package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/live"
	"github.com/probefleet/probefleet/internal/maintenance"
	"github.com/probefleet/probefleet/internal/maintenancestore"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/verdict"
)

const (
	windowsEvery = 2 * time.Second
	// laidAhead is how long windows begin and end by themselves while the database does not answer.
	laidAhead = 48 * time.Hour
	// laidFarBack is how far back it is told of targets of which the newest slots take long, when they were maintained: those of one
	// that is checked once a day reach as far.
	laidFarBack = 92 * 24 * time.Hour
)

// maintained tells the hub when targets are maintained.
type maintained struct {
	windows interface {
		Holding(ctx context.Context, since time.Time) ([]maintenancestore.Window, error)
	}
	hub    *live.Hub
	now    func() time.Time
	health *service.Health
	log    *slog.Logger

	known []maintenancestore.Window // as they were read last
	laid  time.Time                 // when they were laid out; zero: never
}

func (m *maintained) follow(ctx context.Context) error {
	m.look(ctx)
	return every(ctx, windowsEvery, m.look)
}

// look reads the windows. While the database does not answer they stay as they were.
func (m *maintained) look(ctx context.Context) {
	now := m.now()
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	found, err := m.windows.Holding(ctx, now.Add(-laidFarBack))
	if err != nil {
		m.log.Debug("maintenance windows not read", "error", err)
		found = m.known
	}
	m.tell(found, now)
	if !m.laid.IsZero() && now.Sub(m.laid) < laidAhead/2 && slices.EqualFunc(m.known, found, maintenancestore.Window.Alike) {
		return
	}
	m.known, m.laid = found, now
	lay := func(back time.Duration) maintenancestore.Laid {
		return maintenancestore.Lay(found, now.Add(-back), now.Add(laidAhead))
	}
	near, far := lay(maintenance.MaxDuration), lay(laidFarBack)
	m.hub.SetMaintenance(func(id int64, back time.Duration) []verdict.Span {
		if back > maintenance.MaxDuration {
			return far.Of(id)
		}
		return near.Of(id)
	})
}

// tell says which windows that are not over cannot be read.
func (m *maintained) tell(all []maintenancestore.Window, now time.Time) {
	var unread []int64
	for _, w := range all {
		if w.Unread != "" && (w.EndedAt.IsZero() || w.EndedAt.After(now)) {
			unread = append(unread, w.ID)
		}
	}
	if len(unread) > 0 {
		m.health.Set("maintenance", service.Degraded, fmt.Sprintf("this release cannot read all of maintenance windows, and by that they hold nobody: %d", unread))
		return
	}
	m.health.Set("maintenance", service.OK, "")
}
