// Package watchdog ends a process whose loops stopped making progress, so that a
// supervisor can start a fresh one.
//
// Each stage of the work beats when it gets somewhere and has its own budget.
// A stage that outlives half its budget gets all goroutines' stacks written to
// the dump file; one that outlives all of it ends the process with exit code 70.
//
// The way out takes no locks and writes no log: whoever reads our stdout may be
// what is stuck. It is one write to a file opened at the start, and the system
// call. Time the whole process spent frozen is forgiven. What a watchdog inside
// the process cannot see (SIGSTOP, a wedged runtime) needs one outside.
package watchdog

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	exitCode = 70
	period   = 500 * time.Millisecond
	frozen   = 3 * period // between two looks: we ourselves stood still
	maxDump  = 4 << 20
)

// Watchdog looks after stages. Stages are added before Run.
type Watchdog struct {
	stages []*Stage
	dump   *os.File // nil: nowhere to write
	exit   func(stage *Stage)
}

// Stage is one loop that must make progress.
type Stage struct {
	name    string
	budget  time.Duration
	epitaph []byte // made beforehand: nothing is allocated on the way out
	started time.Time
	beat    atomic.Int64 // ns since started
	dumped  bool
}

// New makes a watchdog that writes what it sees to dump (In opens one).
func New(dump *os.File) *Watchdog {
	w := &Watchdog{dump: dump}
	fd := -1
	if dump != nil {
		fd = int(dump.Fd())
	}
	w.exit = func(stage *Stage) {
		if fd >= 0 {
			_, _ = syscall.Write(fd, stage.epitaph)
		}
		syscall.Exit(exitCode)
	}
	return w
}

// In makes a watchdog that writes what it sees to a file in folder. Without one it ends
// the process all the same.
func In(folder string, log *slog.Logger) *Watchdog {
	file, err := os.OpenFile(filepath.Join(folder, "watchdog.txt"), os.O_CREATE|os.O_WRONLY|os.O_APPEND|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		log.Warn("the watchdog has nowhere to write stacks to", "error", err)
		file = nil
	}
	return New(file)
}

// Stage adds a stage. It counts as started now.
func (w *Watchdog) Stage(name string, budget time.Duration) *Stage {
	s := &Stage{
		name: name, budget: budget, started: time.Now(),
		epitaph: fmt.Appendf(nil, "watchdog: stage %q made no progress for %v; exit %d\n", name, budget, exitCode),
	}
	w.stages = append(w.stages, s)
	return s
}

// Beat says that the stage made progress. It is cheap and safe anywhere.
func (s *Stage) Beat() { s.beat.Store(int64(time.Since(s.started))) }

// late is how long the stage has been silent.
func (s *Stage) late() time.Duration {
	return time.Since(s.started) - time.Duration(s.beat.Load())
}

// Run looks at the stages until ctx ends.
func (w *Watchdog) Run(ctx context.Context) error {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	var dumping sync.WaitGroup
	defer dumping.Wait()
	looked := time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		gap := time.Since(looked)
		looked = time.Now()
		w.look(gap > frozen, &dumping)
	}
}

// look judges every stage once. After a freeze all of them start afresh.
func (w *Watchdog) look(afterFreeze bool, dumping *sync.WaitGroup) {
	for _, s := range w.stages {
		switch late := s.late(); {
		case afterFreeze:
			s.Beat()
		case late > s.budget:
			w.exit(s)
		case late > s.budget/2 && !s.dumped && w.dump != nil:
			s.dumped = true
			dumping.Go(func() { w.stacks(s.name, late) }) // beside this loop: it stops the world
		case late <= s.budget/2:
			s.dumped = false
		}
	}
}

func (w *Watchdog) stacks(stage string, late time.Duration) {
	buf := make([]byte, maxDump)
	buf = buf[:runtime.Stack(buf, true)]
	_, _ = fmt.Fprintf(w.dump, "%s watchdog: stage %q silent for %v\n%s\n", time.Now().UTC().Format(time.RFC3339), stage, late.Round(time.Millisecond), buf)
}
