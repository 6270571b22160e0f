package deploy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/migrations"
)

// clickUsers is an engine with the users of clickhouse/grants.sql, migrated by the one who is to.
type clickUsers struct {
	*testing.T
	*testbackend.ClickHouseUsers
}

func newClickUsers(t *testing.T) clickUsers {
	t.Helper()
	c := clickUsers{t, testbackend.NewClickHouseUsers(t, "clickhouse/grants.sql", "eu", "us-west")}
	must(t, migrations.UpClickHouse(t.Context(), c.URL("pf_migrate"), nil))
	c.RunFile("clickhouse/tables.sql")
	return c
}

func dial(t *testing.T, address string) driver.Conn {
	t.Helper()
	options, err := clickhouse.ParseDSN(address)
	must(t, err)
	conn, err := clickhouse.Open(options)
	must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// open is what a program has.
func (c clickUsers) open(user string) *resultstore.Store {
	c.Helper()
	s, err := resultstore.Open(c.Context(), c.URL(user))
	must(c.T, err)
	c.Cleanup(func() { _ = s.Close() })
	s.OnLostPrints(func(n int, err error) { c.Errorf("%s: %d prints are lost: %v", user, n, err) })
	return s
}

func batchFrom(prober string, rows ...uptime.Result) resultstore.Batch {
	return resultstore.Batch{Token: uuid.Must(uuid.NewV7()).String(), Prober: prober, Region: "eu", Attempt: 1, Rows: rows}
}

// Each program does here, as its own user, what it ever asks of ClickHouse.
func TestEachProgramDoesItsWorkAsItsUserOfClickHouse(t *testing.T) {
	t.Parallel()
	c := newClickUsers(t)
	ctx := t.Context()
	prober, api, publisher := c.open("pf_prober_eu"), c.open("pf_api"), c.open("pf_publisher")
	hour := time.Now().UTC().Truncate(time.Hour).Add(-30 * time.Hour)
	day := hour.Truncate(24 * time.Hour)
	row := func(id int64, region string, at time.Duration, seen *uptime.Print) uptime.Result {
		return uptime.Result{TargetID: id, Region: region, ScheduledAt: hour.Add(at), CheckedAt: hour.Add(at), Status: uptime.StatusUp, HTTPStatus: 200, TotalUS: 15, Attempt: 1, Prober: "eu-1", Print: seen}
	}
	down := row(1, "eu", 2*time.Minute, nil)
	down.Status, down.Failure = uptime.StatusDown, uptime.FailureTimeout

	must(t, prober.Insert(ctx, batchFrom("eu-1", row(1, "eu", time.Minute, &uptime.Print{URL: "https://example.com/"}), down, row(2, "eu", time.Minute, nil))))
	must(t, api.Insert(ctx, batchFrom("api-1", row(1, "ext-office", time.Minute, nil))))
	missed := uptime.Result{TargetID: 1, Region: "us", ScheduledAt: hour.Add(time.Minute), Status: uptime.StatusMissed, Reason: uptime.ReasonLost}
	must(t, publisher.Insert(ctx, batchFrom("publisher", missed)), publisher.InsertCycles(ctx, uuid.NewString(), []resultstore.Cycle{{Second: hour, Due: 3, Publisher: "p"}}))

	// Figures, their corrections, and what brings about both.
	now, err := publisher.ServerTime(ctx)
	must(t, err)
	if hours, err := publisher.DirtyHours(ctx, now.Add(-time.Hour), hour, hour.Add(time.Hour)); err != nil || len(hours) != 1 {
		t.Errorf("hours to compute: %v, %v", hours, err)
	}
	version := time.Now().Truncate(time.Second)
	for again, status := range []uptime.Status{uptime.StatusUp, uptime.StatusDown} {
		late := row(2, "eu", 5*time.Minute, nil)
		if late.Status = status; status == uptime.StatusDown {
			late.Failure = uptime.FailureTimeout
		}
		must(t, prober.Insert(ctx, batchFrom("eu-1", late)))
		done, err := publisher.RecomputeHour(ctx, resultstore.Rollup{Bucket: hour, Version: version.Add(time.Duration(again) * time.Second), Closed: again == 1})
		if err != nil || done.Rows == 0 || done.Revised == 0 && again == 1 {
			t.Errorf("an hour: %+v, %v", done, err)
		}
	}
	if done, err := publisher.RecomputeDay(ctx, resultstore.Rollup{Bucket: day, Version: version}); err != nil || done.Rows == 0 {
		t.Errorf("a day: %+v, %v", done, err)
	}
	must(t, publisher.MarkAgain(ctx, resultstore.Rollup{Bucket: hour, Version: version}, time.Hour))
	if altered, err := publisher.Keep(ctx, resultstore.Retentions{Raw: 20 * 24 * time.Hour, Hourly: 800 * 24 * time.Hour, Daily: 2000 * 24 * time.Hour}); err != nil || len(altered) != 6 {
		t.Errorf("kept for another time: %v, %v", altered, err)
	}
	must(t, dial(t, c.URL("pf_publisher")).Exec(ctx, "ALTER TABLE results MODIFY COMMENT 'whole since 2026-01-01T00:00:00Z'")) // as when results are kept for longer
	if second, ok, err := publisher.LastCycle(ctx); err != nil || !ok || !second.Equal(hour) {
		t.Errorf("the last second noted: %v %v, %v", second, ok, err)
	}
	must(t, publisher.Outcomes(ctx, hour, hour.Add(time.Hour), func(int64, string, uptime.Reason, [6]uint64) error { return nil }),
		publisher.SlotsSeen(ctx, hour, hour.Add(time.Hour), func(uptime.Slot) error { return nil }))

	// All that pages and the evaluator ask.
	ids, to := []int64{1, 2}, hour.Add(time.Hour)
	for name, ask := range map[string]func() (int, error){
		"results": func() (int, error) {
			all, err := api.Results(ctx, resultstore.ResultQuery{TargetID: 1, Limit: 10})
			return len(all), err
		},
		"latest":       func() (int, error) { all, err := api.LatestN(ctx, ids, 3, hour); return len(all), err },
		"current":      func() (int, error) { all, err := api.Current(ctx, ids); return len(all), err },
		"newest":       func() (int, error) { all, err := api.Newest(ctx, ids); return len(all), err },
		"measured":     func() (int, error) { all, err := api.LastMeasured(ctx, hour); return len(all), err },
		"certificates": func() (int, error) { _, err := api.Certificates(ctx, ids, hour); return 1, err },
		"series": func() (int, error) {
			s, err := api.Series(ctx, resultstore.SeriesQuery{TargetID: 1, From: hour, To: to})
			return len(s.At), err
		},
		"hourly": func() (int, error) {
			s, err := api.Series(ctx, resultstore.SeriesQuery{TargetID: 1, From: day.AddDate(0, 0, -9), To: to, Step: time.Hour})
			return len(s.At), err
		},
		"daily": func() (int, error) {
			s, err := api.Series(ctx, resultstore.SeriesQuery{TargetID: 1, From: day.AddDate(0, 0, -90), To: to, Step: 24 * time.Hour})
			return len(s.At), err
		},
		"matrix": func() (int, error) {
			all, err := api.Matrix(ctx, resultstore.SeriesQuery{TargetID: 1, From: hour, To: to})
			return len(all), err
		},
		"failures": func() (int, error) {
			f, err := api.Failures(ctx, resultstore.WindowQuery{TargetID: 1, From: hour, To: to})
			return len(f.Groups), err
		},
		"histogram": func() (int, error) {
			_, err := api.Histogram(ctx, resultstore.WindowQuery{TargetID: 1, From: hour, To: to})
			return 1, err
		},
		"evidence": func() (int, error) { _, found, err := api.Result(ctx, down.Slot()); return count(found), err },
		"turns":    func() (int, error) { all, err := api.Turns(ctx, 1, hour, to, nil); return len(all), err },
		"known":    func() (int, error) { all, err := api.Known(ctx, ids, 3, hour, time.Now()); return len(all), err },
		"last known": func() (int, error) {
			all, err := api.LastKnown(ctx, 1, []string{"eu"}, hour, to, time.Now())
			return len(all), err
		},
		"cycles":      func() (int, error) { sum, err := api.Cycles(ctx, hour, to); return int(sum.Due), err },
		"corrections": func() (int, error) { all, err := api.Corrections(ctx, ids, hour, to); return len(all), err },
		"revised":     func() (int, error) { all, err := api.Revised(ctx, ids, hour, to); return len(all), err },
		"marks":       func() (int, error) { all, err := api.Marks(ctx, time.Hour); return len(all), err },
		"export": func() (int, error) {
			all, err := api.ExportResults(ctx, resultstore.ExportQuery{TargetID: 1, To: to, Limit: 10})
			return len(all), err
		},
		"figures": func() (int, error) {
			all, err := api.ExportFigures(ctx, resultstore.TierHourly, resultstore.ExportQuery{TargetID: 1, To: to, Limit: 10})
			return len(all), err
		},
		"uptime": func() (int, error) { all, err := api.UptimeMany(ctx, ids, hour, to); return len(all), err },
		"cells": func() (n int, err error) {
			api.RolledUp(time.Now())
			err = api.Cells(ctx, resultstore.CellQuery{IDs: ids, From: day.AddDate(0, 0, -200), To: time.Now()}, func(int64, string, availability.Cell) error { n++; return nil })
			return n, err
		},
		"measurements": func() (n int, err error) {
			err = api.Measured(ctx, ids, hour, to, func(*uptime.Result) error { n++; return nil })
			return n, err
		},
	} {
		if n, err := ask(); err != nil || n == 0 {
			t.Errorf("%s: %d, %v", name, n, err)
		}
	}

	must(t, publisher.DeleteTargets(ctx, ids))
	if left, err := publisher.TargetsWithRows(ctx, ids); err != nil || len(left) != 0 {
		t.Errorf("deleted targets: %v are left, %v", left, err)
	}
	if refused := c.Refused(); len(refused) > 0 {
		t.Errorf("denied, though it is a part of the work:\n%s", strings.Join(refused, "\n"))
	}
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}
