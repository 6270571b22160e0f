package supervisor

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/testbackend"
)

// TestMain turns this binary into a child program when it is asked to be one.
func TestMain(m *testing.M) {
	if kind := os.Getenv("SUPERVISED_CHILD"); kind != "" {
		os.Exit(childMain(kind))
	}
	os.Exit(m.Run())
}

// childMain notes its start, then lives as its kind says.
func childMain(kind string) int {
	if !note("STARTS") {
		return 99
	}
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	switch kind {
	case "answers", "answers, then is killed":
		server := http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			note("ASKED")
			http.NotFound(w, r) // any answer counts
		})}
		listener, err := net.Listen("tcp", os.Getenv("LISTEN"))
		if err != nil {
			return 75
		}
		go func() { _ = server.Serve(listener) }()
		if kind != "answers" {
			<-time.After(100 * time.Millisecond)
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	case "fails":
		return 1
	case "fails unheard":
		<-time.After(healthyAfter + 100*time.Millisecond)
		return 1
	case "refuses":
		return service.ExitConfig
	}
	<-end
	return 0
}

// note adds a byte to the file that a variable names.
func note(variable string) bool {
	file, err := os.OpenFile(os.Getenv(variable), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return false
	}
	defer file.Close()
	_, err = file.WriteString("x")
	return err == nil
}

type supervised struct {
	*Supervisor
	t     *testing.T
	dir   string
	waits waits
}

// waits is a log handler that keeps how long each restart was held back.
type waits struct {
	slog.Handler
	mu  sync.Mutex
	all []time.Duration
}

func (w *waits) Enabled(context.Context, slog.Level) bool { return true }

func (w *waits) Handle(_ context.Context, r slog.Record) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "in" {
			w.all = append(w.all, a.Value.Duration())
		}
		return true
	})
	return nil
}

// held awaits n restarts and gives how long each was held back.
func (s *supervised) held(n int) (all []time.Duration) {
	s.t.Helper()
	await(s.t, fmt.Sprint(n, " restarts"), func() bool {
		s.waits.mu.Lock()
		defer s.waits.mu.Unlock()
		all = s.waits.all
		return len(all) >= n
	})
	return all[:n]
}

func supervise(t *testing.T, kind string) *supervised {
	t.Helper()
	s := &supervised{t: t, dir: t.TempDir()}
	s.Supervisor = New(Options{LogDir: s.dir, RunDir: s.file("run"), Log: slog.New(&s.waits)})
	s.patience = time.Second // after the first question without an answer
	t.Cleanup(s.Stop)
	address := fmt.Sprint("127.0.0.1:", testbackend.Port(t))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "SUPERVISED_CHILD="+kind, "STARTS="+s.file("starts"), "ASKED="+s.file("asked"), "LISTEN="+address)
	p := Program{Name: "child", Path: self, Grace: time.Second, Env: env, Health: "http://" + address + "/healthz"}
	if err := s.Start(p); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *supervised) file(name string) string { return filepath.Join(s.dir, name) }

// noted counts what children have noted in a file.
func (s *supervised) noted(name string) int {
	content, _ := os.ReadFile(s.file(name))
	return len(content)
}

func (s *supervised) lastExit() service.LastExit {
	s.t.Helper()
	last, err := service.ReadLastExit(filepath.Join(s.file("run"), "child.exit"))
	if err != nil || last == nil {
		s.t.Fatalf("last exit: %v %v", last, err)
	}
	return *last
}

// A stopped process is what a wedged one looks like from outside. When it is killed is shown where
// time is virtual: see watch_test.go.
func TestStoppedChildIsKilledAndStartedAgain(t *testing.T) {
	t.Parallel()
	s := supervise(t, "answers")
	await(t, "it has answered", func() bool { return s.noted("asked") >= 2 })
	pid := 0
	await(t, "it is stopped", func() bool {
		pid = s.States()[0].PID
		return pid > 0 && syscall.Kill(pid, syscall.SIGSTOP) == nil
	})
	await(t, "it is killed", func() bool { return s.States()[0].PID != pid })
	if last := s.lastExit(); last.Cause != "unresponsive" || last.Signal != "KILL" || last.AfterS < s.patience.Seconds() {
		t.Errorf("last exit: %+v", last)
	}
	asked := s.noted("asked")
	await(t, "the next life answers", func() bool { return s.noted("asked") > asked })
}

// The rule itself is in TestWatchKillsWhatWentSilent.
func TestChildThatStartsSlowlyIsLeftAlone(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("make verify: it waits as long as no other child may be silent")
	}
	s := supervise(t, "is silent")
	await(t, "it runs", func() bool { return s.noted("starts") == 1 })
	select { // longer than a silent one may live
	case <-time.After(silentAfter + askEvery + askPatience):
	case <-t.Context().Done():
	}
	if lives := s.noted("starts"); lives != 1 || s.States()[0].PID == 0 {
		t.Errorf("%d lives: %+v", lives, s.States()[0])
	}
}

func TestChildKilledWhileYoungIsBack(t *testing.T) {
	t.Parallel()
	s := supervise(t, "answers, then is killed")
	for i, wait := range s.held(4) {
		if wait > apart {
			t.Errorf("start %d is held back for %v", i+2, wait)
		}
	}
	if last := s.lastExit(); last.Cause != "signal" || last.Signal != "KILL" || last.Code != -1 {
		t.Errorf("last exit: %+v", last)
	}
}

func TestChildThatFailsAtStartIsHeldBack(t *testing.T) {
	t.Parallel()
	s := supervise(t, "fails")
	for i, wait := range s.held(3) {
		if least := firstDelay / 2 << i; wait < least {
			t.Errorf("start %d is held back for only %v", i+2, wait)
		}
	}
	if last := s.lastExit(); last.Cause != "failure" || last.Code != 1 {
		t.Errorf("last exit: %+v", last)
	}
}

// Having run for long is not having been well.
func TestChildThatNeverAnsweredIsHeldBack(t *testing.T) {
	t.Parallel()
	s := supervise(t, "fails unheard")
	if wait := s.held(1)[0]; wait < firstDelay/2 {
		t.Errorf("it is held back for only %v", wait)
	}
}

func TestChildThatRefusesItsConfigurationIsGivenUp(t *testing.T) {
	t.Parallel()
	s := supervise(t, "refuses")
	await(t, "given up", func() bool { return s.States()[0].GivenUp })
	if lives := s.noted("starts"); lives != 1 || s.lastExit().Cause != "config" {
		t.Errorf("%d lives, last exit %+v", lives, s.lastExit())
	}
}
