// Package deploy_test reads the files people deploy with: there is no container
// engine where the tests run, so what can be judged by reading is judged here.
package deploy_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

var programs = []string{"publisher", "prober", "dashboard-api", "probefleet"}

type compose struct {
	Services map[string]struct {
		Image       string            `yaml:"image"`
		Command     []string          `yaml:"command"`
		Environment map[string]string `yaml:"environment"`
		ReadOnly    bool              `yaml:"read_only"`
		CapDrop     []string          `yaml:"cap_drop"`
		DependsOn   map[string]any    `yaml:"depends_on"`
	} `yaml:"services"`
}

func readCompose(t *testing.T, path string) compose {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var c compose
	if err := yaml.Unmarshal(content, &c); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return c
}

func TestComposeGivesEachServiceWhatItNeedsAndNoMore(t *testing.T) {
	t.Parallel()
	needs := map[string][]string{
		"publisher": {"REDIS_URL", "CLICKHOUSE_URL", "DATABASE_URL"}, "prober": {"REDIS_URL", "CLICKHOUSE_URL", "SECRET_KEY", "REGION"},
		"dashboard-api": {"REDIS_URL", "CLICKHOUSE_URL", "DATABASE_URL", "SECRET_KEY"}, "migrate": {"DATABASE_URL", "CLICKHOUSE_URL"},
	}
	for _, path := range []string{"compose/compose.yaml", "compose/region.yaml"} {
		c := readCompose(t, path)
		for name, s := range c.Services {
			for other := range s.DependsOn {
				if _, found := c.Services[other]; !found {
					t.Errorf("%s: %s depends on %s, which is not there", path, name, other)
				}
			}
			if strings.HasSuffix(s.Image, ":latest") || (s.Image != "probefleet" && !strings.Contains(s.Image, ":")) {
				t.Errorf("%s: %s runs an unpinned image %q", path, name, s.Image)
			}
			wanted, ours := needs[name]
			if !ours {
				continue
			}
			for _, variable := range wanted {
				if s.Environment[variable] == "" {
					t.Errorf("%s: %s lacks %s", path, name, variable)
				}
			}
			if _, has := s.Environment["DATABASE_URL"]; name == "prober" && has {
				t.Errorf("%s: a prober must not get the relational database", path)
			}
			if !slices.Contains(programs, s.Command[0]) || !s.ReadOnly || !slices.Contains(s.CapDrop, "ALL") {
				t.Errorf("%s: %s: %v read_only=%v cap_drop=%v", path, name, s.Command, s.ReadOnly, s.CapDrop)
			}
		}
	}
}

func TestDockerfileIsSound(t *testing.T) {
	t.Parallel()
	file, err := os.Open("compose/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	stages, user, from := map[string]bool{}, "", 0
	image := regexp.MustCompile(`^FROM ([\w./-]+):([\w.-]+)(?: AS (\w+))?$`)
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := lines.Text()
		if strings.HasPrefix(line, "FROM ") {
			m := image.FindStringSubmatch(line)
			if m == nil || m[2] == "latest" {
				t.Fatalf("unpinned: %s", line)
			}
			stages[m[3]], user, from = true, "", from+1
		}
		if stage, found := strings.CutPrefix(line, "COPY --from="); found && !stages[strings.Fields(stage)[0]] {
			t.Errorf("copies from a stage that is not there: %s", line)
		}
		if u, found := strings.CutPrefix(line, "USER "); found {
			user = u
		}
		if source, found := strings.CutPrefix(line, "COPY "); found && !strings.HasPrefix(source, "--from") {
			for _, path := range strings.Fields(source)[:len(strings.Fields(source))-1] {
				if _, err := os.Stat(filepath.Join("..", path)); err != nil {
					t.Errorf("%s: %v", line, err)
				}
			}
		}
	}
	if from < 2 || user == "" || user == "root" {
		t.Errorf("%d stages, last runs as %q", from, user)
	}
}

func TestSystemdUnits(t *testing.T) {
	t.Parallel()
	for _, name := range programs[:3] {
		path := "systemd/probefleet-" + name + ".service"
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"Type=notify", "WatchdogSec=", "ExecStart=/usr/local/bin/" + name + "\n", "RestartPreventExitStatus=78", "DynamicUser=yes", "ProtectSystem=strict", "NoNewPrivileges=yes"} {
			if !strings.Contains(string(content), want) {
				t.Errorf("%s lacks %s", path, want)
			}
		}
		if tool, err := exec.LookPath("systemd-analyze"); err == nil { // more where systemd is installed
			out, err := exec.Command(tool, "verify", "--man=no", path).CombinedOutput()
			if err != nil && !strings.Contains(string(out), "is not executable") {
				t.Errorf("%s: %s", path, out)
			}
		}
	}
}
