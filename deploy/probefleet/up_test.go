package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/deploy/probefleet/internal/supervisor"
	"github.com/probefleet/probefleet/internal/secret"
	"github.com/probefleet/probefleet/internal/service"
)

func TestFlagsOfUpAreJudgedFirst(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		command upCommand
		want    string
	}{
		{upCommand{Port: 8080, Regions: []string{"eu", "us-1"}}, ""},
		{upCommand{Port: 0, Regions: []string{"eu"}}, "--port 0"},
		{upCommand{Port: 65536, Regions: []string{"eu"}}, "--port 65536"},
		{upCommand{Port: 8080}, "name at least one"},
		{upCommand{Port: 8080, Regions: []string{"eu", "us", "eu"}}, "eu is named twice"},
		{upCommand{Port: 8080, Regions: []string{"publisher"}}, "name of a program"},
		{upCommand{Port: 8080, Regions: []string{"../etc"}}, `"../etc" is not`},
	} {
		err := c.command.check()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.command, err, c.want)
		}
	}
}

// testRun is an installation whose programs are one shell script.
func testRun(t *testing.T, script string, regions ...string) *upRun {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"publisher", "prober", "dashboard-api"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil { //nolint:gosec // a program must be executable
			t.Fatal(err)
		}
	}
	log, err := os.Create(filepath.Join(dir, "up.log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	in := &installation{dir: dir, binDir: dir, logFile: log, env: environment{BootstrapKey: secret.New("pf_bootstrap")}}
	u := &upRun{upCommand: &upCommand{Port: 8080, Regions: regions}, in: in, stores: &stores{databaseURL: "sqlite:x"}, ops: map[string]string{}}
	u.sup = supervisor.New(in.supervised(u.record))
	t.Cleanup(u.sup.Stop)
	return u
}

func TestProgramsGetWhatTheyNeedAndNoMore(t *testing.T) {
	t.Setenv("BOOTSTRAP_API_KEY", "pf_bootstrap")
	t.Setenv("PROBER_SPOOL_DIR_FILE", "/nowhere") // the operator's own, for another prober
	t.Setenv("LAST_EXIT_FILE", "/nowhere")
	u := testRun(t, "env; echo complete; exec sleep 1000", "a", "b", "c", "d")
	if err := u.startPrograms("", "127.0.0.1:7"); err != nil {
		t.Fatal(err)
	}
	for name, spool := range map[string]string{"publisher": "PUBLISHER_SPOOL_DIR=%s/spool/publisher", "prober-a": "PROBER_SPOOL_DIR=%s/spool/a", "prober-d": "PROBER_SPOOL_DIR=%s/spool/d"} {
		environment := awaitText(t, filepath.Join(u.in.dir, "logs", name+".log"), "complete\n")
		volatile := strings.SplitN(spool, "_", 2)[0] + "_SPOOL_VOLATILE=true" // the test's folder is a temporary one
		for _, want := range []string{fmt.Sprintf(spool, u.in.dir), volatile, "LAST_EXIT_FILE=" + u.in.dir + "/run/" + name + ".exit"} {
			if !strings.Contains(environment, want+"\n") {
				t.Errorf("%s lacks %s", name, want)
			}
		}
		if strings.Contains(environment, "PROBER_CANARIES=127.0.0.1:7\n") != strings.HasPrefix(name, "prober") {
			t.Errorf("%s: canaries are the probers'", name)
		}
	}
	for name, wanted := range map[string][2]bool{"publisher": {true, false}, "prober-a": {false, false}, "prober-d": {false, false}, "dashboard-api": {true, true}} {
		environment := awaitText(t, filepath.Join(u.in.dir, "logs", name+".log"), "complete\n")
		for i, variable := range []string{"DATABASE_URL=sqlite:x\n", "BOOTSTRAP_API_KEY=pf_bootstrap\n"} {
			if strings.Contains(environment, "/nowhere") {
				t.Errorf("%s gets what was meant for another", name)
			}
			if strings.Contains(environment, variable) != wanted[i] {
				t.Errorf("%s: has %s is not %v", name, variable, wanted[i])
			}
		}
	}
	u.record()
	running, err := readRunFile(u.in.dir)
	if err != nil || len(running.Ops) != 6 || len(running.Processes) != 6 {
		t.Errorf("run file: %+v %v", running, err)
	}
}

// With many programs the first is up, and recorded, while others are still to be
// started: the race detector watches.
func TestManyProgramsAreRecordedWhileTheyStart(t *testing.T) {
	t.Parallel()
	var regions []string
	for i := range 40 {
		regions = append(regions, "r"+strconv.Itoa(i))
	}
	u := testRun(t, "exec sleep 1000", regions...)
	if err := u.startPrograms("", "127.0.0.1:7"); err != nil {
		t.Fatal(err)
	}
	if len(u.ops) != len(regions)+2 {
		t.Errorf("%d ops addresses for %d programs", len(u.ops), len(regions)+2)
	}
}

func TestRefusedConfigurationKeepsItsExitCode(t *testing.T) {
	t.Parallel()
	u := testRun(t, "echo SECRET_KEY is too small; exit 78", "a")
	if err := u.startPrograms("", "127.0.0.1:7"); err != nil {
		t.Fatal(err)
	}
	err := waitReady(t.Context(), u.sup, u.ops["dashboard-api"], u.in.dir)
	if service.Code(err) != service.ExitConfig || !strings.Contains(err.Error(), "SECRET_KEY is too small") {
		t.Errorf("exit %d: %v", service.Code(err), err)
	}
}

func awaitText(t *testing.T, path, want string) string {
	t.Helper()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(2 * time.Minute); ; <-ticker.C {
		content, _ := os.ReadFile(path)
		if strings.Contains(string(content), want) {
			return string(content)
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s never holds %q: %s", path, want, content)
		}
	}
}

func TestStoresAreFound(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "database_url")
	if err := os.WriteFile(secret, []byte("sqlite:from-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"DATABASE_URL", "REDIS_URL", "CLICKHOUSE_URL"} {
		t.Setenv(name, "")
	}
	write := func(pid int) {
		content, err := json.Marshal(runFile{PID: pid, DatabaseURL: "sqlite:running", RedisURL: "redis://running"})
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "run.json"), content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	write(1 << 30) // above every pid: an 'up' that was killed
	if found, err := (storeFlags{Dir: dir}).resolve(); err == nil || !strings.Contains(err.Error(), "no store is known") {
		t.Errorf("a dead installation's stores: %+v %v", found, err)
	}
	write(os.Getpid())
	t.Setenv("DATABASE_URL_FILE", secret)
	found, err := storeFlags{Dir: dir}.resolve()
	if err != nil || found.DatabaseURL != "sqlite:from-file" || found.RedisURL != "redis://running" {
		t.Errorf("%+v %v", found, err)
	}
	if found, err := (storeFlags{Dir: dir, DatabaseURL: "sqlite:flag"}).resolve(); err != nil || found.DatabaseURL != "sqlite:flag" {
		t.Errorf("%+v %v", found, err)
	}
	t.Setenv("DATABASE_URL", "sqlite:both")
	if _, err := (storeFlags{Dir: dir}).resolve(); err == nil || !strings.Contains(err.Error(), "both set") {
		t.Errorf("both set: %v", err)
	}
}

func TestVolatileFolders(t *testing.T) {
	t.Parallel()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink("/dev/shm", link); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]bool{"/": false, "/etc": false, "/tmp": true, t.TempDir(): true, "/dev/shm": true, link: true, "/tmpfoo": false} {
		if why := volatileDir(dir); (why != "") != want {
			t.Errorf("%s: %q", dir, why)
		}
	}
}
