package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/dashboard-api/internal/live"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/maintenance"
	"github.com/probefleet/probefleet/internal/maintenancestore"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdict"
)

// A window that is made through one node is shown by every node, without a result, and so are its changes and its end.
func TestMaintenanceIsShownLiveByEveryNode(t *testing.T) {
	t.Parallel()
	p := newPlace(t, func(t *uptime.Target) {
		t.Interval, t.Timeout, t.Tags = 24*time.Hour, 10*time.Second, []string{"db"}
	})
	slot := time.Now().UTC().Truncate(time.Second)
	p.announce(uptime.Result{ScheduledAt: slot, CheckedAt: slot, IngestedAt: slot, Status: uptime.StatusUp})
	nodes := []*node{p.node(), p.node()}
	shown := func(what, state string) {
		t.Helper()
		for _, n := range nodes {
			n.await(what, func() bool { return n.state(p.target.ID) == state })
		}
	}
	shown("it is up", "up")
	feed := nodes[1].watch(fmt.Sprintf("target:%d", p.target.ID))
	begins := time.Now().UTC().Add(-time.Minute).Format("2006-01-02T15:04:05")
	code, text := nodes[0].call("POST", "/api/v1/maintenance-windows", `{"name":"moving","tags":["db"],"starts_at":"`+begins+`","duration_s":3600}`)
	if code != http.StatusCreated {
		t.Fatalf("%d %s", code, text)
	}
	shown("it is in maintenance", "maintenance")
	nodes[1].await("readers are told", func() bool { return strings.Contains(feed.String(), `"state":"maintenance"`) })
	for _, change := range []struct{ body, state string }{{`{"starts_at":"2099-01-01T00:00:00"}`, "up"}, {`{"starts_at":"` + begins + `"}`, "maintenance"}} {
		if code, text := nodes[0].call("PATCH", "/api/v1/maintenance-windows/1", change.body); code != http.StatusOK {
			t.Fatalf("%d %s", code, text)
		}
		shown("it was changed", change.state)
	}
	if code, text := nodes[0].call("DELETE", "/api/v1/maintenance-windows/1", ""); code != http.StatusNoContent {
		t.Fatalf("%d %s", code, text)
	}
	shown("it was ended early", "up")
}

// holding is a table of windows that may break.
type holding struct {
	mu      sync.Mutex
	windows []maintenancestore.Window
	err     error
}

func (h *holding) Holding(context.Context, time.Time) ([]maintenancestore.Window, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.windows), h.err
}

func (h *holding) set(windows []maintenancestore.Window, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.windows, h.err = windows, err
}

// Windows begin and end by themselves while the database is away, for longer than a laying out lasts.
func TestMaintenanceGoesOnWithoutTheDatabase(t *testing.T) {
	t.Parallel()
	store := maintenancestore.New(databasetest.Open(t, testbackend.SQLite(t)))
	synctestStart := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // where synctest's clock begins
	if _, err := store.Create(t.Context(), "nightly", maintenance.Window{Scope: maintenance.Scope{Everything: true}, StartsAt: "2000-01-01T02:00:00", DurationS: 3600, RRule: "FREQ=DAILY"}, synctestStart); err != nil {
		t.Fatal(err)
	}
	windows, err := store.Holding(t.Context(), synctestStart)
	if err != nil || len(windows) != 1 {
		t.Fatalf("%v %v", windows, err)
	}
	synctest.Test(t, func(t *testing.T) {
		hub := live.New(live.Options{})
		table := &holding{windows: windows}
		m := &maintained{windows: table, hub: hub, now: time.Now, health: service.NewHealth("test", ""), log: slog.New(slog.DiscardHandler)}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- m.follow(ctx) }()
		hub.Load([]uptime.Target{target(1, 1)}, nil, []string{"eu"})
		state := func() verdict.State { synctest.Wait(); return hub.Snapshot().Items[0].State }
		at := func(hours float64, want verdict.State) {
			t.Helper()
			time.Sleep(time.Until(synctestStart.Add(time.Duration(hours * float64(time.Hour)))))
			if got := state(); got != want {
				t.Errorf("%v hours later: %s, want %s", hours, got, want)
			}
		}
		at(1.999, verdict.StateNoData)
		at(2, verdict.StateMaintenance)
		table.set(nil, errors.New("away"))
		at(2.999, verdict.StateMaintenance)
		at(3, verdict.StateNoData)
		at(5*24+2.5, verdict.StateMaintenance)
		table.set(nil, nil) // and somebody has removed it
		at(5*24+2.6, verdict.StateNoData)
		cancel()
		<-ended
	})
}

// A window that cannot be read is told where people look what is wrong with a node.
func TestWindowsThatCannotBeReadAreTold(t *testing.T) {
	t.Parallel()
	db := databasetest.Open(t, testbackend.SQLite(t))
	store, now := maintenancestore.New(db), time.Now()
	w, err := store.Create(t.Context(), "w", maintenance.Window{Scope: maintenance.Scope{Everything: true}, StartsAt: "2000-01-01T02:00:00", DurationS: 3600}, now)
	if err == nil {
		err = db.Write().Exec("UPDATE maintenance_windows SET terms = '{'").Error
	}
	if err != nil {
		t.Fatal(err)
	}
	health := service.NewHealth("test", "")
	m := &maintained{windows: store, hub: live.New(live.Options{}), now: time.Now, health: health, log: slog.New(slog.DiscardHandler)}
	told := func() bool {
		m.look(t.Context())
		answer := httptest.NewRecorder()
		service.OpsHandler(health, prometheus.NewRegistry()).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/healthz", nil))
		return strings.Contains(answer.Body.String(), "cannot read all of maintenance windows")
	}
	if !told() {
		t.Error("nothing is told")
	}
	if err := store.Remove(t.Context(), w.ID, 0, now); err != nil || told() {
		t.Errorf("it is over and told of, or %v", err)
	}
}

// The newest slots of a target that is checked once a day are months: so is what is told of them.
func TestMaintenanceOfLongAgoIsToldOfRareTargets(t *testing.T) {
	t.Parallel()
	store := maintenancestore.New(databasetest.Open(t, testbackend.SQLite(t)))
	synctestStart := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // where synctest's clock begins
	if _, err := store.Create(t.Context(), "moving", maintenance.Window{Scope: maintenance.Scope{Everything: true}, StartsAt: "2000-01-01T02:00:00", DurationS: 3600}, synctestStart); err != nil {
		t.Fatal(err)
	}
	windows, err := store.Holding(t.Context(), synctestStart)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		hub := live.New(live.Options{})
		m := &maintained{windows: &holding{windows: windows}, hub: hub, now: time.Now, health: service.NewHealth("test", ""), log: slog.New(slog.DiscardHandler)}
		rare := target(1, 1)
		rare.Interval = 24 * time.Hour
		hub.Load([]uptime.Target{rare, target(2, 1)}, nil, []string{"eu"})
		time.Sleep(60 * 24 * time.Hour)
		m.look(t.Context())
		items := hub.Snapshot().Items
		if got := items[0].Maintained; len(got) != 1 || !got[0].From.Equal(synctestStart.Add(2*time.Hour)) || !got[0].To.Equal(synctestStart.Add(3*time.Hour)) {
			t.Errorf("of one a day: %+v", got)
		}
		if got := items[1].Maintained; got != nil {
			t.Errorf("of one a minute: %+v", got)
		}
	})
}
