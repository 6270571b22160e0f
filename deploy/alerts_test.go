package deploy_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

type alertRule struct {
	Alert       string            `yaml:"alert"`
	Expr        string            `yaml:"expr"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

// An alert on a metric that nobody exports never fires: every name and every label
// value of the rules must be in the programs.
func TestAlertsWatchWhatIsThere(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("prometheus/probefleet.rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Name  string      `yaml:"name"`
			Rules []alertRule `yaml:"rules"`
		} `yaml:"groups"`
	}
	if err := yaml.Unmarshal(content, &file); err != nil {
		t.Fatal(err)
	}
	manual, err := os.ReadFile("../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	exported, literals := exportedMetrics(t)
	name, value := regexp.MustCompile(`probefleet_[a-z_]+`), regexp.MustCompile(`[a-z]+!?="([^"]*)"`)
	seen := map[string]bool{}
	for _, group := range file.Groups {
		for _, rule := range group.Rules {
			if rule.Alert == "" || seen[rule.Alert] || !slices.Contains([]string{"page", "ticket"}, rule.Labels["severity"]) || rule.Annotations["summary"] == "" || rule.Annotations["description"] == "" {
				t.Errorf("%s: %+v lacks a name of its own, a severity, a summary or a description", group.Name, rule)
			}
			seen[rule.Alert] = true
			if strings.Count(rule.Expr, "(") != strings.Count(rule.Expr, ")") {
				t.Errorf("%s: brackets do not match", rule.Alert)
			}
			metrics := name.FindAllString(rule.Expr, -1)
			if len(metrics) == 0 {
				t.Errorf("%s watches nothing", rule.Alert)
			}
			for _, metric := range metrics {
				if !exported[metric] && !exported[strings.TrimSuffix(metric, "_bucket")] {
					t.Errorf("%s watches %s, which no program exports", rule.Alert, metric)
				}
			}
			for _, found := range value.FindAllStringSubmatch(rule.Expr, -1) {
				if !literals[found[1]] {
					t.Errorf("%s watches for %q, which no program says", rule.Alert, found[1])
				}
			}
			if !strings.Contains(string(manual), "`"+strings.TrimPrefix(rule.Alert, "Probefleet")+"`") {
				t.Errorf("docs/operations.md does not say what to do about %s", rule.Alert)
			}
		}
	}
	for _, needed := range []string{"UnexplainedSlots", "SlotsTrimmed", "NoPublisher", "PublisherLags", "RegionDown", "DeadLetters", "BreakerOpen", "SpoolFills", "ClocksDiffer", "DeletionStuck", "ProcessDied"} {
		if !seen["Probefleet"+needed] {
			t.Errorf("there is no alert %s", needed)
		}
	}
}

// exportedMetrics reads the programs' sources: whole names, and a prefix such as
// "probefleet_publisher_" with every other text of its file. It also gives all texts.
func exportedMetrics(t *testing.T) (names, literals map[string]bool) {
	t.Helper()
	names, literals = map[string]bool{}, map[string]bool{}
	eachSource(t, func(parsed *ast.File) {
		var texts, prefixes []string
		ast.Inspect(parsed, func(n ast.Node) bool {
			if text, ok := textOf(n); ok {
				texts, literals[text] = append(texts, text), true
				if strings.HasPrefix(text, "probefleet_") && strings.HasSuffix(text, "_") {
					prefixes = append(prefixes, text)
				}
			}
			return true
		})
		for _, text := range texts {
			names[text] = true
			for _, prefix := range prefixes {
				names[prefix+text] = true
			}
		}
	})
	if !names["probefleet_publisher_lease_held"] || names["probefleet_publisher_no_such_thing"] {
		t.Fatal("the sources are not read as they are written")
	}
	return names, literals
}

// eachSource hands over the programs' sources, without tests.
func eachSource(t *testing.T, use func(*ast.File)) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "node_modules" || strings.HasPrefix(entry.Name(), ".") && path != "..") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err == nil {
			use(parsed)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// textOf is the text of a literal.
func textOf(n ast.Node) (string, bool) {
	literal, ok := n.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(literal.Value)
	return text, err == nil
}
