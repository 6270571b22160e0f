package rollup

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/rollupstore"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/migrations"
)

func TestMain(m *testing.M) { testbackend.Main(m) }

// rig is a job on real stores, beside its model.
type rig struct {
	*model
	store *resultstore.Store
	notes *rollupstore.Store
	conn  driver.Conn
	job   *Job
	fails failures
}

// failures are when computing fails: for good after so many hours and days (negative:
// never), and whenever it is of a bad hour or day.
type failures struct {
	left atomic.Int64
	away atomic.Bool
	bad  atomic.Pointer[time.Time]
}

func (f *failures) end() {
	f.left.Store(-1)
	f.away.Store(false)
	f.bad.Store(nil)
}

func (f *failures) check(at time.Time) error {
	if f.left.Add(-1) == -1 {
		f.away.Store(true)
		return context.DeadlineExceeded
	}
	if bad := f.bad.Load(); bad != nil && bad.Equal(at) {
		return errBad
	}
	return nil
}

var errBad = errors.New("memory limit exceeded")

type always struct{}

func (always) Held() bool { return true }

type deaf struct{}

func (deaf) Set(string, service.Level, string) {}

// failing is a store that goes away after some work, or cannot do some of it.
type failing struct {
	*resultstore.Store
	*failures
}

func (f failing) ServerTime(ctx context.Context) (time.Time, error) {
	if f.away.Load() {
		return time.Time{}, context.DeadlineExceeded
	}
	return f.Store.ServerTime(ctx)
}

func (f failing) RecomputeHour(ctx context.Context, r resultstore.Rollup) (resultstore.Recomputed, error) {
	if err := f.check(r.Bucket); err != nil {
		return resultstore.Recomputed{}, err
	}
	return f.Store.RecomputeHour(ctx, r)
}

func (f failing) RecomputeDay(ctx context.Context, r resultstore.Rollup) (resultstore.Recomputed, error) {
	if err := f.check(r.Bucket); err != nil {
		return resultstore.Recomputed{}, err
	}
	return f.Store.RecomputeDay(ctx, r)
}

func newRig(t *testing.T) *rig {
	t.Helper()
	url := testbackend.ClickHouse(t)
	if err := migrations.UpClickHouse(t.Context(), url, nil); err != nil {
		t.Fatal(err)
	}
	store, err := resultstore.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	options, err := clickhouse.ParseDSN(url)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := clickhouse.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(); _ = store.Close() })
	r := &rig{model: newModel(), store: store, conn: conn, notes: rollupstore.New(databasetest.Open(t, testbackend.SQLite(t)))}
	r.fails.end()
	r.job = New(Options{Results: failing{store, &r.fails}, Notes: r.notes, Lease: always{}, Health: deaf{}, Log: slog.New(slog.DiscardHandler)})
	return r
}

func batch(rows ...uptime.Result) resultstore.Batch {
	return resultstore.Batch{Token: uuid.Must(uuid.NewV7()).String(), Prober: "p", Region: "eu", Attempt: 1, Rows: rows}
}

func (r *rig) insert(t *testing.T, b resultstore.Batch) {
	t.Helper()
	if err := r.store.Insert(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	r.model.insert(b)
}

func (r *rig) succeeded(t *testing.T) time.Time {
	t.Helper()
	state, err := r.notes.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return state.Succeeded
}

// run has the job do its work, and says what it did.
func (r *rig) run(t *testing.T) counts {
	t.Helper()
	succeeded := r.succeeded(t)
	done, err := r.job.runOnce(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r.model.run(succeeded, done.started)
	return done
}

// check compares every row of every table, and of latest, with the model.
func (r *rig) check(t *testing.T, what string) {
	t.Helper()
	same := func(table string, want, got any) {
		t.Helper()
		if diff := differ(want, got); diff != "" {
			t.Fatalf("%s: %s (- model, + stored): %.3000s", what, table, diff)
		}
	}
	status := func(all map[uptime.Slot]uptime.Result) map[uptime.Slot]uptime.Status {
		out := map[uptime.Slot]uptime.Status{}
		for s, one := range all {
			out[s] = one.Status
		}
		return out
	}
	raw := map[uptime.Slot]uptime.Status{}
	r.read(t, `SELECT target_id, region, scheduled_at, CAST(status, 'Int8') FROM results FINAL`, func(rows driver.Rows) error {
		var id uint64
		var s uptime.Slot
		var n int8
		err := rows.Scan(&id, &s.Region, &s.ScheduledAt, &n)
		s.TargetID, s.ScheduledAt = int64(id), s.ScheduledAt.UTC()
		if _, twice := raw[s]; twice {
			t.Errorf("%s: slot %v is counted twice", what, s)
		}
		raw[s] = uptime.Status(n)
		return err
	})
	same("results", status(r.slots), raw)
	same("rollup_1h", r.hourly, r.rows(t, "rollup_1h"))
	same("rollup_1d", r.daily, r.rows(t, "rollup_1d"))
	current, err := r.store.Current(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	newest := map[cell]uptime.Slot{}
	for _, one := range current {
		newest[cell{target: one.TargetID, region: one.Region}] = one.Slot()
		if want := r.slots[one.Slot()]; want.Status != one.Status || want.TotalUS != one.TotalUS {
			t.Fatalf("%s: latest of %v is %v, want %v", what, one.Slot(), one.Status, want.Status)
		}
	}
	wanted := map[cell]uptime.Slot{}
	for c, one := range r.latest() {
		wanted[c] = one.Slot()
	}
	same("results_latest", wanted, newest)
	same("corrections", bySeries(r.corrections), bySeries(r.readCorrections(t)))
}

// differ tells how two things differ; that they do not, it finds out without the library that
// tells it, which takes many times as long.
func differ(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got, cmp.AllowUnexported(cell{}, row{}, correction{}), cmpopts.EquateEmpty())
}

func bySeries(all []correction) map[cell][]correction {
	out := map[cell][]correction{}
	for _, c := range all {
		out[c.cell] = append(out[c.cell], c)
	}
	return out
}

func (r *rig) read(t *testing.T, sql string, each func(driver.Rows) error) {
	t.Helper()
	rows, err := r.conn.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows); err != nil {
			t.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

const countColumns = `toUInt32(up), toUInt32(degraded), toUInt32(down), toUInt32(unknown), toUInt32(missed)`

// rows are those of a rollup, of all targets or of some.
func (r *rig) rows(t *testing.T, table string, of ...uint64) map[cell]row {
	t.Helper()
	all := map[cell]row{}
	where := ""
	if len(of) > 0 {
		where = " WHERE target_id IN (" + strings.Trim(strings.ReplaceAll(fmt.Sprint(of), " ", ", "), "[]") + ")"
	}
	quarters := `[up], [degraded], [down], [unknown], [missed]`
	if table == "rollup_1h" {
		quarters = `quarter.up, quarter.degraded, quarter.down, quarter.unknown, quarter.missed`
	}
	r.read(t, `SELECT target_id, region, bucket, `+countColumns+`, `+quarters+`,
 dns_us_sum, connect_us_sum, tls_us_sum, wait_us_sum, transfer_us_sum, total_us_sum, total_us_min, total_us_max, revised_at > 0 FROM `+table+` FINAL`+where, func(rows driver.Rows) error {
		var (
			c     cell
			id    uint64
			one   row
			n     [5]uint32
			parts [5][]uint32
		)
		s := &one.sums
		if err := rows.Scan(&id, &c.region, &c.bucket, &n[0], &n[1], &n[2], &n[3], &n[4], &parts[0], &parts[1], &parts[2], &parts[3], &parts[4],
			&s[0], &s[1], &s[2], &s[3], &s[4], &s[5], &one.least, &one.most, &one.revised); err != nil {
			return err
		}
		c.target, c.bucket = int64(id), c.bucket.UTC()
		for status, quarter := range parts {
			sum := uint32(0)
			for q, count := range quarter {
				one.quarters[q][status] = count
				sum += count
			}
			if sum != n[status] {
				t.Errorf("%s %v: quarters %v do not add up to %d", table, c, quarter, n[status])
			}
		}
		if _, twice := all[c]; twice {
			t.Errorf("%s has %v twice", table, c)
		}
		all[c] = one
		return nil
	})
	return all
}

func (r *rig) readCorrections(t *testing.T) (all []correction) {
	t.Helper()
	was := "was_" + strings.ReplaceAll("up, degraded, down, unknown, missed", ", ", ", was_")
	r.read(t, `SELECT target_id, region, bucket, `+was+`, up, degraded, down, unknown, missed, was_total_us_sum, total_us_sum FROM corrections FINAL ORDER BY revised_at`, func(rows driver.Rows) error {
		var c correction
		var id uint64
		var n [10]uint32
		err := rows.Scan(&id, &c.region, &c.bucket, &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &n[7], &n[8], &n[9], &c.wasTotal, &c.isTotal)
		c.target, c.bucket = int64(id), c.bucket.UTC()
		c.was = row{quarters: [4][5]uint32{{n[0], n[1], n[2], n[3], n[4]}}}.counts()
		c.is = row{quarters: [4][5]uint32{{n[5], n[6], n[7], n[8], n[9]}}}.counts()
		all = append(all, c)
		return err
	})
	return all
}
