package architecture

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	promisesStart = "<!-- promises: written by `make generate` from the comments `Promise:` of tests and docs/testing.json -->\n"
	promisesEnd   = "<!-- end of promises -->"
	// keptTimings is what `make test` leaves behind.
	keptTimings = "../../.cache/tests/timings.json"
)

// promise is what a comment says that a test proves.
type promise struct {
	text, folder, test, level string
	verifyOnly                bool // it is skipped with -short
}

var (
	promiseLine = regexp.MustCompile(`(?m)^Promise: (.+)$`)
	browserTest = regexp.MustCompile(`(?m)^// Promise: (.+)\n(?:await )?test\(\s*["` + "`" + `](.+?)["` + "`" + `],`)
	serverTests = []string{"internal/testbackend", "internal/database/databasetest", "internal/testfleet", "internal/testhistory"}
)

// TestTestingDocIsCurrent keeps the table of docs/testing.md what the tests say of themselves. With
// -update the seconds become those of the last `make test` of this checkout.
func TestTestingDocIsCurrent(t *testing.T) {
	t.Parallel()
	promises := append(goPromises(t), browserPromises(t)...)
	if len(promises) < 40 {
		t.Fatalf("only %d tests say what they promise", len(promises))
	}
	seconds := promiseSeconds(t, promises)
	levels := []string{"unit", "integration", "faults", "end to end", "browser"}
	slices.SortStableFunc(promises, func(a, b promise) int {
		if d := slices.Index(levels, a.level) - slices.Index(levels, b.level); d != 0 {
			return d
		}
		return strings.Compare(a.folder+a.test, b.folder+b.test)
	})
	var table strings.Builder
	table.WriteString("| promise | test | level | seconds |\n|---|---|---|--:|\n")
	for _, p := range promises {
		took := "–"
		if s, known := seconds[p.folder][p.test]; known {
			took = fmt.Sprintf("%.1f", s)
		}
		level := p.level
		if p.verifyOnly {
			level += ", `make verify`"
		}
		fmt.Fprintf(&table, "| %s | `%s` `%s` | %s | %s |\n", p.text, p.folder, p.test, level, took)
	}
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "testing.md"))
	if err != nil {
		t.Fatal(err)
	}
	generated(t, "docs/testing.md", part(t, string(doc), promisesStart, table.String(), promisesEnd))
}

// goPromises are those of Go tests, in their doc comments.
func goPromises(t *testing.T) (found []promise) {
	t.Helper()
	for _, f := range sources(t) {
		if !f.test {
			continue
		}
		content, err := os.ReadFile(filepath.Join("..", "..", f.path))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(content), "// Promise: ") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), f.path, content, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, declared := range parsed.Decls {
			function, is := declared.(*ast.FuncDecl)
			if !is || function.Doc == nil {
				continue
			}
			for _, line := range promiseLine.FindAllStringSubmatch(function.Doc.Text(), -1) {
				if !strings.HasPrefix(function.Name.Name, "Test") {
					t.Errorf("%s: %s promises something and is no test", f.path, function.Name.Name)
				}
				found = append(found, promise{
					text: line[1], folder: path.Dir(f.path), test: function.Name.Name, level: levelOf(f), verifyOnly: skipsShort(function),
				})
			}
		}
	}
	return found
}

func levelOf(f file) string {
	switch path.Dir(f.path) {
	case "internal/e2e":
		return "end to end"
	case "internal/faults":
		return "faults"
	}
	// Tests of a package share its servers: one file that starts them is enough.
	files, _ := filepath.Glob(filepath.Join("..", "..", path.Dir(f.path), "*_test.go"))
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		for _, helper := range serverTests {
			if strings.Contains(string(content), strconv.Quote(module+helper)) {
				return "integration"
			}
		}
	}
	return "unit"
}

// skipsShort says whether the first statement of a test is to skip it with -short.
func skipsShort(function *ast.FuncDecl) bool {
	for _, statement := range function.Body.List {
		branch, is := statement.(*ast.IfStmt)
		if !is {
			continue
		}
		skips := false
		ast.Inspect(branch.Body, func(n ast.Node) bool {
			call, is := n.(*ast.SelectorExpr)
			skips = skips || is && call.Sel.Name == "Skip"
			return true
		})
		condition, is := branch.Cond.(*ast.CallExpr)
		if !is {
			continue
		}
		asked, is := condition.Fun.(*ast.SelectorExpr)
		return is && asked.Sel.Name == "Short" && skips
	}
	return false
}

// browserPromises are those of browser tests, in the line above each.
func browserPromises(t *testing.T) (found []promise) {
	t.Helper()
	const folder = "dashboard-api/web/e2e"
	files, err := filepath.Glob(filepath.Join("..", "..", folder, "*.test.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range browserTest.FindAllStringSubmatch(string(content), -1) {
			found = append(found, promise{text: line[1], folder: folder + "/" + filepath.Base(name), test: line[2], level: "browser"})
		}
		if all := strings.Count(string(content), "\n// Promise: "); all != len(browserTest.FindAllString(string(content), -1)) {
			t.Errorf("%s: a promise does not stand above a test", name)
		}
	}
	return found
}

// promiseSeconds are those of docs/testing.json, by folder and test.
func promiseSeconds(t *testing.T, promises []promise) map[string]map[string]float64 {
	t.Helper()
	kept := filepath.Join("..", "..", "docs", "testing.json")
	if *update {
		if content, err := os.ReadFile(keptTimings); err == nil {
			writeSeconds(t, kept, content, promises)
		}
	}
	content, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	var seconds map[string]map[string]float64
	if err := json.Unmarshal(content, &seconds); err != nil {
		t.Fatal(err)
	}
	return seconds
}

func writeSeconds(t *testing.T, kept string, content []byte, promises []promise) {
	t.Helper()
	var last struct{ Tests map[string]map[string]float64 }
	if err := json.Unmarshal(content, &last); err != nil {
		t.Fatal(err)
	}
	seconds := map[string]map[string]float64{}
	keep := func(folder, test string, took float64) {
		if seconds[folder] == nil {
			seconds[folder] = map[string]float64{}
		}
		seconds[folder][test] = took
	}
	for _, p := range promises {
		if p.level != "browser" {
			if took, known := last.Tests[p.folder][p.test]; known {
				keep(p.folder, p.test, took)
			}
			continue
		}
		// A browser test is a subtest: `TestBrowser/PART/FILE: NAME`, with blanks as underscores.
		end := "/" + strings.TrimSuffix(path.Base(p.folder), ".test.mjs") + ":_" + strings.ReplaceAll(p.test, " ", "_")
		for _, name := range slices.Sorted(maps.Keys(last.Tests["internal/e2e"])) {
			if strings.HasSuffix(name, end) {
				keep(p.folder, p.test, last.Tests["internal/e2e"][name])
			}
		}
	}
	text, err := json.MarshalIndent(seconds, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(kept, append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}
