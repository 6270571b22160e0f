package service

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestLastExitIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		result, how, status string
		want                LastExit
	}{
		{ResultSuccess, "exited", "0", LastExit{Cause: "drained"}},
		{ResultExitCode, "exited", "70", LastExit{Code: ExitWatchdog, Cause: "watchdog"}},
		{ResultExitCode, "exited", "74", LastExit{Code: ExitSpool, Cause: "spool"}},
		{ResultExitCode, "exited", "2", LastExit{Code: 2, Cause: "failure"}},
		{ResultSignal, "killed", "KILL", LastExit{Code: -1, Signal: "KILL", Cause: "signal"}},
		{"core-dump", "dumped", "SEGV", LastExit{Code: -1, Signal: "SEGV", Cause: "signal"}},
		{ResultWatchdog, "killed", "KILL", LastExit{Code: -1, Signal: "KILL", Cause: "unresponsive"}},
	} {
		t.Run(c.want.Cause+c.status, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "x.exit")
			written := NewLastExit(c.result, c.how, c.status, at, 12345*time.Millisecond)
			if err := written.Write(path); err != nil {
				t.Fatal(err)
			}
			read, err := ReadLastExit(path)
			if err != nil || !reflect.DeepEqual(*read, written) {
				t.Fatalf("wrote %+v, read %+v %v", written, read, err)
			}
			if read.Code != c.want.Code || read.Signal != c.want.Signal || read.Cause != c.want.Cause || read.Reason == "" || !read.At.Equal(at) || read.AfterS != 12.345 {
				t.Errorf("read %+v", read)
			}
		})
	}
}

func TestLastExitThatIsNotThere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, path := range []string{"", filepath.Join(dir, "none")} {
		if got, err := ReadLastExit(path); got != nil || err != nil {
			t.Errorf("%q: %v %v", path, got, err)
		}
	}
	for name, content := range map[string]string{"empty": "", "torn": "result=signal how=kil", "other": "{\"json\":true}\n", "no time": "how=exited status=1 at=noon"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadLastExit(path); got != nil || err == nil {
			t.Errorf("%s: %v %v", name, got, err)
		}
	}
}

func FuzzReadLastExit(f *testing.F) {
	f.Add("result=signal how=killed status=KILL at=2026-03-01T10:00:00Z ran=1h2m3s\n")
	f.Add("result=exit-code how=exited status=999999999999999999999 at=2026-03-01T10:00:00Z ran=-1s\n")
	f.Fuzz(func(t *testing.T, line string) {
		path := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(path, []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := ReadLastExit(path)
		if (got == nil) == (err == nil) {
			t.Fatalf("%v %v", got, err)
		}
		if _, err := json.Marshal(got); err != nil {
			t.Fatal(err)
		}
	})
}

func TestServiceShowsItsLastExit(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.exit")
	if err := NewLastExit(ResultExitCode, "exited", "70", time.Now(), time.Minute).Write(path); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	env := func(name string) string {
		return map[string]string{"OPS_ADDR": "127.0.0.1:0", "LAST_EXIT_FILE": path}[name]
	}
	code := Main("sample", ":1", nil, env, &out, func(_ context.Context, s *Service) error {
		if _, body := get(t, s, "/healthz"); !strings.Contains(body, `"last_exit":{"how":"exited","code":70,"cause":"watchdog"`) {
			t.Errorf("healthz: %s", body)
		}
		if _, body := get(t, s, "/metrics"); !strings.Contains(body, `probefleet_last_exit_timestamp_seconds{cause="watchdog"}`) {
			t.Errorf("no metric of the last exit")
		}
		return nil
	})
	if code != ExitOK {
		t.Errorf("exits %d: %s", code, out.String())
	}
}
