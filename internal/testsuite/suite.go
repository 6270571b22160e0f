package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/probefleet/probefleet/internal/testfleet"
)

// stage is one line of the table.
type stage struct {
	name string
	run  func(context.Context, *stageRun)
}

// plan is what runs: first prepare, one stage after the other; if that passes, all lanes at once,
// in each one stage after the other.
type plan struct {
	prepare []stage
	lanes   [][]stage
}

func (p plan) stages() (all []stage) {
	all = append(all, p.prepare...)
	for _, lane := range p.lanes {
		all = append(all, lane...)
	}
	return all
}

// counts are of tests, their subtests included.
type counts struct{ passed, failed, skipped int }

// suite is one run of a command.
type suite struct {
	command string
	root    string // of the module
	cache   string // .cache/tests
	temp    string // removed at the end
	out     io.Writer
	began   time.Time
	timings *timings

	mu       sync.Mutex // of out and of what follows
	total    int
	numbered map[string]int
	ended    []*stageRun
	env      []string // for every command that is run
	stops    []func()
}

func newSuite(command string) (*suite, error) {
	root, err := testfleet.Root()
	if err != nil {
		return nil, err
	}
	cache := filepath.Join(root, ".cache", "tests")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return nil, fmt.Errorf("create the cache of the test suite: %w", err)
	}
	temp, err := os.MkdirTemp("", "probefleet-testsuite-")
	if err != nil {
		return nil, err
	}
	// PostgreSQL does not run as root, and has its data below.
	if err := os.Chmod(temp, 0o755); err != nil {
		return nil, err
	}
	return &suite{
		command: command, root: root, cache: cache, temp: temp, out: os.Stdout, began: time.Now(),
		timings: readTimings(cache), numbered: map[string]int{}, env: []string{"TEST_TEMPLATES=" + temp},
	}, nil
}

// close stops the servers of the run and removes its files.
func (s *suite) close() {
	for _, stop := range s.stops {
		stop()
	}
	_ = os.RemoveAll(s.temp)
}

func (s *suite) run(ctx context.Context, p plan) (passed bool, err error) {
	for i, one := range p.stages() {
		s.numbered[one.name] = i + 1
	}
	s.total = len(s.numbered)
	for _, one := range p.prepare {
		if s.runStage(ctx, one).failed > 0 {
			p.lanes = nil
			break
		}
	}
	var running sync.WaitGroup
	for _, lane := range p.lanes {
		running.Go(func() {
			for _, one := range lane {
				if ctx.Err() != nil {
					return
				}
				s.runStage(ctx, one)
			}
		})
	}
	running.Wait()
	s.timings.write()
	sum := s.printTable()
	if ctx.Err() != nil {
		return false, errors.New("stopped")
	}
	return sum.failed == 0, nil
}

// stageRun is a stage that runs or has run.
type stageRun struct {
	*suite
	name string
	counts
	took time.Duration
}

func (s *suite) runStage(ctx context.Context, one stage) counts {
	r := &stageRun{suite: s, name: one.name}
	s.printf("[%d/%d] %s …\n", s.numbered[one.name], s.total, one.name)
	began := time.Now()
	one.run(ctx, r)
	r.took = time.Since(began)
	s.printf("[%d/%d] %s … %.0f s: %s\n", s.numbered[one.name], s.total, one.name, r.took.Seconds(), r.counts)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = append(s.ended, r)
	return r.counts
}

func (c counts) String() string {
	text := fmt.Sprintf("%d passed, %d failed", c.passed, c.failed)
	if c.skipped > 0 {
		text += fmt.Sprintf(", %d skipped", c.skipped)
	}
	return text
}

// pass, fail and skip count one test of the stage; fail prints it.
func (r *stageRun) pass() { r.add(counts{passed: 1}) }
func (r *stageRun) skip() { r.add(counts{skipped: 1}) }

func (r *stageRun) fail(what, output string) {
	r.add(counts{failed: 1})
	r.printf("--- FAIL [%s] %s\n%s\n", r.name, what, strings.TrimRight(output, "\n"))
}

func (r *stageRun) add(c counts) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.passed, r.failed, r.skipped = r.passed+c.passed, r.failed+c.failed, r.skipped+c.skipped
}

func (s *suite) printf(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.out, format, args...)
}

// printTable prints what each stage did, and the sum.
func (s *suite) printTable() (sum counts) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.out, "\n%-14s %7s %7s %7s %8s\n", "stage", "passed", "failed", "skipped", "seconds")
	for _, r := range s.ended {
		fmt.Fprintf(s.out, "%-14s %7d %7d %7d %8.0f\n", r.name, r.passed, r.failed, r.skipped, r.took.Seconds())
		sum.passed, sum.failed, sum.skipped = sum.passed+r.passed, sum.failed+r.failed, sum.skipped+r.skipped
	}
	fmt.Fprintf(s.out, "\n%d passed, %d failed in %.0f s\n", sum.passed, sum.failed, time.Since(s.began).Seconds())
	return sum
}
