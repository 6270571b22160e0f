package deploy_test

import (
	"encoding/json"
	"go/ast"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

type grafanaDashboard struct {
	UID        string         `json:"uid"`
	Title      string         `json:"title"`
	Panels     []grafanaPanel `json:"panels"`
	Templating struct {
		List []struct {
			Name       string            `json:"name"`
			Type       string            `json:"type"`
			Query      json.RawMessage   `json:"query"` // of a datasource a text
			Definition string            `json:"definition"`
			AllValue   string            `json:"allValue"`
			Datasource grafanaDatasource `json:"datasource"`
		} `json:"list"`
	} `json:"templating"`
}

type grafanaDatasource struct {
	UID string `json:"uid"`
}

type grafanaPanel struct {
	ID          int               `json:"id"`
	Type        string            `json:"type"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Datasource  grafanaDatasource `json:"datasource"`
	GridPos     struct{ H, W, X, Y int }
	FieldConfig struct {
		Defaults struct {
			Unit       string `json:"unit"`
			Thresholds struct {
				Steps []struct {
					Color string   `json:"color"`
					Value *float64 `json:"value"`
				} `json:"steps"`
			} `json:"thresholds"`
		} `json:"defaults"`
	} `json:"fieldConfig"`
	Targets []struct {
		RefID        string            `json:"refId"`
		Datasource   grafanaDatasource `json:"datasource"`
		Expr         string            `json:"expr"`
		LegendFormat string            `json:"legendFormat"`
	} `json:"targets"`
}

const chosenDatasource = "${datasource}"

// A panel on a metric that nobody exports is empty, as if all were well: every metric, label and
// value of the dashboards must be in the programs.
func TestDashboardsShowWhatIsThere(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("grafana/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	programs := newExpressions(t)
	uids := map[string]bool{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var board grafanaDashboard
		if err := json.Unmarshal(content, &board); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if board.UID == "" || board.Title == "" || uids[board.UID] {
			t.Errorf("%s lacks a title or a uid of its own", file)
		}
		uids[board.UID] = true
		variables := map[string]bool{"__rate_interval": true}
		for _, v := range board.Templating.List {
			variables[v.Name] = true
			if v.Type == "query" {
				programs.judge(t, file+": variable "+v.Name, strings.TrimSuffix(strings.TrimPrefix(v.Definition, "label_values("), ")"), "")
				var asked struct{ Query string }
				if err := json.Unmarshal(v.Query, &asked); err != nil || asked.Query != v.Definition {
					t.Errorf("%s: variable %s asks for %s and says %s: %v", file, v.Name, v.Query, v.Definition, err)
				}
				if v.AllValue != ".*" || v.Datasource.UID != chosenDatasource { // .* is also a label that is not there
					t.Errorf("%s: variable %s leaves out what has no such label, or asks another Prometheus", file, v.Name)
				}
			}
		}
		for _, needed := range []string{"datasource", "region", "prober"} {
			if !variables[needed] {
				t.Errorf("%s has no variable %s", file, needed)
			}
		}
		judgePanels(t, file, board.Panels)
		for _, panel := range board.Panels {
			for _, target := range panel.Targets {
				for _, used := range regexp.MustCompile(`\$\{?([a-z_]+)`).FindAllStringSubmatch(target.Expr, -1) {
					if !variables[used[1]] {
						t.Errorf("%s: %s asks for $%s, which nobody sets", file, panel.Title, used[1])
					}
				}
				programs.judge(t, file+": "+panel.Title, target.Expr, target.LegendFormat)
			}
		}
	}
}

// judgePanels looks at all but what they ask for.
func judgePanels(t *testing.T, file string, panels []grafanaPanel) {
	t.Helper()
	ids, titles, rows := map[int]bool{}, map[string]bool{}, 0
	for i, p := range panels {
		if p.ID <= 0 || ids[p.ID] || p.Title == "" || titles[p.Title] {
			t.Errorf("%s: the panel %q, %d, lacks a title or an id of its own", file, p.Title, p.ID)
		}
		ids[p.ID], titles[p.Title] = true, true
		for _, o := range panels[:i] {
			if p.GridPos.X < o.GridPos.X+o.GridPos.W && o.GridPos.X < p.GridPos.X+p.GridPos.W && p.GridPos.Y < o.GridPos.Y+o.GridPos.H && o.GridPos.Y < p.GridPos.Y+p.GridPos.H {
				t.Errorf("%s: %s lies on %s", file, p.Title, o.Title)
			}
		}
		if p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("%s: %s does not fit into the width", file, p.Title)
		}
		if p.Type == "row" {
			rows++
			continue
		}
		defaults := p.FieldConfig.Defaults
		if p.Description == "" || defaults.Unit == "" || len(defaults.Thresholds.Steps) == 0 || len(p.Targets) == 0 || p.Datasource.UID != chosenDatasource {
			t.Errorf("%s: %s lacks a description, a unit, thresholds, a question or the chosen datasource", file, p.Title)
		}
		refs := map[string]bool{}
		for _, target := range p.Targets {
			if target.Expr == "" || refs[target.RefID] || target.LegendFormat == "" || target.Datasource.UID != chosenDatasource {
				t.Errorf("%s: %s: %+v lacks an expression, a legend, a refId of its own or the chosen datasource", file, p.Title, target)
			}
			refs[target.RefID] = true
		}
	}
	if rows == 0 {
		t.Errorf("%s has no rows", file)
	}
}

// expressions knows what can be asked for.
type expressions struct {
	exported, literals map[string]bool
	labels             map[string]map[string]bool // by metric: labels, and other texts beside its name
}

func newExpressions(t *testing.T) expressions {
	t.Helper()
	e := expressions{labels: exportedLabels(t)}
	e.exported, e.literals = exportedMetrics(t)
	return e
}

// given are the labels that Prometheus puts on what it scrapes; docs/operations.md asks for region.
func given() []string { return []string{"instance", "job", "region"} }

// judge says what is wrong with an expression and the legend of its lines.
func (e expressions) judge(t *testing.T, where, expr, legend string) {
	t.Helper()
	if strings.Count(expr, "(") != strings.Count(expr, ")") || strings.Count(expr, "{") != strings.Count(expr, "}") {
		t.Errorf("%s: brackets do not match: %s", where, expr)
	}
	found := regexp.MustCompile(`(probefleet_[a-z0-9_]+)(\{[^}]*\})?`).FindAllStringSubmatch(expr, -1)
	if len(found) == 0 {
		t.Errorf("%s asks for nothing: %s", where, expr)
	}
	of := map[string]bool{} // labels that some of its metrics has
	for _, m := range found {
		metric, histogram := m[1], false
		for _, suffix := range []string{"_bucket", "_count", "_sum"} {
			if base, cut := strings.CutSuffix(metric, suffix); cut && e.exported[base] {
				metric, histogram = base, true
			}
		}
		if !e.exported[metric] {
			t.Errorf("%s asks for %s, which no program exports", where, metric)
		}
		has := maps.Clone(e.labels[metric])
		if has == nil {
			has = map[string]bool{}
		}
		has["le"] = histogram && strings.HasSuffix(m[1], "_bucket")
		for _, label := range given() {
			has[label] = true
		}
		maps.Copy(of, has)
		for _, matcher := range regexp.MustCompile(`([a-z_]+)\s*(=~|!~|!=|=)\s*"([^"]*)"`).FindAllStringSubmatch(m[2], -1) {
			label, operator, value := matcher[1], matcher[2], matcher[3]
			if !has[label] {
				t.Errorf("%s: %s has no label %s", where, m[1], label)
			}
			if strings.HasSuffix(operator, "=") && label != "le" && !e.literals[value] {
				t.Errorf("%s asks for %s=%q, which no program says", where, label, value)
			}
		}
	}
	for _, by := range regexp.MustCompile(`(?:by|without) \(([^)]*)\)`).FindAllStringSubmatch(expr, -1) {
		for _, label := range strings.Split(by[1], ",") {
			if label = strings.TrimSpace(label); !of[label] {
				t.Errorf("%s: nothing that it asks for has a label %s", where, label)
			}
		}
	}
	for _, named := range regexp.MustCompile(`\{\{\s*([a-z_]+)\s*\}\}`).FindAllStringSubmatch(legend, -1) {
		grouped := regexp.MustCompile(`by \([^)]*\b` + named[1] + `\b[^)]*\)`).MatchString(expr)
		if !of[named[1]] || strings.Contains(expr, "by (") && !grouped {
			t.Errorf("%s: its lines have no label %s", where, named[1])
		}
	}
	for _, word := range regexp.MustCompile(`\b[a-z_]+\(`).FindAllString(expr, -1) {
		if !slices.Contains([]string{"sum(", "max(", "rate(", "increase(", "histogram_quantile(", "topk(", "vector(", "time("}, word) {
			t.Errorf("%s: is there a function %s of PromQL? Then name it in this test", where, word)
		}
	}
}

// exportedLabels reads, for each metric, the texts in the call that makes it: its labels are among
// them. Where a file has a prefix its texts are taken with and without it.
func exportedLabels(t *testing.T) map[string]map[string]bool {
	t.Helper()
	labels := map[string]map[string]bool{}
	eachSource(t, func(parsed *ast.File) {
		var prefixes []string
		ast.Inspect(parsed, func(n ast.Node) bool {
			if text, ok := textOf(n); ok && strings.HasPrefix(text, "probefleet_") && strings.HasSuffix(text, "_") {
				prefixes = append(prefixes, text)
			}
			return true
		})
		ast.Inspect(parsed, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			var texts []string
			ast.Inspect(call, func(inner ast.Node) bool {
				if _, nested := inner.(*ast.CallExpr); nested && inner != n {
					return false // says what it makes itself
				}
				if text, ok := textOf(inner); ok {
					texts = append(texts, text)
				}
				return true
			})
			for _, name := range texts {
				for _, metric := range append([]string{name}, prefixed(prefixes, name)...) {
					if strings.HasPrefix(metric, "probefleet_") {
						if labels[metric] == nil {
							labels[metric] = map[string]bool{}
						}
						for _, text := range texts {
							labels[metric][text] = true
						}
					}
				}
			}
			return true
		})
	})
	if !labels["probefleet_publisher_missed_slots_total"]["reason"] || !labels["probefleet_recorder_rows_total"]["outcome"] || labels["probefleet_recorder_rows_total"]["reason"] {
		t.Fatal("the sources are not read as they are written")
	}
	return labels
}

func prefixed(prefixes []string, name string) []string {
	all := make([]string, len(prefixes))
	for i, prefix := range prefixes {
		all[i] = prefix + name
	}
	return all
}

// The provider reads the folder that the manual says to copy to.
func TestDashboardsAreProvisioned(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("grafana/dashboards.yml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		APIVersion int `yaml:"apiVersion"`
		Providers  []struct {
			Name, Type string
			Options    struct{ Path string }
		}
	}
	if err := yaml.Unmarshal(content, &file); err != nil || file.APIVersion != 1 || len(file.Providers) != 1 {
		t.Fatalf("%+v %v", file, err)
	}
	manual, err := os.ReadFile("../docs/operations.md")
	provider := file.Providers[0]
	if err != nil || provider.Name == "" || provider.Type != "file" || provider.Options.Path == "" || !strings.Contains(string(manual), "`"+provider.Options.Path+"`") {
		t.Errorf("%+v, or docs/operations.md does not say where dashboards go", provider)
	}
}
