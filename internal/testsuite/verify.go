package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// verifyPlan is what takes long by nature. The first lane computes, the second mostly waits.
func verifyPlan(ctx context.Context, s *suite) (plan, error) {
	p, err := s.packages(ctx, "./...")
	if err != nil {
		return plan{}, err
	}
	v, err := s.verified(ctx)
	if err != nil {
		return plan{}, err
	}
	full := plan{
		prepare: []stage{{"build", build}, {"servers", servers}},
		lanes: [][]stage{
			{
				{"unit", goStage(p.unit, "-count=1", "-shuffle=on")},
				{"integration", goStage(p.integration, "-count=1", "-shuffle=on")},
				{"time zone", otherZone(p)},
				{"month end", monthEnd(p)},
				{"fuzz", fuzz},
				{"lint", fullLint},
				{"mutations", mutations},
			},
			{
				{"faults", goStage([]string{faults}, "-count=1")},
				{"end to end", goStage([]string{endToEnd}, "-count=1")},
				{"browser", goStage([]string{endToEnd}, "-count=1", "-tags=browser", "-run=^TestBrowser$")},
			},
		},
	}
	for i, lane := range full.lanes {
		full.lanes[i] = v.remaining(s, lane)
	}
	return full, nil
}

// verified are the stages that passed on one tree.
type verified struct {
	path   string
	Tree   string
	Stages []string
}

// verified reads what has passed on this tree. A tree with changes that are not committed has no name:
// nothing of it is kept.
func (s *suite) verified(ctx context.Context) (*verified, error) {
	v := &verified{path: filepath.Join(s.cache, "verified.json")}
	status, err := s.program(ctx, "", "git", "status", "--porcelain").Output()
	if err != nil {
		return nil, fmt.Errorf("ask git for changes: %w", err)
	}
	tree, err := s.program(ctx, "", "git", "rev-parse", "HEAD^{tree}").Output()
	if err != nil {
		return nil, fmt.Errorf("ask git for the tree: %w", err)
	}
	if len(status) > 0 {
		return v, nil
	}
	if content, err := os.ReadFile(v.path); err == nil {
		_ = json.Unmarshal(content, v)
	}
	if name := strings.TrimSpace(string(tree)); v.Tree != name {
		v.Tree, v.Stages = name, nil
	}
	return v, nil
}

// remaining are the stages that PART names, or else those that have not passed yet.
func (v *verified) remaining(s *suite, lane []stage) (left []stage) {
	parts := strings.FieldsFunc(os.Getenv("PART"), func(c rune) bool { return c == ',' })
	for _, one := range lane {
		switch {
		case len(parts) > 0 && !slices.Contains(parts, one.name):
			continue
		case len(parts) == 0 && slices.Contains(v.Stages, one.name):
			s.printf("%s has passed on this tree\n", one.name)
			continue
		}
		left = append(left, stage{one.name, func(ctx context.Context, r *stageRun) {
			if one.run(ctx, r); r.failed == 0 && ctx.Err() == nil {
				v.keep(s, one.name)
			}
		}})
	}
	return left
}

func (v *verified) keep(s *suite, name string) {
	if v.Tree == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	v.Stages = append(v.Stages, name)
	if content, err := json.Marshal(v); err == nil {
		_ = os.WriteFile(v.path, content, 0o644)
	}
}

// otherZone runs everything in a time zone with an odd offset and another day than UTC's most of the time.
func otherZone(p packages) func(context.Context, *stageRun) {
	return func(ctx context.Context, r *stageRun) {
		r.goTest(ctx, slices.Concat([]string{"-exec=env TZ=Pacific/Chatham"}, raceFlags(),
			[]string{hangs, "-short", "-count=1"}, p.unit, p.integration)...)
	}
}

// monthEnd runs the unit tests as if they started ten seconds before the end of a month. No program
// can bend the clock of another written in Go, so time.Now is compiled with an offset. Servers would
// not follow, hence no other tests.
func monthEnd(p packages) func(context.Context, *stageRun) {
	return func(ctx context.Context, r *stageRun) {
		overlay, err := r.shiftedClock(ctx)
		if err != nil {
			r.fail("shift the clock", err.Error())
			return
		}
		r.goTest(ctx, slices.Concat([]string{"-overlay=" + overlay, hangs, "-short", "-count=1"}, p.unit)...)
	}
}

// readsClock is the statement of time.Now that reads the clock.
var readsClock = regexp.MustCompile(`(?m)^func Now\(\) Time \{\n(?:.*\n)*?\tsec, nsec, mono := \w+\(\)\n`)

// shiftedClock writes the overlay with which time.Now is at 23:59:50 on the last of a month when the
// first test starts.
func (r *stageRun) shiftedClock(ctx context.Context) (string, error) {
	goroot, err := r.program(ctx, "", "go", "env", "GOROOT").Output()
	if err != nil {
		return "", err
	}
	original := filepath.Join(strings.TrimSpace(string(goroot)), "src", "time", "time.go")
	source, err := os.ReadFile(original)
	if err != nil {
		return "", err
	}
	found := readsClock.Find(source)
	if found == nil {
		return "", fmt.Errorf("%s: time.Now is not what it was: correct the pattern", original)
	}
	// Clocks before 2017 are those of testing/synctest, which starts in the year 2000.
	const shift = `	if sec > 1_500_000_000 {
		if clockShift == 0 {
			year, month, _ := unixTime(sec, 0).UTC().Date()
			clockShift = Date(year, month+1, 1, 0, 0, -10, 0, UTC).Unix() - sec
		}
		sec += clockShift
	}
`
	shifted := strings.Replace(string(source), string(found), string(found)+shift, 1) + "\nvar clockShift int64\n"
	path := filepath.Join(r.temp, "time.go")
	if err := os.WriteFile(path, []byte(shifted), 0o600); err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]any{"Replace": map[string]string{original: path}})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(r.temp, "clock.json")
	return overlay, os.WriteFile(overlay, text, 0o600)
}

// fuzz runs every fuzz target for FUZZTIME on one core.
func fuzz(ctx context.Context, r *stageRun) {
	out, err := r.program(ctx, "", "git", "grep", "-oE", "^func Fuzz[A-Za-z0-9]+", "--", "*_test.go").Output()
	if err != nil {
		r.fail("list the fuzz targets", err.Error())
		return
	}
	for line := range strings.Lines(string(out)) {
		file, name, _ := strings.Cut(strings.TrimSpace(line), ":func ")
		// New inputs are made smaller in twenty tries: the default, a minute for each, would leave no time for others.
		r.check(ctx, name, "", "go", "test", "-run=^$", "-fuzz=^"+name+"$", "-fuzztime="+cmp.Or(os.Getenv("FUZZTIME"), "30s"),
			"-fuzzminimizetime=20x", "-parallel=1", "./"+filepath.Dir(file))
		if ctx.Err() != nil {
			return
		}
	}
}

// fullLint runs the linters that take minutes and looks for functions that no program reaches.
func fullLint(ctx context.Context, r *stageRun) {
	r.check(ctx, "golangci-lint", "", "make", "--no-print-directory", "lint")
	r.deadcode(ctx)
}

// deadcode fails for each function that neither a program nor a test reaches.
func (r *stageRun) deadcode(ctx context.Context) {
	const tool = "golang.org/x/tools/cmd/deadcode@v0.40.0"
	out, err := r.program(ctx, "", "go", "run", tool, "-test", "-tags=bench browser failpoints faults load mutations", "./...").CombinedOutput()
	if err != nil {
		r.fail("deadcode", string(out)+err.Error())
		return
	}
	if text := strings.TrimSpace(string(out)); text != "" {
		r.fail("deadcode: remove these functions", text)
		return
	}
	r.pass()
}

// mutations takes safety measures out of the source; what proves them must fail.
func mutations(ctx context.Context, r *stageRun) {
	r.goTest(ctx, "-count=1", "-timeout=3h", "-tags=mutations", "-run=^TestMutations$", "./internal/faults")
}
