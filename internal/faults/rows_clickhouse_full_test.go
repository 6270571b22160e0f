package faults

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// replayBesideLive has ClickHouse come back to 100,000 and more spooled rows while
// checks go on.
func replayBesideLive(r *rig, t *trial) {
	t.inject()
	r.click.kill()
	t.awaitSpooling(30 * time.Second)
	t.wait(time.Until(t.injected.Add(t.outage)))
	began, rows, before := t.injected, 0.0, map[string]int{}
	for _, p := range r.probers {
		rows += p.metric("probefleet_spool_rows")
		before[p.name] = p.memory("VmHWM")
	}
	r.click.start(t)
	t.mended()
	t.awaitDrained(90 * time.Second)
	t.recovered(90 * time.Second)
	drained := time.Now()
	t.awaitEveryRow(drained.Add(-2*time.Second), 30*time.Second)
	t.Logf("%.0f rows were replayed in %v", rows, drained.Sub(t.injected).Round(time.Millisecond))
	for _, p := range r.probers {
		if grown := p.memory("VmHWM") - before[p.name]; grown > 256 {
			t.Errorf("the replay took %d MiB of %s", grown, p.name)
		}
	}
	between := func(column string, from, to time.Time) string {
		return fmt.Sprintf("%s >= fromUnixTimestamp64Milli(%d) AND %s < fromUnixTimestamp64Milli(%d)", column, from.UnixMilli(), column, to.UnixMilli())
	}
	// Batches of the outage were sealed in the order of their slots and must come in it:
	// a token is a time that ascends.
	wrong := t.count(`SELECT countIf(token < before) FROM (
		SELECT token, lagInFrame(token) OVER (PARTITION BY prober ORDER BY inserted_at, token) AS before FROM batches
		WHERE prober IN ('eu-1', 'eu-2', 'us-1') AND ` + between("last_slot", began.Add(5*time.Second), t.injected.Add(-5*time.Second)) + ")")
	if wrong > 0 {
		t.Errorf("%.0f batches were replayed before an older one", wrong)
	}
	live := between("first_slot", t.injected.Add(2*time.Second), drained)
	if n := t.count("SELECT count() FROM batches WHERE " + live); n == 0 {
		t.Errorf("no live batch while the spools were replayed")
	}
	if lag := t.count("SELECT quantileExact(0.99)(dateDiff('millisecond', scheduled_at, checked_at)) FROM results FINAL WHERE status <= 3 AND " + between("scheduled_at", t.injected.Add(2*time.Second), drained)); lag > 2000 {
		t.Errorf("one live check in a hundred began %.0f ms late", lag)
	}
	if lag := t.count("SELECT quantileExact(0.99)(dateDiff('millisecond', last_slot, inserted_at)) FROM batches WHERE prober IN ('eu-1', 'eu-2', 'us-1') AND " + live); lag > 2000 {
		t.Errorf("one live batch in a hundred was stored %.0f ms after its slots", lag)
	}
}

// clickhouseFull takes the room from ClickHouse: its data is on a disk of its own that
// is filled (this needs root), or it is told to keep more free than there is.
func clickhouseFull(r *rig, t *trial) {
	full := func() (empty func()) {
		const room = "min_free_disk_bytes_to_perform_insert"
		t.setting(room, "1000000000000000", "results")
		return sync.OnceFunc(func() { t.setting(room, "", "results") })
	}
	if t.number%2 == 0 {
		t.clickhouseOnSmallDisk("1g")
		full = func() func() { return t.fill(r.click.dir, 0) }
	}
	t.wait(time.Minute) // the breakers' last opening, also of the move, is forgotten: the next trial comes at once
	t.inject()
	empty := full()
	defer empty()
	t.awaitSpooling(60 * time.Second)
	t.wait(time.Until(t.injected.Add(t.outage)))
	empty()
	t.mended()
	stored := time.Time{}
	t.await(30*time.Second, "new rows are stored", func() bool {
		counts, err := r.audit.Measured(t.Context(), t.injected.Add(-t.outage), time.Now())
		stored = time.Now()
		return err == nil && counts["eu"] > 0 && counts["us"] > 0
	})
	t.recoveredAt(stored, 5*time.Second)
	t.awaitEveryRow(t.injected, 90*time.Second)
	t.awaitDrained(90 * time.Second)
}

// clickhouseOnSmallDisk moves the data to a disk of its own, and back after the trial.
func (t *trial) clickhouseOnSmallDisk(size string) {
	t.Helper()
	dir := t.rig.click.dir
	small, away := dir+".small", dir+".away"
	step := func(err error) {
		if err != nil {
			t.Fatalf("a disk of its own for ClickHouse (this row needs root): %v", err)
		}
	}
	copyTo := func(from, to string) error { return exec.Command("cp", "-a", from+"/.", to).Run() }
	step(os.MkdirAll(small, 0o700))
	t.rig.click.stop(t)
	step(unix.Mount("tmpfs", small, "tmpfs", 0, "size="+size))
	step(copyTo(dir, small))
	step(os.Rename(dir, away))
	step(os.MkdirAll(dir, 0o700))
	step(unix.Mount(small, dir, "", unix.MS_BIND, ""))
	t.rig.click.start(t)
	t.Cleanup(func() {
		t.rig.click.stop(t)
		_ = os.RemoveAll(away)
		err := os.MkdirAll(away, 0o700)
		for _, undo := range []func() error{
			func() error { return copyTo(dir, away) }, func() error { return unix.Unmount(dir, unix.MNT_DETACH) },
			func() error { return unix.Unmount(small, unix.MNT_DETACH) }, func() error { return os.Remove(dir) },
			func() error { return os.Rename(away, dir) },
		} {
			if err == nil {
				err = undo()
			}
		}
		if err != nil {
			t.Errorf("back to the first disk: %v", err)
		}
		t.rig.click.start(t)
	})
	t.awaitWell(time.Minute)
}
