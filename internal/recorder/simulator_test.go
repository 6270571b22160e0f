package recorder

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/probefleet/probefleet/internal/spool/spooltest"
)

var (
	seeds     = flag.Int("seeds", 10_000, "schedules that the simulator runs")
	firstSeed = flag.Uint64("seed", 1, "the first of them")
)

// TestSimulator runs random schedules of everything that goes wrong around a recorder
// (outages, lost answers, slowness, bad rows, full and failing disks, damaged files,
// crashes, power cuts, stops) against a model of the stream, and compares what was
// acknowledged with what the store has in the end.
func TestSimulator(t *testing.T) {
	t.Parallel()
	n := *seeds
	if testing.Short() {
		n = min(n, 300)
	}
	began := time.Now()
	var next atomic.Int64
	var events [actions]atomic.Int64
	t.Run("schedules", func(t *testing.T) {
		for shard := range runtime.GOMAXPROCS(0) {
			t.Run(fmt.Sprint(shard), func(t *testing.T) {
				t.Parallel()
				for !t.Failed() {
					i := next.Add(1) - 1
					if i >= int64(n) {
						return
					}
					seed := *firstSeed + uint64(i)
					synctest.Test(t, func(t *testing.T) {
						for a, count := range newWorld(t, seed).run() {
							events[a].Add(int64(count))
						}
					})
					if t.Failed() {
						t.Logf("again: go test -race -run TestSimulator -seed %d -seeds 1 ./internal/recorder", seed)
					}
				}
			})
		}
	})
	for a := range events {
		if n >= 1000 && events[a].Load() < int64(n)/20 {
			t.Errorf("%s happened %d times in %d schedules: the test has lost its point", action(a), events[a].Load(), n)
		}
	}
	t.Logf("%d schedules in %v", n, time.Since(began).Round(time.Millisecond))
}

// action is something that a schedule does.
type action int

const (
	due     action = iota // slots come to be recorded
	weather               // the store changes its behaviour
	cut                   // power is lost
	kill
	stopping
	badDisk
	damage // a file on disk changes a bit
	actions
)

func (a action) String() string {
	return [...]string{"due", "weather", "cut", "kill", "stop", "bad disk", "damage"}[a]
}

// chances of each action, in percent.
var chances = [actions]int{due: 48, weather: 22, cut: 7, kill: 6, stopping: 4, badDisk: 4, damage: 9}

func draw(rng *rand.Rand) action {
	at := rng.IntN(100)
	for a, chance := range chances {
		if at -= chance; at < 0 {
			return action(a)
		}
	}
	return due
}

// run plays a schedule and says how often each action happened.
func (w *world) run() [actions]int {
	var happened [actions]int
	life := w.boot()
	for range 4 + w.rng.IntN(8) {
		if life.broken() { // the process ends with exit code 74
			w.fs.Heal()
			life = w.crash(life, w.fs.Kill)
		}
		a := draw(w.rng)
		switch a {
		case due:
			w.due(1 + w.rng.IntN(6))
		case weather:
			w.weather(mode(w.rng.IntN(int(modes))))
		case cut:
			life = w.crash(life, func() {
				if w.rng.IntN(2) == 0 {
					w.fs.Crash()
				} else {
					w.fs.CrashKeeping(w.rng)
				}
			})
		case kill:
			life = w.crash(life, w.fs.Kill)
		case stopping:
			life = w.restart(life)
		case badDisk:
			w.fs.Fail([]spooltest.Op{spooltest.OpSync, spooltest.OpSyncDir, spooltest.OpWrite, spooltest.OpRemove}[w.rng.IntN(4)], 1+w.rng.IntN(3), syscall.EIO)
		case damage:
			if !w.damage() {
				continue
			}
		}
		happened[a]++
		<-time.After(w.pause())
		w.check(life)
	}
	w.settle(life)
	return happened
}

func (w *world) pause() time.Duration {
	most := []time.Duration{time.Millisecond, 100 * time.Millisecond, time.Second, 20 * time.Second}[w.rng.IntN(4)]
	return time.Duration(w.rng.Int64N(int64(most))) + 1
}

// settle lets everything work again, waits until nothing is under way, and compares.
func (w *world) settle(life *life) {
	w.fs.Heal()
	if life.broken() {
		life = w.crash(life, w.fs.Kill)
	}
	w.weather(fine)
	deadline := time.Now().Add(5 * time.Minute)
	for !w.quiet(life) {
		if time.Now().After(deadline) {
			w.t.Errorf("seed %d: not settled after five minutes: %s", w.seed, w.describe(life))
			break
		}
		<-time.After(250 * time.Millisecond)
	}
	w.end(life)
	w.lives.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	for target := int64(1); target <= w.targets; target++ {
		switch {
		case w.lost[target]:
		case !w.acked[target] && !w.dead[target]:
			w.t.Errorf("seed %d: target %d is pending for ever", w.seed, target)
		case bad(target) && !w.dead[target]:
			w.t.Errorf("seed %d: bad row of target %d was never rejected", w.seed, target)
		case !bad(target) && len(w.stored[target]) == 0:
			w.t.Errorf("seed %d: target %d was acknowledged and is not stored", w.seed, target)
		case !bad(target) && w.dead[target]:
			w.t.Errorf("seed %d: good row of target %d was rejected", w.seed, target)
		}
	}
}

// check is what holds at every moment.
func (w *world) check(l *life) {
	s := l.r.State()
	if s.Buffered > maxBuffered+mostRows { // those just settled included
		w.t.Errorf("seed %d: %d rows buffered", w.seed, s.Buffered)
	}
	var size int64
	for _, name := range w.fs.Names("/spool") {
		content, err := w.fs.Content("/spool/" + name)
		if err == nil && strings.HasSuffix(name, ".batch") {
			size += (int64(len(content)) + 4095) / 4096 * 4096
		}
	}
	if size > w.maxBytes || s.Spool.Bytes > w.maxBytes {
		w.t.Errorf("seed %d: %d bytes on disk, %d by its own account, cap %d", w.seed, size, s.Spool.Bytes, w.maxBytes)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.Spool.Corrupt > w.damaged {
		w.t.Errorf("seed %d: %d corrupt files, %d were damaged", w.seed, s.Spool.Corrupt, w.damaged)
	}
}

func (w *world) quiet(l *life) bool {
	if s := l.r.State(); s.Buffered > 0 || s.Spool.Batches > 0 {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.pending) == 0 && len(l.taken) == 0
}

func (w *world) describe(l *life) string {
	s := l.r.State()
	w.mu.Lock()
	defer w.mu.Unlock()
	return fmt.Sprintf("%d pending, %d taken, %+v, %+v, last disk error %v", len(w.pending), len(l.taken), s, *s.Spool, errors.Unwrap(l.fatal))
}
