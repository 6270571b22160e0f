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

	"github.com/probefleet/probefleet/internal/service"
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
		Volumes     []string          `yaml:"volumes"`
		Sysctls     map[string]string `yaml:"sysctls"`
	} `yaml:"services"`
	Volumes map[string]any `yaml:"volumes"`
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
		"dashboard-api": {"REDIS_URL", "CLICKHOUSE_URL", "DATABASE_URL", "SECRET_KEY", "API_PUBLIC_URL", "API_TRUST_PROXY", "API_SMTP_URL", "API_OIDC_ISSUER"}, "migrate": {"DATABASE_URL", "CLICKHOUSE_URL"},
	}
	spoolDirs := map[string]bool{}
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
			if variable, spools := map[string]string{"publisher": "PUBLISHER_SPOOL_DIR", "prober": "PROBER_SPOOL_DIR"}[name]; spools {
				volume, at, _ := strings.Cut(strings.Join(s.Volumes, " "), ":")
				if _, declared := c.Volumes[volume]; !declared || at == "" || s.Environment[variable] != at {
					t.Errorf("%s: %s spools to %q, which is not its volume %q", path, name, s.Environment[variable], s.Volumes)
				}
				spoolDirs[at] = true
			}
			if name == "prober" && s.Sysctls["net.ipv4.ping_group_range"] != "0 2147483647" {
				t.Errorf("%s: a prober without capabilities cannot ping", path)
			}
			if _, has := s.Environment["DATABASE_URL"]; name == "prober" && has {
				t.Errorf("%s: a prober must not get the relational database", path)
			}
			if !slices.Contains(programs, s.Command[0]) || !s.ReadOnly || !slices.Contains(s.CapDrop, "ALL") {
				t.Errorf("%s: %s: %v read_only=%v cap_drop=%v", path, name, s.Command, s.ReadOnly, s.CapDrop)
			}
		}
	}
	image, err := os.ReadFile("compose/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	for dir := range spoolDirs { // a volume takes its owner from the image
		if !strings.Contains(string(image), "install -d -m 0700 -o probefleet "+dir+"\n") {
			t.Errorf("the image does not make %s for its user", dir)
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
		state := "/var/lib/probefleet/" + name
		wanted := []string{"Type=notify", "WatchdogSec=15", "WatchdogSignal=SIGKILL", "ExecStart=/usr/local/bin/" + name + "\n", "RestartPreventExitStatus=78", "DynamicUser=yes", "ProtectSystem=strict", "NoNewPrivileges=yes",
			"StateDirectory=probefleet/" + name + "\n", "WorkingDirectory=" + state + "\n", "Environment=LAST_EXIT_FILE=" + state + "/last_exit\n"}
		if spool, spools := map[string]string{"publisher": "PUBLISHER_SPOOL_DIR", "prober": "PROBER_SPOOL_DIR"}[name]; spools {
			wanted = append(wanted, "Environment="+spool+"="+state+"/spool\n")
		}
		for _, want := range wanted {
			if !strings.Contains(string(content), want) {
				t.Errorf("%s lacks %s", path, want)
			}
		}
		if offered := strings.Contains(string(content), "\n#AmbientCapabilities=CAP_NET_RAW\n"); offered != (name == "prober") || !strings.Contains(string(content), "\nCapabilityBoundingSet=\n") {
			t.Errorf("%s: no program has a capability, and a prober may be given one", path)
		}
		if strings.Contains(string(content), "RestartSteps=") {
			t.Errorf("%s: RestartSteps is never taken back", path)
		}
		if tool, err := exec.LookPath("systemd-analyze"); err == nil { // more where systemd is installed
			out, err := exec.Command(tool, "verify", "--man=no", path).CombinedOutput()
			if err != nil && !strings.Contains(string(out), "is not executable") {
				t.Errorf("%s: %s", path, out)
			}
		}
	}
}

// What a unit writes when its program ends is what the program reads next.
func TestUnitsSayHowTheirProgramEnded(t *testing.T) {
	t.Parallel()
	command := regexp.MustCompile(`(?m)^ExecStopPost=-/bin/sh -c '(.*)'$`)
	for _, name := range programs[:3] {
		content, err := os.ReadFile("systemd/probefleet-" + name + ".service")
		if err != nil {
			t.Fatal(err)
		}
		found := command.FindSubmatch(content)
		if found == nil {
			t.Fatalf("%s has no ExecStopPost", name)
		}
		script := strings.NewReplacer("$$", "$", "%%", "%").Replace(string(found[1]))
		for _, c := range []struct{ result, code, status, cause string }{
			{"success", "exited", "0", "drained"}, {"exit-code", "exited", "74", "spool"},
			{"signal", "killed", "KILL", "signal"}, {"watchdog", "killed", "KILL", "unresponsive"},
		} {
			dir := t.TempDir()
			shell := exec.Command("/bin/sh", "-c", script)
			shell.Dir, shell.Env = dir, append(os.Environ(), "SERVICE_RESULT="+c.result, "EXIT_CODE="+c.code, "EXIT_STATUS="+c.status)
			if out, err := shell.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			last, err := service.ReadLastExit(filepath.Join(dir, "last_exit"))
			if err != nil || last == nil || last.Cause != c.cause {
				t.Errorf("%s, %+v: read as %+v %v", name, c, last, err)
			}
		}
	}
}
