package migrations

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the rendered migrations instead of comparing them")

// What the migrations say, for one node and for a cluster, stands in testdata. A released
// file of testdata/single never changes: it was applied.
func TestRenderedMigrations(t *testing.T) {
	t.Parallel()
	for folder, l := range map[string]layout{"single": {}, "cluster": {cluster: "fleet"}} {
		for _, name := range clickHouse(l).pending(0) {
			text, err := files.ReadFile("clickhouse/" + name)
			if err != nil {
				t.Fatal(err)
			}
			got, err := l.render(name, string(text))
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", folder, name)
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				continue
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s is not what is rendered (run with -update, but never for a released one): %s", golden, diff)
			}
		}
	}
}

// On a cluster every statement about tables says so, and nothing is kept on one node only.
func TestClusterForgetsNothing(t *testing.T) {
	t.Parallel()
	l := layout{cluster: "fleet"}
	for _, name := range clickHouse(l).pending(0) {
		text, err := files.ReadFile("clickhouse/" + name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := l.render(name, string(text))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(got) {
			for _, word := range []string{"CREATE ", "ALTER ", "DROP "} {
				if strings.HasPrefix(line, word) && !strings.Contains(line, " ON CLUSTER 'fleet'") {
					t.Errorf("%s: %s", name, line)
				}
			}
			if strings.HasPrefix(line, "ENGINE = ") && !strings.HasPrefix(line, "ENGINE = Replicated") {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
	if got := l.versions(); !strings.Contains(got, "ON CLUSTER 'fleet'") || (layout{}).versions() != "" {
		t.Error(got)
	}
}

func TestSplitCluster(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		url, plain, cluster string
		bad                 bool
	}{
		{"clickhouse://u:p@h:9000/db", "clickhouse://u:p@h:9000/db", "", false},
		{"clickhouse://u:p%40@h:9000/db?cluster=fleet&dial_timeout=2s", "clickhouse://u:p%40@h:9000/db?dial_timeout=2s", "fleet", false},
		{"clickhouse://u:hunter2@h:9000/db?cluster=", "", "", true},
		{"clickhouse://u:hunter2@h:9000/db?cluster=a'b", "", "", true},
		{"clickhouse://u:hunter2@[::1/db?cluster=a", "", "", true},
	} {
		plain, cluster, err := SplitCluster(c.url)
		if plain != c.plain || cluster != c.cluster || (err != nil) != c.bad || (err != nil && strings.Contains(err.Error(), "hunter2")) {
			t.Errorf("%s: %q %q %v", c.url, plain, cluster, err)
		}
	}
}
