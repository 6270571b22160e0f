package faults

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// narrow is the environment of a prober that takes on 100 checks at most, so that it
// is soon full, and sends few rows at a time: each batch takes a block of the spool.
func narrow(more ...string) []string {
	return append([]string{"PROBER_WORKERS_MIN=1", "PROBER_WORKERS_MAX=1", "PROBER_CHECKS_PER_WORKER=100", "PROBER_BATCH_AGE=150ms"}, more...)
}

// smallDisk gives a prober a spool on a disk of its own, of so many bytes, and narrow
// means. Mounting one needs root.
func (t *trial) smallDisk(p *process, bytes string) {
	t.Helper()
	p.down()
	if err := unix.Mount("tmpfs", p.spool, "tmpfs", 0, "size="+bytes); err != nil {
		p.up(t)
		t.Fatalf("a disk of its own for the spool (this row needs root): %v", err)
	}
	t.Cleanup(func() {
		t.rig.within(2*time.Minute, func() bool { status, _ := p.health(); return status == "ok" && p.metric("probefleet_spool_rows") == 0 })
		p.down()
		if err := unix.Unmount(p.spool, unix.MNT_DETACH); err != nil {
			t.Errorf("%v", err)
		}
		p.up(t)
	})
	p.up(t, narrow()...)
	t.awaitWell(30 * time.Second)
}

// fill writes a file that leaves so many bytes of a disk; what it returns removes it.
// With nothing left, whatever becomes free meanwhile is taken too.
func (t *trial) fill(dir string, leave int64) (empty func()) {
	t.Helper()
	var disk unix.Statfs_t
	name := filepath.Join(dir, "ballast")
	file, err := os.Create(name)
	if err == nil {
		err = unix.Statfs(dir, &disk)
	}
	if err == nil && leave > 0 {
		err = unix.Fallocate(int(file.Fd()), 0, 0, int64(disk.Bavail)*disk.Bsize-leave)
	}
	if err != nil {
		t.Fatalf("fill %s: %v", dir, err)
	}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for block := make([]byte, 64<<10); leave == 0; {
			if _, err := file.Write(block); err == nil {
				continue
			}
			select {
			case <-time.After(5 * time.Millisecond):
			case <-stop:
				return
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(stop)
		<-done
		if err := errors.Join(file.Close(), os.Remove(name)); err != nil {
			t.Errorf("%v", err)
		}
	})
}

// durable fails when a prober has acknowledged more than is stored or on disk.
func (t *trial) durable(p *process) {
	t.Helper()
	acked := p.metric("probefleet_prober_acked_total") // first: the other may only have grown
	rows := p.metric("probefleet_recorder_rows_total", `outcome="stored"`) + p.metric("probefleet_recorder_rows_total", `outcome="spooled"`)
	if p.pid() != 0 && acked > rows {
		t.Errorf("%s acknowledged %.0f checks with %.0f durable rows", p.name, acked, rows)
	}
}

// awaitPause returns when a prober says that its spool is full and takes on no more.
func (t *trial) awaitPause(p *process, limit time.Duration) {
	t.Helper()
	t.await(limit, p.name+" says error and takes on nothing more", func() bool {
		t.durable(p)
		status, reasons := p.health()
		if status != "error" || !strings.Contains(strings.Join(reasons, " "), "spool") {
			return false
		}
		before := p.metric("probefleet_prober_results_total")
		t.wait(3 * time.Second)
		return before > 0 && p.metric("probefleet_prober_results_total") == before
	})
}

// diskFull fills the disk of a prober's spool while ClickHouse is down. In every other
// trial the prober is killed then, and starts on the full disk.
func diskFull(r *rig, t *trial) {
	n := t.rng.IntN(2)
	victim, neighbour := r.probers[n], r.probers[1-n]
	t.smallDisk(victim, "8m")
	empty := t.fill(victim.spool, 64<<10)
	defer empty()
	deaths := victim.deaths()
	t.inject()
	neighbour.down() // the victim has the region to itself until it is full
	r.click.kill()
	t.awaitPause(victim, 45*time.Second)
	neighbour.up(t)
	if t.number%2 == 1 {
		victim.kill()
		deaths++
	}
	for until := time.Now().Add(t.outage); time.Now().Before(until); t.wait(time.Second) {
		t.durable(victim)
	}
	if n := victim.deaths(); n != deaths {
		t.Errorf("%s ended %d times on a full disk: %+v", victim.name, n-deaths, victim.last())
	}
	kept := func() float64 { return victim.metric("probefleet_spool_appends_total", `outcome="kept"`) }
	acked := func() float64 { return victim.metric("probefleet_prober_acked_total") }
	keptBefore, ackedBefore := kept(), acked()
	empty()
	t.mended()
	t.await(30*time.Second, "it keeps and acknowledges again", func() bool { return kept() > keptBefore && acked() > ackedBefore })
	t.recovered(5 * time.Second)
	r.click.start(t)
	t.awaitEveryRow(time.Now(), 90*time.Second)
}

// spoolAtCap lets a spool of 1 MiB run full while ClickHouse is down.
func spoolAtCap(r *rig, t *trial) {
	const most = 1 << 20
	n := t.rng.IntN(2)
	victim, neighbour := r.probers[n], r.probers[1-n]
	victim.restart(t, narrow("PROBER_SPOOL_MAX_BYTES=1MiB")...)
	t.Cleanup(func() { victim.restart(t) })
	t.awaitWell(30 * time.Second)
	t.inject()
	neighbour.down() // the victim has the region to itself until it is full
	r.click.kill()
	within := func() {
		if on, said := blocksIn(victim.spool), victim.metric("probefleet_spool_bytes"); on > most || said > most {
			t.Errorf("%d bytes of batches on disk, %.0f by its own count, more than %d", on, said, most)
		}
		t.durable(victim)
	}
	t.await(10*time.Minute, "the spool is full", func() bool { within(); return victim.metric("probefleet_spool_full") > 0 })
	t.awaitPause(victim, time.Minute)
	neighbour.up(t)
	within()
	held := victim.metric("probefleet_spool_rows")
	t.wait(5 * time.Second)
	if now := victim.metric("probefleet_spool_rows"); now < held {
		t.Errorf("%.0f rows were on disk, and %.0f are while nothing can be stored", held, now)
	}
	r.click.start(t)
	t.mended()
	t.awaitEveryRow(t.injected, 90*time.Second)
	t.await(90*time.Second, "the spool is empty", func() bool { return victim.metric("probefleet_spool_rows") == 0 })
	t.recovered(90 * time.Second)
}

// blocksIn is what the batches in a spool take on the disk.
func blocksIn(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		var about syscall.Stat_t
		if err == nil && strings.HasSuffix(path, ".batch") && syscall.Stat(path, &about) == nil { // it may be replayed just now
			bytes += about.Blocks * 512
		}
		return nil
	})
	return bytes
}

// diskBroken takes the folder of a spool away while it is being written to: the next
// write fails for another reason than want of room.
func diskBroken(r *rig, t *trial) {
	victim := r.named("us-1") // it has rows every second
	away := victim.spool + ".away"
	t.inject()
	victim.click.cut()
	t.await(60*time.Second, "its rows wait on disk", func() bool { return victim.metric("probefleet_spool_rows") > 0 })
	ended := victim.ended()
	if err := os.Rename(victim.spool, away); err != nil {
		t.Fatalf("%v", err)
	}
	err := os.WriteFile(victim.spool, nil, 0o600) // and no life may begin on an empty one
	broken := time.Now()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Errorf("%s goes on without its disk", victim.name)
	}
	if e := victim.last(); err != nil || e.code != 74 || e.at.Sub(broken) > 5*time.Second {
		t.Errorf("%s ended with code %d and signal %v after %v (%v), want 74", victim.name, e.code, e.signal, e.at.Sub(broken), err)
	}
	victim.down()
	if err := os.Remove(victim.spool); err != nil {
		t.Errorf("%v", err)
	}
	if err := os.Rename(away, victim.spool); err != nil {
		t.Fatalf("%v", err)
	}
	victim.click.mend(t)
	victim.up(t)
	t.mended()
	t.awaitEveryRow(t.injected, 60*time.Second)
	t.recovered(60 * time.Second)
}

// regionCannotSettle cuts the only prober of a region off ClickHouse, with a spool of
// 1 MiB, for long enough that its checks expire unread.
func regionCannotSettle(r *rig, t *trial) {
	victim := r.named("us-1")
	victim.restart(t, narrow("PROBER_SPOOL_MAX_BYTES=1MiB")...)
	t.Cleanup(func() { victim.restart(t) })
	t.awaitWell(30 * time.Second)
	t.inject()
	victim.click.cut()
	began := time.Now()
	t.awaitPause(victim, 3*time.Minute)
	full := time.Now()
	t.wait(time.Until(began.Add(t.outage)))
	if n := t.rowsOf("region = 'us' AND reason = 'region_down'"); n == 0 {
		t.Errorf("no slot is stated as missed after %v, the spool was full after %v", t.outage, full.Sub(began))
	}
	victim.click.mend(t)
	t.mended()
	t.await(90*time.Second, "its spool is empty", func() bool { return victim.metric("probefleet_spool_rows") == 0 })
	t.awaitRows(t.injected.Add(2*time.Second), 60*time.Second, "us")
	t.recovered(90 * time.Second)
	// What it had in hand was measured: those rows outrank what was stated meanwhile.
	t.awaitEveryRow(t.injected, 150*time.Second)
	if n := t.rowsOf(fmt.Sprintf("region = 'us' AND status = 'missed' AND scheduled_at < fromUnixTimestamp64Milli(%d)", began.UnixMilli())); n > 0 {
		t.Errorf("%d slots of before the outage are missed, though they were measured", n)
	}
	if n := t.rowsOf("region = 'eu' AND " + unmeasured); n > 0 {
		t.Errorf("%d slots of the other region are not measured", n)
	}
}
