package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

const module = "github.com/probefleet/probefleet/"

// raceFlags are those of the Makefile, for every test: the race detector makes SQLite (C, translated)
// several times slower and has nothing of ours to find in it (docs/decisions/0047).
func raceFlags() []string {
	return []string{"-race", "-gcflags=modernc.org/sqlite/lib=-race=false", "-gcflags=modernc.org/memory=-race=false"}
}

// event is a line of `go test -json`.
type event struct {
	Action     string
	Package    string
	ImportPath string // of build output
	Test       string
	Output     string
	Elapsed    float64
}

// goTest runs `go test -json` with these arguments, counts its tests and prints what fails.
func (r *stageRun) goTest(ctx context.Context, args ...string) {
	cmd := r.program(ctx, "", append([]string{"go", "test", "-json", "-vet=off"}, args...)...)
	stdout, err := cmd.StdoutPipe()
	var problems strings.Builder
	cmd.Stderr = &problems
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		r.fail("go test", err.Error())
		return
	}
	failed := r.failed
	lines := follow(stdout, r)
	if err := cmd.Wait(); err != nil && r.failed == failed {
		r.fail("go "+strings.Join(args, " "), strings.Join(lines, "\n")+problems.String()+err.Error())
	}
}

// follow reads events to their end. It gives the lines that are none.
func follow(stdout io.Reader, r *stageRun) (others []string) {
	f := &follower{stageRun: r, output: map[string]*strings.Builder{}, reported: map[string]bool{}, progress: time.Now()}
	reader := bufio.NewReaderSize(stdout, 1<<20)
	for {
		line, err := reader.ReadBytes('\n')
		var e event
		if json.Unmarshal(line, &e) == nil && e.Action != "" {
			f.take(e)
		} else if text := strings.TrimSpace(string(line)); text != "" {
			others = append(others, text)
		}
		if err != nil {
			return others
		}
	}
}

// follower keeps the output of tests that have not ended.
type follower struct {
	*stageRun
	output   map[string]*strings.Builder // by package and test
	reported map[string]bool             // packages of which a failure was printed
	packages int
	progress time.Time // of the last line about it
}

const progressEvery = 30 * time.Second

func (f *follower) take(e event) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "output":
		f.append(key, e.Output)
	case "build-output":
		f.append(e.ImportPath+" build", e.Output)
	case "build-fail":
		f.fail(strings.TrimPrefix(e.ImportPath, module)+" does not compile", f.text(e.ImportPath+" build"))
		f.reported[e.ImportPath] = true
		name, _, _ := strings.Cut(e.ImportPath, " ")
		f.reported[strings.TrimSuffix(name, "_test")] = true
	case "pass", "skip", "fail":
		if e.Test != "" {
			f.test(e)
		} else {
			f.pack(e)
		}
		delete(f.output, key)
	}
}

func (f *follower) append(key, text string) {
	b := f.output[key]
	if b == nil {
		b = &strings.Builder{}
		f.output[key] = b
	}
	b.WriteString(text)
}

func (f *follower) text(key string) string {
	if b := f.output[key]; b != nil {
		return b.String()
	}
	return ""
}

// test counts a test. A parent that fails because of its subtest says nothing new and is counted once more.
func (f *follower) test(e event) {
	short := strings.TrimPrefix(e.Package, module)
	f.timings.test(short, e.Test, e.Elapsed)
	switch e.Action {
	case "pass":
		f.pass()
	case "skip":
		f.skip()
	default:
		f.reported[e.Package] = true
		f.fail(fmt.Sprintf("%s %s (%.1f s)", short, e.Test, e.Elapsed), f.text(e.Package+" "+e.Test))
	}
}

// pack ends a package. One that fails without a test of it failing was stopped: by a panic, by its
// time limit, or by what its TestMain found.
func (f *follower) pack(e event) {
	short := strings.TrimPrefix(e.Package, module)
	f.packages++
	f.timings.pack(f.name, short, e.Elapsed)
	if e.Action == "fail" && !f.reported[e.Package] {
		text := f.text(e.Package + " ")
		for key, b := range f.output { // of tests that never ended
			if strings.HasPrefix(key, e.Package+" ") && key != e.Package+" " {
				text += b.String()
			}
		}
		f.fail(short, text)
	}
	for key := range f.output {
		if strings.HasPrefix(key, e.Package+" ") {
			delete(f.output, key)
		}
	}
	if time.Since(f.progress) > progressEvery {
		f.progress = time.Now()
		f.printf("[%d/%d] %s: %d packages, %s\n", f.numbered[f.name], f.total, f.name, f.packages, f.counts)
	}
}
