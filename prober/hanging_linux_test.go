package main

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/lab"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/migrations"
)

// flood is a fleet of targets most of which take connections and say nothing.
type flood struct {
	hanging, healthy int // checks a second
	timeout          time.Duration
	seconds          int // for which they are due
	megabytes        int // the prober may take at most
}

// pace is how often each target is due.
const pace = time.Minute

// inFlight is how many visits may be under way at once: a failure is looked at again after
// a pause, if there is time for it until the next slot. A second is in hand for a busy
// machine.
func (f flood) inFlight() int {
	long := f.timeout
	if again := 2*f.timeout + 250*time.Millisecond; again <= pace {
		long = again
	}
	return f.healthy + int(float64(f.hanging)*(long+time.Second).Seconds())
}

// second gives the checks of one second; their ids go on from first.
func (f flood) second(at int64, first int64, hangs [2]string, ok string) (checks []uptime.Check, healthy []int64) {
	total := f.hanging + f.healthy
	for i := range total {
		check := uptime.Check{
			TargetID: first + int64(i), ScheduledAt: time.Unix(at, 0).Add(time.Duration(i) * time.Second / time.Duration(total)).Truncate(time.Millisecond).UTC(),
			Interval: pace, SpecVersion: 1, Regions: []string{"eu"}, Kind: uptime.KindHTTP, URL: hangs[i%2], Timeout: f.timeout,
			Spec: uptime.Spec{TLS: &uptime.TLSSpec{SkipVerify: true}}.Text(),
		}
		if i*f.healthy/total != (i+1)*f.healthy/total { // spread evenly
			check.URL, check.Spec = ok, ""
			healthy = append(healthy, check.TargetID)
		}
		checks = append(checks, check)
	}
	return checks, healthy
}

// Nearly all targets hang, half of them behind TLS: no more visits are under way than their
// timeouts make, the process stays small, the others are visited on time, and every slot
// ends in one row. It is run with 10,000 targets a minute by
// go test -tags faults -run ManyTargetsHang ./prober
func TestManyTargetsHang(t *testing.T) {
	if testing.Short() {
		t.Skip("make verify: times are judged here; that a visit that hangs holds up no other is proven by prober/internal/probe")
	}
	for _, f := range floods {
		t.Run(f.timeout.String(), func(t *testing.T) { manyHang(t, f) })
	}
}

func manyHang(t *testing.T, hanging flood) {
	redisURL, clickHouseURL := testbackend.Redis(t), testbackend.ClickHouse(t)
	if err := migrations.UpClickHouse(t.Context(), clickHouseURL, func(string) {}); err != nil {
		t.Fatal(err)
	}
	store, err := resultstore.Open(t.Context(), clickHouseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	l, err := lab.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var hangs [2]string
	for i, server := range []string{"black-hole", "black-hole-tls"} {
		addr, err := l.Addr(server)
		if err != nil {
			t.Fatal(err)
		}
		hangs[i] = []string{"http://", "https://"}[i] + addr + "/"
	}
	redis, err := checkstream.Open(redisURL)
	if err != nil {
		t.Fatal(err)
	}
	defer redis.Close()
	publisher := checkstream.NewPublisher(redis)
	if err := publisher.EnsureGroups(t.Context(), []string{"eu"}); err != nil {
		t.Fatal(err)
	}
	prober, ended, log, ops := startProber(t, "REDIS_URL="+redisURL, "CLICKHOUSE_URL="+clickHouseURL, "PROBER_SPOOL_DIR="+t.TempDir())
	awaitOrEnd(t, "the prober's heartbeat", ended, log, func() bool {
		probers, err := publisher.Probers(t.Context())
		return err == nil && len(probers) == 1
	})

	began := time.Now()
	clock, err := publisher.Clock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	most, next, healthy, id := 0, clock.Tick+1, []int64(nil), int64(1)
	look := func() {
		n, err := strconv.Atoi(metric(t, ops, `probefleet_prober_entries{state="probing"}`))
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, n)
	}
	for last := next + int64(hanging.seconds); next < last; {
		awaitOrEnd(t, "the next second", ended, log, func() bool {
			look()
			clock, err = publisher.Clock(t.Context())
			return err == nil && clock.Now.Unix() >= next-1
		})
		checks, fine := hanging.second(next, id, hangs, l.URL()+"/ok")
		if _, err := publisher.Publish(t.Context(), checkstream.Chunk{Second: next, Seq: 1, Checks: checks, Last: true}); err != nil {
			t.Fatal(err)
		}
		healthy, id, next = append(healthy, fine...), id+int64(len(checks)), next+1
	}
	var rows map[int64]resultstore.Bar
	published := time.Now()
	awaitOrEnd(t, "half of the timeout", ended, log, func() bool { look(); return time.Since(published) > hanging.timeout/2 })
	awaitOrEnd(t, "a row of every slot", ended, log, func() bool {
		look()
		rows, err = rowsOf(t.Context(), store, id-1, began)
		return err == nil && len(rows) == int(id-1)
	})

	var late []time.Duration
	for target, row := range rows {
		wants := uptime.StatusDown
		if _, fine := slices.BinarySearch(healthy, target); fine {
			wants = uptime.StatusUp
			late = append(late, row.CheckedAt.Sub(row.ScheduledAt))
		}
		if row.Status != wants || wants == uptime.StatusDown && row.Failure != uptime.FailureTimeout {
			t.Fatalf("%+v", row)
		}
	}
	slices.Sort(late)
	if worst := late[len(late)-1]; worst > 2*time.Second || late[0] < -2*time.Second {
		t.Errorf("healthy targets were visited %v to %v late", late[0], worst)
	}
	if most > hanging.inFlight() || most < hanging.hanging {
		t.Errorf("%d visits at once, at most %d are promised", most, hanging.inFlight())
	}
	size := peak(t, prober.Process.Pid)
	if most := hanging.megabytes; size > most && !withRaces() {
		t.Errorf("the prober took %d MiB, at most %d are promised", size, most)
	}
	t.Logf("%d checks, %d visits at once of %d, healthy ones p99 %v late, %d MiB", len(rows), most, hanging.inFlight(), late[len(late)*99/100], size)
	drain(t, prober, ended, log)
}

// rowsOf reads the rows of targets 1 to n, one each.
func rowsOf(ctx context.Context, store *resultstore.Store, n int64, since time.Time) (map[int64]resultstore.Bar, error) {
	found := map[int64]resultstore.Bar{}
	for from := int64(1); from <= n; from += 1000 {
		var ids []int64
		for id := from; id <= min(n, from+999); id++ {
			ids = append(ids, id)
		}
		latest, err := store.LatestN(ctx, ids, 2, since.Add(-time.Minute))
		if err != nil {
			return nil, err
		}
		for id, rows := range latest {
			if len(rows) != 1 {
				return nil, fmt.Errorf("target %d has %d rows", id, len(rows))
			}
			found[id] = rows[0]
		}
	}
	return found, nil
}

// peak is the most memory a process has had, in MiB.
func peak(t *testing.T, pid int) (mib int) {
	t.Helper()
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(content), "VmHWM:")
	if _, err := fmt.Sscan(rest, &mib); err != nil {
		t.Fatal(err)
	}
	return mib >> 10
}

// withRaces says whether the race detector is here, which takes several times the memory.
func withRaces() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}
