package main

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/probefleet/probefleet/deploy/embedded"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/testfleet"
)

// hangs is the time limit of a test binary: whoever needs more than that hangs.
const hangs = "-timeout=20m"

// testPlan is what every change must pass. The first lane mostly computes, the others mostly wait.
func testPlan(ctx context.Context, s *suite) (plan, error) {
	p, err := s.packages(ctx, "./...")
	if err != nil {
		return plan{}, err
	}
	return plan{
		prepare: []stage{{"build", build}, {"servers", servers}},
		lanes: [][]stage{
			{
				{"unit", goStage(p.unit, "-short")},
				{"integration", goStage(p.integration, "-short", "-p=3")}, // many wait
				{"memory", memory},
				{"web", web},
				{"lint", lint},
			},
			{
				{"faults", goStage([]string{faults}, "-short", "-count=1")},
			},
			{
				{"end to end", goStage([]string{endToEnd}, "-short", "-count=1")},
				{"browser", goStage([]string{endToEnd}, "-short", "-count=1", "-tags=browser", "-run=^TestBrowser$")},
			},
		},
	}, nil
}

// unitPlan is for every save.
func unitPlan(ctx context.Context, s *suite) (plan, error) {
	p, err := s.packages(ctx, "./...")
	return plan{prepare: []stage{{"unit", goStage(p.unit, "-short")}}}, err
}

// build fetches and builds what tests use: the dashboard, the engine and the programs. Nothing that
// is up to date is built again.
func build(ctx context.Context, r *stageRun) {
	r.check(ctx, "dashboard", "", "make", "--no-print-directory", "web")
	if r.failed > 0 {
		return // the API embeds it
	}
	if _, err := embedded.FetchEngine(ctx, "", nil); err != nil {
		r.fail("fetch the ClickHouse engine", err.Error())
	} else {
		r.pass()
	}
	folder := filepath.Join(r.cache, "programs")
	for _, variant := range []testfleet.Build{{Failpoints: true}, {Failpoints: true, Race: true}} {
		if err := variant.Into(filepath.Join(folder, variant.Name())); err != nil {
			r.fail("programs "+variant.Name(), err.Error())
		} else {
			r.pass()
		}
	}
	r.setEnv("TEST_PROGRAMS=" + folder)
}

// servers starts what the test binaries share.
func servers(_ context.Context, r *stageRun) {
	env, stop, err := testbackend.Serve()
	if err != nil {
		r.fail("start the shared servers", err.Error())
		return
	}
	r.pass()
	r.stops = append(r.stops, stop)
	r.setEnv(env...)
}

func (s *suite) setEnv(env ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.env = append(s.env, env...)
}

// goStage runs the tests of packages with the race detector.
func goStage(packages []string, args ...string) func(context.Context, *stageRun) {
	return func(ctx context.Context, r *stageRun) {
		r.goTest(ctx, slices.Concat(raceFlags(), []string{hangs}, args, packages)...)
	}
}

// memory measures what checks allocate, which the race detector multiplies.
func memory(ctx context.Context, r *stageRun) {
	r.goTest(ctx, "-count=1", hangs, "-run=^Test(HostileAnswersTakeLittleMemory|ManyFloodsAtOnceTakeLittleMemory|HTTPCheckAllocatesLittle)$", "./prober/internal/probe")
}

// web checks the dashboard without a browser.
func web(ctx context.Context, r *stageRun) {
	dir := filepath.Join(r.root, "dashboard-api", "web")
	r.check(ctx, "types of the dashboard", dir, "npm", "run", "--silent", "check")
	r.vitest(ctx, dir)
}

// lint checks what no test runs.
func lint(ctx context.Context, r *stageRun) {
	r.gofmt(ctx)
	r.check(ctx, "go vet", "", "go", "vet", "./...")
	r.check(ctx, "go vet of tagged files", "", "go", "vet", "-tags=bench browser failpoints faults load mutations", "./...")
	r.check(ctx, "dashboard's linter", filepath.Join(r.root, "dashboard-api", "web"), "npm", "run", "--silent", "lint")
}

// gofmt asks about the files under version control.
func (r *stageRun) gofmt(ctx context.Context) {
	out, err := r.program(ctx, "", "git", "ls-files", "-z", "*.go").Output()
	if err != nil {
		r.fail("list the Go files", err.Error())
		return
	}
	files := strings.FieldsFunc(string(out), func(c rune) bool { return c == 0 })
	found, err := r.program(ctx, "", append([]string{"gofmt", "-l"}, files...)...).CombinedOutput()
	if err != nil || len(bytes.TrimSpace(found)) > 0 {
		r.fail("gofmt: run make fmt", string(found))
	} else {
		r.pass()
	}
}
