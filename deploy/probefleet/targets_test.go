package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/probefleet/probefleet/internal/service"
)

// targetsAPI exports a document, and imports: it refuses what is called Bad, changes Old and creates the rest.
type targetsAPI struct {
	*httptest.Server
	document string
	cut      bool // answers end early
	busy     int  // answers of 503 that come first
	asked    []askedImport
	answer   func(line int, name string) string // nil: as above
	end      string
}

type askedImport struct {
	DryRun  bool `json:"dry_run"`
	Targets []struct{ Name, URL string }
	CSV     string
	text    string
}

func startTargetsAPI(t *testing.T) *targetsAPI {
	t.Helper()
	a := &targetsAPI{}
	a.Server = httptest.NewServer(http.HandlerFunc(a.serve))
	t.Cleanup(a.Close)
	return a
}

func (a *targetsAPI) serve(w http.ResponseWriter, r *http.Request) {
	defer func() {
		if a.cut {
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
	}()
	switch {
	case r.Header.Get("Authorization") != "Bearer k":
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"detail":"this key is not known"}`)
	case a.busy > 0:
		a.busy--
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, `{"detail":"another import is under way: try again"}`)
	case r.Method == http.MethodGet && r.URL.Path == "/api/v1/targets:export":
		_, _ = io.WriteString(w, a.document)
	case r.Method == http.MethodPost && r.URL.Path == "/api/v1/targets:import":
		var asked askedImport
		text, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(text, &asked)
		asked.text = string(text)
		a.asked = append(a.asked, asked)
		end := map[string]any{"dry_run": asked.DryRun, "created": 0, "changed": 0, "unchanged": 0, "refused": 0}
		for i := range asked.Targets {
			n := len(asked.Targets) - i // the last first: order is the API's own business
			name := asked.Targets[n-1].Name
			said, outcome := fmt.Sprintf(`{"line":%d,"url":"u","name":%q,"outcome":"created","id":1}`, n, name), "created"
			switch {
			case a.answer != nil:
				said = a.answer(n, name)
			case name == "Bad":
				said, outcome = fmt.Sprintf(`{"line":%d,"url":"u","name":"Bad\u001b[2J","outcome":"refused","problem":{"detail":"2 mistakes","errors":[{"pointer":"/url","message":"no \u001b[2J"},{"pointer":"/http/password","message":"write it"}]}}`, n), "refused"
			case name == "Old":
				said, outcome = fmt.Sprintf(`{"line":%d,"url":"u","name":"Old","outcome":"changed","id":1,"changes":[{"pointer":"/interval_s","from":60,"to":30}]}`, n), "changed"
			case name == "Same":
				said, outcome = fmt.Sprintf(`{"line":%d,"url":"u","name":"Same","outcome":"unchanged","id":1}`, n), "unchanged"
			}
			end[outcome] = end[outcome].(int) + 1
			_, _ = io.WriteString(w, said+"\n")
		}
		if a.cut {
			return
		}
		if a.end != "" {
			_, _ = io.WriteString(w, a.end)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"complete": end})
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (a *targetsAPI) run(args ...string) (code int, out, errOut string) {
	return probefleet(append(args, "--api", a.URL, "--key", "k")...)
}

const wholeDocument = `{"format":"probefleet-targets-1","exported_at":"2026-03-01T00:00:00.000Z","secrets":"left out","targets":[
{"url":"https://a.example/","name":"A"},
{"url":"https://b.example/","name":"B"}
],"count":2}
`

func TestTargetsAreExported(t *testing.T) {
	t.Parallel()
	a, dir := startTargetsAPI(t), t.TempDir()
	path := filepath.Join(dir, "targets.json")
	a.document, a.busy = wholeDocument, 1 // is asked again
	if code, out, errOut := a.run("export"); code != 0 || out != wholeDocument || errOut != "" {
		t.Fatalf("%d %q %q", code, out, errOut)
	}
	if code, out, errOut := a.run("export", "-o", path); code != 0 || out != path+": 2 targets\n" || errOut != "" || content(t, path) != wholeDocument {
		t.Fatalf("%d %q %q", code, out, errOut)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	a.document = strings.NewReplacer(`"B"`, `"C"`).Replace(wholeDocument)
	if code, out, errOut := a.run("export", "-o", path); code != service.ExitConfig || out != "" || !strings.Contains(errOut, "--replace") || content(t, path) != wholeDocument {
		t.Errorf("a file is written over: %d %q %q", code, out, errOut)
	}
	if code, _, errOut := a.run("export", "-o", path, "--replace"); code != 0 || content(t, path) != a.document {
		t.Errorf("%d %q", code, errOut)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("%v %v", files, err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if code, _, errOut := a.run("export", "-o", link, "--replace"); code != service.ExitConfig || !strings.Contains(errOut, "no file that can be replaced") {
		t.Errorf("%d %q", code, errOut)
	}
}

// Nobody takes a part for the whole: it fails, and the file of before stays.
func TestExportsOfTargetsThatAreNotWhole(t *testing.T) {
	t.Parallel()
	for name, document := range map[string]string{
		"cut":            wholeDocument[:len(wholeDocument)-20],
		"cut at the end": strings.TrimSuffix(wholeDocument, "}\n"),
		"lies":           strings.Replace(wholeDocument, `"count":2`, `"count":3`, 1),
		"no count":       strings.Replace(wholeDocument, `,"count":2`, "", 1),
		"another format": strings.Replace(wholeDocument, "targets-1", "targets-9", 1),
		"nothing":        "",
	} {
		for _, aborted := range []bool{true, false} {
			a, dir := startTargetsAPI(t), t.TempDir()
			path := filepath.Join(dir, "targets.json")
			a.document, a.cut = document, aborted
			if err := os.WriteFile(path, []byte("before"), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{{"export", "-o", path, "--replace"}, {"export"}} {
				if code, _, errOut := a.run(args...); code != service.ExitDependency || !strings.Contains(errOut, "export") {
					t.Errorf("%s, aborted %t, %v: %d %q", name, aborted, args, code, errOut)
				}
			}
			if files, err := os.ReadDir(dir); err != nil || len(files) != 1 || content(t, path) != "before" {
				t.Errorf("%s: %v %v %q", name, files, err, content(t, path))
			}
		}
	}
	a := startTargetsAPI(t)
	a.document, a.cut = wholeDocument, true // the connection breaks after the last byte
	if code, _, _ := a.run("export"); code != service.ExitDependency {
		t.Errorf("%d", code)
	}
}

func targetsFile(t *testing.T, names ...string) string {
	t.Helper()
	path, lines := filepath.Join(t.TempDir(), "targets.json"), []string{}
	for i, name := range names {
		lines = append(lines, fmt.Sprintf(`{"url":"https://%d.example/","name":%q}`, i, name))
	}
	if err := os.WriteFile(path, []byte(`{"targets":[`+strings.Join(lines, ",\n")+`]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTargetsAreImported(t *testing.T) {
	t.Parallel()
	a := startTargetsAPI(t)
	a.busy = 1
	if code, _, errOut := a.run("import", targetsFile(t, "R&D"), "--plan"); code != 0 || !strings.Contains(a.asked[0].text, "R&D") {
		t.Errorf("%d %q: the API counts other bytes than the file has: %+v", code, errOut, a.asked)
	}
	a.asked = nil
	path := targetsFile(t, "New", "Old", "Same")
	code, out, errOut := a.run("import", path, "--plan")
	if want := "change   Old  u\n           /interval_s: 60 → 30\ncreate   New  u\nWould create 1, change 1, leave 1 as they are and refuse 0. Nothing was written.\n"; code != 0 || out != want || errOut != "" || !a.asked[0].DryRun {
		t.Errorf("%d %q %q", code, out, errOut)
	}
	code, out, errOut = a.run("import", path)
	if want := "changed  Old  u\n           /interval_s: 60 → 30\ncreated  New  u\n1 created, 1 changed, 1 unchanged, 0 refused.\n"; code != 0 || out != want || errOut != "" || a.asked[1].DryRun {
		t.Errorf("%d %q %q", code, out, errOut)
	}
	if len(a.asked) != 2 {
		t.Errorf("asked %d times", len(a.asked))
	}
}

func TestWhatIsRefusedIsTold(t *testing.T) {
	t.Parallel()
	a := startTargetsAPI(t)
	path := targetsFile(t, "New", "Bad", "Same")
	for _, args := range [][]string{{"--plan"}, {}, {"--plan", "--json"}, {"--json"}} {
		code, out, errOut := a.run(append([]string{"import", path}, args...)...)
		refused := `line 2 refused  "Bad\x1b[2J"  u: `
		if want := refused + `/url: "no \x1b[2J"` + "\n" + refused + "/http/password: write it\nprobefleet: 1 target refused\n"; code != service.ExitFailure || errOut != want {
			t.Errorf("%v: %d %q, want %q", args, code, errOut, want)
		}
		if !slices.Contains(args, "--json") {
			continue
		}
		var document struct {
			DryRun  bool `json:"dry_run"`
			Created int
			Refused int
			Whole   bool `json:"complete"`
			Lines   []struct {
				Line    int
				Outcome string
				Problem map[string]any
			}
		}
		if err := json.Unmarshal([]byte(out), &document); err != nil || document.DryRun != (len(args) == 2) || document.Created != 1 || document.Refused != 1 || !document.Whole ||
			len(document.Lines) != 3 || document.Lines[1].Line != 2 || document.Lines[1].Outcome != "refused" || document.Lines[1].Problem == nil {
			t.Errorf("%v: %v %s", args, err, out)
		}
	}
}

func TestTablesAreImported(t *testing.T) {
	t.Parallel()
	a, path := startTargetsAPI(t), filepath.Join(t.TempDir(), "t.CSV")
	if err := os.WriteFile(path, []byte("url,name\nhttps://a.example/,A\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, args := range [][]string{{"import", path, "--plan"}, {"import", path}} {
		if code, out, errOut := a.run(args...); code != 0 || len(a.asked) != i+1 || a.asked[i].CSV != "url,name\nhttps://a.example/,A\n" || a.asked[i].DryRun != (i == 0) {
			t.Errorf("%v: %d %q %q %+v", args, code, out, errOut, a.asked)
		}
	}
}

// What is no file to import is not sent.
func TestFilesThatCannotBeImported(t *testing.T) {
	t.Parallel()
	a := startTargetsAPI(t)
	for text, want := range map[string]string{
		wholeDocument[:60]: "a part of one",
		strings.Replace(wholeDocument, `"count":2`, `"count":3`, 1):      "it has 3 targets, and has 2",
		strings.Replace(wholeDocument, "targets-1", "targets-9", 1):      "probefleet-targets-1",
		strings.Replace(wholeDocument, `"secrets"`, `"what_is_this"`, 1): "what_is_this",
		wholeDocument + "{}": "more in the file",
		`{"targets":[]}`:     "no target",
		"url,name\nx,y\n":    "not an export",
		"":                   "a part of one",
		strings.Replace(wholeDocument, `"count"`, "\"caf\xe9\"", 1): "not UTF-8",
	} {
		path := filepath.Join(t.TempDir(), "targets.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, out, errOut := a.run("import", path); code != service.ExitConfig || out != "" || !strings.Contains(errOut, want) {
			t.Errorf("%q: %d %q %q", text, code, out, errOut)
		}
	}
	if code, _, errOut := a.run("import", "/nowhere/x.json"); code != service.ExitConfig || !strings.Contains(errOut, "/nowhere/x.json") {
		t.Errorf("%d %q", code, errOut)
	}
	if len(a.asked) != 0 {
		t.Errorf("sent %+v", a.asked)
	}
}

// An answer that leaves lines out is no success.
func TestImportsThatAreNotWhole(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cut    bool
		answer func(int, string) string
		end    string
		says   string
	}{
		"cut":             {cut: true, says: "the API's answer"},
		"no end":          {end: "\n", says: "the answer ended early"},
		"stopped":         {end: `{"complete":{"created":2,"stopped":{"detail":"the database does not answer"}}}`, says: "the database does not answer"},
		"counts less":     {end: `{"complete":{"created":1}}`, says: "it says"},
		"leaves some out": {answer: func(line int, _ string) string { return map[int]string{1: `{"line":1,"outcome":"created"}`}[line] }, end: `{"complete":{"created":1}}`, says: "in the end it says"},
		"another line":    {answer: func(int, string) string { return `{"line":3,"outcome":"created"}` }, says: "there is no line 3"},
		"another word":    {answer: func(line int, _ string) string { return fmt.Sprintf(`{"line":%d,"outcome":"put_off"}`, line) }, says: "put_off"},
	} {
		a := startTargetsAPI(t)
		a.cut, a.answer, a.end = c.cut, c.answer, c.end
		path := targetsFile(t, "A", "B")
		code, _, errOut := a.run("import", path)
		if code != service.ExitDependency || !strings.Contains(errOut, c.says) || !strings.Contains(errOut, "import it again") {
			t.Errorf("%s: %d %q", name, code, errOut)
		}
		if code, _, errOut = a.run("import", path, "--plan"); code != service.ExitDependency || strings.Contains(errOut, "again") {
			t.Errorf("%s, planned: %d %q", name, code, errOut)
		}
		if len(a.asked) != 2 {
			t.Errorf("%s: what was begun is begun anew: %d", name, len(a.asked))
		}
	}
	a := startTargetsAPI(t)
	if code, _, errOut := probefleet("import", targetsFile(t, "A"), "--api", a.URL, "--key", "other"); code != service.ExitDependency || !strings.Contains(errOut, "this key is not known") {
		t.Errorf("%d %q", code, errOut)
	}
}

// A file of more targets than the API takes goes in parts, and each keeps its line.
func TestLargeFilesAreImportedInParts(t *testing.T) {
	t.Parallel()
	a := startTargetsAPI(t)
	names := make([]string, importTargets+3)
	for i := range names {
		names[i] = fmt.Sprint("T", i)
	}
	names[importTargets+1] = "Bad"
	code, out, errOut := a.run("import", targetsFile(t, names...), "--plan")
	if code != service.ExitFailure || !strings.HasSuffix(out, fmt.Sprintf("Would create %d, change 0, leave 0 as they are and refuse 1. Nothing was written.\n", len(names)-1)) ||
		!strings.Contains(errOut, fmt.Sprintf("line %d refused", importTargets+2)) || !strings.Contains(errOut, "part 2 of 2: 10003 of 10003 targets") {
		t.Errorf("%d …%q %q", code, out[max(0, len(out)-200):], errOut)
	}
	if len(a.asked) != 2 || len(a.asked[0].Targets) != importTargets || len(a.asked[1].Targets) != 3 || !a.asked[1].DryRun {
		t.Errorf("%d parts", len(a.asked))
	}
}

func TestPartsKeepTogetherWhatBelongsTogether(t *testing.T) {
	t.Parallel()
	read := func(lines ...string) []*fileTarget {
		targets, err := readTargets([]byte(`{"targets":[` + strings.Join(lines, ",") + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		return targets
	}
	target := func(url, name, parent string) string {
		return fmt.Sprintf(`{"url":%q,"name":%q,"parent":%q}`, url, name, parent)
	}
	for name, c := range map[string]struct {
		targets []*fileTarget
		most    int
		want    string
		whole   bool
	}{
		"few":               {read(target("a", "A", "D"), target("b", "B", ""), target("c", "C", ""), target("d", "D", "")), 4, "[1 2 3 4]", true},
		"families":          {read(target("a", "A", "D"), target("b", "B", ""), target("c", "C", ""), target("d", "D", "")), 2, "[1 4] [2 3]", true},
		"one URL":           {read(target("https://A.example/", "A", ""), target("b", "B", ""), target("c", "C", ""), target("a.example:443", "D", "")), 2, "[1 4] [2 3]", true},
		"one name":          {read(target("a", "A", ""), target("b", "B", ""), target("c", "C", ""), target("d", " A ", "")), 2, "[1 4] [2 3]", true},
		"unnamed parent":    {read(target("a", "A", "d.example"), target("b", "B", ""), target("c", "C", ""), target("https://d.example/", "", "")), 2, "[1 4] [2 3]", true},
		"a large family":    {read(target("a", "A", "D"), target("b", "B", "D"), target("c", "C", "A"), target("d", "D", "")), 2, "[1 4] [2 3]", false},
		"parents first":     {read(target("a", "A", "B"), target("b", "B", "C"), target("c", "C", "D"), target("d", "D", "")), 1, "[4] [3] [2] [1]", false},
		"a ring":            {read(target("a", "A", "B"), target("b", "B", "A"), target("c", "C", "B")), 2, "[1 2] [3]", false},
		"nothing in common": {read(target("a", "A", ""), target("b", "B", ""), target("c", "C", "")), 2, "[1 2] [3]", true},
	} {
		divided, whole, err := parts(c.targets, c.most, 1<<20)
		var said []string
		for _, part := range divided {
			var lines []int
			for _, target := range part {
				lines = append(lines, target.line)
			}
			said = append(said, fmt.Sprint(lines))
		}
		if got := strings.Join(said, " "); err != nil || got != c.want || whole != c.whole {
			t.Errorf("%s: %s whole %t %v, want %s %t", name, got, whole, err, c.want, c.whole)
		}
	}
	if _, _, err := parts(read(target("a", "A", ""), target("a", "B", ""), target("a", "C", "")), 2, 1<<20); err == nil {
		t.Error("what shares a URL was divided")
	}
	if divided, _, err := parts(read(target("a", "A", ""), target("b", "B", ""), target("c", "C", "")), 9, 80); err != nil || len(divided) != 2 {
		t.Errorf("by size: %d parts, %v", len(divided), err)
	}
}

// Who is interrupted does not exit as if all were done.
func TestInterruptedTransfersSaySo(t *testing.T) {
	t.Parallel()
	a := startTargetsAPI(t)
	a.document = wholeDocument
	ctx, interrupt := context.WithCancel(t.Context())
	a.answer = func(line int, _ string) string {
		interrupt()
		return fmt.Sprintf(`{"line":%d,"outcome":"created"}`, line)
	}
	a.end, a.cut = "\n", true
	flags := apiFlags{API: a.URL, Key: "k"}
	var out, errOut strings.Builder
	err := (&importCommand{File: targetsFile(t, "A", "B"), apiFlags: flags}).Run(ctx, console{&out, &errOut})
	if service.Code(err) != service.ExitDependency || errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "interrupted\nimport it again") {
		t.Errorf("%v %s", err, out.String())
	}
	if err := (&exportCommand{apiFlags: flags}).Run(ctx, console{&out, &errOut}); service.Code(err) != service.ExitDependency || errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
