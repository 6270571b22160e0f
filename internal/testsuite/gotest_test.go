package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func newTestRun(t *testing.T) (*stageRun, *strings.Builder) {
	t.Helper()
	var out strings.Builder
	s := &suite{root: t.TempDir(), temp: t.TempDir(), out: &out, timings: readTimings(t.TempDir()), numbered: map[string]int{}}
	return &stageRun{suite: s, name: "unit"}, &out
}

// TestEventsAreCounted: each way in which a package can end is counted, and a failure is printed
// with what the test said.
func TestEventsAreCounted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		events string
		want   counts
		prints []string
	}{
		"tests and subtests": {
			events: `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestA/one","Elapsed":0.1}
{"Action":"skip","Package":"p","Test":"TestA/two"}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0.2}
{"Action":"pass","Package":"p","Elapsed":0.3}`,
			want: counts{passed: 2, skipped: 1},
		},
		"a failure": {
			events: `{"Action":"output","Package":"p","Test":"TestA","Output":"it is broken\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"nobody wants to know\n"}
{"Action":"fail","Package":"p","Test":"TestA","Elapsed":1.5}
{"Action":"pass","Package":"p","Test":"TestB"}
{"Action":"fail","Package":"p"}`,
			want:   counts{passed: 1, failed: 1},
			prints: []string{"--- FAIL [unit] p TestA (1.5 s)", "it is broken"},
		},
		"a panic outside of any test": {
			events: `{"Action":"output","Package":"p","Test":"TestA","Output":"panic: oh\n"}
{"Action":"output","Package":"p","Output":"FAIL p 0.1s\n"}
{"Action":"fail","Package":"p"}`,
			want:   counts{failed: 1},
			prints: []string{"panic: oh"},
		},
		"does not compile": {
			events: `{"ImportPath":"p [p.test]","Action":"build-output","Output":"undefined: x\n"}
{"ImportPath":"p [p.test]","Action":"build-fail"}
{"Action":"fail","Package":"p","FailedBuild":"p [p.test]"}`,
			want:   counts{failed: 1},
			prints: []string{"does not compile", "undefined: x"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, out := newTestRun(t)
			follow(strings.NewReader(c.events), r)
			if r.counts != c.want {
				t.Errorf("counted %v, want %v", r.counts, c.want)
			}
			for _, text := range c.prints {
				if !strings.Contains(out.String(), text) {
					t.Errorf("%q is not in %q", text, out)
				}
			}
			if strings.Contains(out.String(), "nobody wants to know") {
				t.Error("the output of a test that passed is printed")
			}
		})
	}
}

// TestFailingCommandFails: neither a failing test nor a command that cannot start is taken for success.
func TestFailingCommandFails(t *testing.T) {
	t.Parallel()
	r, out := newTestRun(t)
	for file, content := range map[string]string{
		"go.mod":    "module example.org/m\n\ngo 1.26\n",
		"m_test.go": "package m\n\nimport \"testing\"\n\nfunc TestFails(t *testing.T) { t.Error(\"wrong\") }\n",
	} {
		if err := os.WriteFile(filepath.Join(r.root, file), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r.goTest(t.Context(), "./...")
	if r.failed != 1 || !strings.Contains(out.String(), "wrong") {
		t.Errorf("%v: %s", r.counts, out)
	}
	r.goTest(t.Context(), "./nowhere")
	r.check(t.Context(), "a check", "", "false")
	if r.failed != 3 || r.passed != 0 {
		t.Errorf("%v: %s", r.counts, out)
	}
}

// TestFailedStageFailsTheRun: the other stages run all the same, but nothing runs after a failed preparation.
func TestFailedStageFailsTheRun(t *testing.T) {
	t.Parallel()
	good := stage{"good", func(_ context.Context, r *stageRun) { r.pass() }}
	bad := stage{"bad", func(_ context.Context, r *stageRun) { r.fail("it", "is wrong") }}
	for name, c := range map[string]struct {
		plan  plan
		want  bool
		table string
	}{
		"good":        {plan{[]stage{good}, [][]stage{{good}}}, true, "2 passed, 0 failed"},
		"bad":         {plan{[]stage{good}, [][]stage{{bad, good}}}, false, "2 passed, 1 failed"},
		"preparation": {plan{[]stage{bad}, [][]stage{{good}}}, false, "0 passed, 1 failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, out := newTestRun(t)
			passed, err := r.run(t.Context(), c.plan)
			if passed != c.want || err != nil || !strings.Contains(out.String(), c.table) {
				t.Errorf("%v, %v: %s", passed, err, out)
			}
		})
	}
}

func TestSlowestFirst(t *testing.T) {
	t.Parallel()
	kept := readTimings(t.TempDir())
	for name, seconds := range map[string]float64{"./quick": 1, "./slow": 60, "./usual": 5} {
		kept.pack("unit", name, seconds)
	}
	packages := []string{"./quick", "./usual", "./new", "./slow"}
	kept.slowestFirst("unit", packages)
	if got := strings.Join(packages, " "); got != "./new ./slow ./usual ./quick" {
		t.Error(got)
	}
}

// TestClockIsShifted: with the overlay a program's clock is in the last ten seconds of a month.
func TestClockIsShifted(t *testing.T) {
	if testing.Short() {
		t.Skip("make verify: it compiles the standard library once more")
	}
	r, _ := newTestRun(t)
	overlay, err := r.shiftedClock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(r.root, "now.go")
	program := "package main\n\nimport (\n\t\"fmt\"\n\t\"time\"\n)\n\nfunc main() {\n\tnow := time.Now().UTC()\n" +
		"\tfmt.Println(now.Add(10*time.Second).Month() != now.Month(), now.After(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))\n}\n"
	if err := os.WriteFile(source, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "go", "run", "-overlay="+overlay, source).CombinedOutput()
	if string(out) != "true true\n" {
		t.Errorf("%s, %v", out, err)
	}
}
