package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/envconf"
)

func get(t *testing.T, s *Service, path string) (int, string) {
	t.Helper()
	response, err := http.Get("http://" + s.OpsAddr + path)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	return response.StatusCode, string(body)
}

func TestServiceSaysHowItIs(t *testing.T) {
	var out strings.Builder
	env := func(name string) string { return map[string]string{"OPS_ADDR": "127.0.0.1:0"}[name] }
	code := Main("sample", ":1", nil, env, &out, func(ctx context.Context, s *Service) error {
		if status, _ := get(t, s, "/readyz"); status != http.StatusServiceUnavailable {
			t.Errorf("ready before Ready: %d", status)
		}
		s.Health.Ready()
		if status, _ := get(t, s, "/readyz"); status != http.StatusOK {
			t.Errorf("not ready after Ready: %d", status)
		}
		s.Health.Fact("embedded_redis", func() any { return true })
		s.Health.Set("redis", Degraded, "slow")
		if status, body := get(t, s, "/healthz"); status != 200 || !strings.Contains(body, `"status":"degraded"`) || !strings.Contains(body, "redis: slow") || !strings.Contains(body, `"embedded_redis":true`) {
			t.Errorf("healthz: %d %s", status, body)
		}
		s.Health.Set("redis", Error, "down")
		if status, _ := get(t, s, "/healthz"); status != http.StatusServiceUnavailable {
			t.Errorf("healthz on error: %d", status)
		}
		if _, body := get(t, s, "/metrics"); !strings.Contains(body, "probefleet_process_cpu_seconds_total") {
			t.Error("no process metrics")
		}
		if err := syscall.Kill(syscall.Getpid(), syscall.SIGTERM); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	})
	if code != ExitOK {
		t.Fatalf("drained service exits %d: %s", code, out.String())
	}
}

func TestExitCodes(t *testing.T) {
	var out strings.Builder
	bad := func(name string) string { return map[string]string{"LOG_LEVEL": "loud", "LIMIT": "many"}[name] }
	code := Main("sample", ":1", nil, bad, &out, func(context.Context, *Service) error {
		var config struct {
			Settings
			Limit int `env:"LIMIT"`
		}
		return Exit(ExitConfig, envconf.Load(bad, &config))
	})
	if code != ExitConfig || !strings.Contains(out.String(), "LOG_LEVEL") || !strings.Contains(out.String(), "LIMIT") {
		t.Errorf("bad settings exit %d: %s", code, out.String())
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	busy := func(name string) string { return map[string]string{"OPS_ADDR": taken.Addr().String()}[name] }
	if code := Main("sample", ":1", nil, busy, &out, nil); code != ExitDependency || !strings.Contains(out.String(), "OPS_ADDR") {
		t.Errorf("a taken port exits %d: %s", code, out.String())
	}
	wrong := func(name string) string { return map[string]string{"OPS_ADDR": "nowhere"}[name] }
	if code := Main("sample", ":1", nil, wrong, &out, nil); code != ExitConfig {
		t.Errorf("a wrong address exits %d: %s", code, out.String())
	}
	if got := Code(fmt.Errorf("at boot: %w", Exit(ExitDependency, errors.New("no redis")))); got != ExitDependency {
		t.Errorf("wrapped code is %d", got)
	}
	if Exit(ExitConfig, nil) != nil || Code(errors.New("x")) != ExitFailure {
		t.Error("nil stays nil; unknown is 1")
	}
}

// A drain takes up to half a minute, systemd's patience is 15 s: a process that
// fell silent when it was asked to stop would be killed in the middle of it.
func TestSystemdHearsOfADrain(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "notify")
	systemd, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer systemd.Close()
	t.Setenv("NOTIFY_SOCKET", socket)
	t.Setenv("WATCHDOG_USEC", "60000")
	env := func(name string) string { return map[string]string{"OPS_ADDR": "127.0.0.1:0"}[name] }
	var out strings.Builder
	code := Main("sample", ":1", nil, env, &out, func(ctx context.Context, _ *Service) error {
		if err := syscall.Kill(syscall.Getpid(), syscall.SIGTERM); err != nil {
			return err
		}
		<-ctx.Done()
		_ = systemd.SetReadDeadline(time.Now().Add(hang))
		message := make([]byte, 100)
		for range 5 { // the first may be from before
			n, err := systemd.Read(message)
			if err != nil || string(message[:n]) != "WATCHDOG=1" {
				return fmt.Errorf("while draining: %q %w", message[:n], err)
			}
		}
		return ctx.Err()
	})
	if code != ExitOK {
		t.Errorf("exit %d: %s", code, out.String())
	}
}
