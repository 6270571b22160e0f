// Package architecture holds the rules of the house as tests, each with its reason.
package architecture

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/probefleet/probefleet/"

// rule allows an import only in some folders.
type rule struct {
	importPath string // prefix
	allowedIn  []string
	inTests    bool // tests are bound too
	because    string
}

var rules = []rule{
	{"github.com/redis/go-redis", []string{"internal/checkstream", "internal/livefeed", "internal/lease", "internal/testbackend", "deploy/embedded"}, false, "both ends of each stream stand in one package, so that they cannot drift apart"},
	{"github.com/ClickHouse/clickhouse-go", []string{"internal/resultstore", "migrations", "internal/testfleet"}, false, "every query is bounded and duplicate-safe because one package writes them all"},
	{"gorm.io/", []string{"internal/database", "internal/targetstore", "internal/schedulestore", "internal/accountstore", "internal/jobstore", "internal/rollupstore", "internal/heartbeatstore", "internal/incidentstore", "internal/verdictstore", "internal/maintenancestore", "internal/blindstore", "internal/troublestore", "internal/pagestore", "internal/subscriberstore", "internal/sealstore"}, false, "rows become domain types at the store's edge"},
	{"github.com/go-co-op/gocron", []string{"publisher/internal/cycle"}, true, "coarse jobs only: ticks come from the stream"},
	{"github.com/coder/websocket", []string{"dashboard-api/internal/wsconn", "internal/e2e"}, true, "one importer of the websocket library"},
	{"nhooyr.io/websocket", nil, true, "frozen and deprecated: see decision 0001"},
	{"github.com/alicebob/miniredis", []string{"deploy/embedded", "internal/testbackend"}, false, "a test server: used only where it says so to the operator"},
	{"github.com/teambition/rrule-go", []string{"internal/maintenance"}, true, "rules are bounded, and clocks that change are judged, in one place"},
	{"github.com/go-webauthn/", []string{"dashboard-api/internal/session"}, true, "what a passkey must prove is judged in one place"},
	{"github.com/coreos/go-oidc/", []string{"dashboard-api/internal/signon"}, true, "tokens are believed in one place, which dials through the guard"},
	{"github.com/zitadel/oidc/", []string{"internal/testissuer"}, false, "a provider for tests"},
	{"github.com/ebitengine/purego", []string{"deploy/embedded"}, true, "foreign code is loaded in one child process only"},
}

type file struct {
	path    string // from the root, slashes
	imports []string
	test    bool
}

// sources parses the imports of every Go file: asking the go command would be
// cached past a violation.
func sources(t *testing.T) []file {
	t.Helper()
	var files []file
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && (name == "node_modules" || (strings.HasPrefix(name, ".") && path != root)) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), path, content, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		f := file{path: filepath.ToSlash(rel), test: strings.HasSuffix(name, "_test.go")}
		for _, spec := range parsed.Imports {
			f.imports = append(f.imports, strings.Trim(spec.Path.Value, `"`))
		}
		files = append(files, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 50 {
		t.Fatalf("only %d files found: the rules would prove nothing", len(files))
	}
	return files
}

func violations(files []file) []string {
	var found []string
	for _, f := range files {
		for _, imported := range f.imports {
			for _, r := range rules {
				if strings.HasPrefix(imported, r.importPath) && (r.inTests || !f.test) && !within(f.path, r.allowedIn) {
					found = append(found, f.path+" imports "+imported+": "+r.because)
				}
			}
			if own, ours := strings.CutPrefix(imported, module); ours && !f.test {
				if within(f.path, []string{"internal/uptime", "internal/availability"}) || (within(f.path, []string{"internal/verdict"}) && own != "internal/uptime") {
					found = append(found, f.path+" imports "+imported+": the domain imports nothing of ours")
				}
				if within(f.path, []string{"internal"}) && !strings.HasPrefix(own, "internal/") && !strings.HasPrefix(own, "migrations") && !within(f.path, []string{"internal/testbackend", "internal/testsuite", "internal/e2e"}) {
					found = append(found, f.path+" imports "+imported+": shared packages never know a service")
				}
				if (own == "internal/testbackend" || own == "internal/database/databasetest" || own == "internal/testfleet" || own == "internal/testissuer" || own == "internal/testhistory" || own == "internal/testfigures" || own == "internal/e2e") && !within(f.path, []string{"internal/database/databasetest", "internal/testfleet", "internal/testfigures", "internal/testsuite"}) {
					found = append(found, f.path+" imports "+imported+": test helpers are not compiled into programs")
				}
			}
		}
	}
	return found
}

func within(path string, folders []string) bool {
	for _, folder := range folders {
		if strings.HasPrefix(path, folder+"/") {
			return true
		}
	}
	return false
}

func TestImportRules(t *testing.T) {
	t.Parallel()
	for _, v := range violations(sources(t)) {
		t.Error(v)
	}
}

func TestImportRulesCanFail(t *testing.T) {
	t.Parallel()
	bad := []file{
		{path: "prober/main.go", imports: []string{"github.com/redis/go-redis/v9"}},
		{path: "internal/uptime/x.go", imports: []string{module + "internal/verdict"}},
		{path: "internal/availability/x.go", imports: []string{module + "internal/uptime"}},
		{path: "internal/ledger/x.go", imports: []string{module + "publisher/internal/schedule"}},
		{path: "dashboard-api/internal/live/x_test.go", imports: []string{"github.com/coder/websocket"}, test: true},
		{path: "prober/main.go", imports: []string{module + "internal/testbackend"}},
	}
	for _, f := range bad {
		if len(violations([]file{f})) != 1 {
			t.Errorf("%s may import %s", f.path, f.imports[0])
		}
	}
	if got := violations([]file{{path: "internal/checkstream/x.go", imports: []string{"github.com/redis/go-redis/v9"}}}); got != nil {
		t.Error(got)
	}
}
