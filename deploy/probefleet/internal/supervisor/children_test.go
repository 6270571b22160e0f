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
	"strconv"
	"strings"
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
	starts, err := os.OpenFile(os.Getenv("STARTS"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = starts.WriteString(strconv.FormatInt(time.Now().UnixNano(), 10) + "\n")
	}
	if err != nil {
		return 99
	}
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	switch kind {
	case "answers", "answers 1s, then is killed":
		server := http.Server{Handler: http.NotFoundHandler()} // any answer counts
		listener, err := net.Listen("tcp", os.Getenv("LISTEN"))
		if err != nil {
			return 75
		}
		go func() { _ = server.Serve(listener) }()
		if kind != "answers" {
			<-time.After(time.Second)
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	case "fails":
		return 1
	case "fails unheard after 5.5s":
		<-time.After(5500 * time.Millisecond)
		return 1
	case "refuses":
		return service.ExitConfig
	}
	<-end
	return 0
}

type supervised struct {
	*Supervisor
	t      *testing.T
	starts string
	run    string
}

func supervise(t *testing.T, kind string, health bool) *supervised {
	t.Helper()
	dir := t.TempDir()
	s := &supervised{t: t, starts: filepath.Join(dir, "starts"), run: filepath.Join(dir, "run")}
	s.Supervisor = New(Options{LogDir: dir, RunDir: s.run, Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(s.Stop)
	address := fmt.Sprint("127.0.0.1:", testbackend.Port(t))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := Program{Name: "child", Path: self, Grace: time.Second, Env: append(os.Environ(), "SUPERVISED_CHILD="+kind, "STARTS="+s.starts, "LISTEN="+address)}
	if health {
		p.Health = "http://" + address + "/healthz"
	}
	if err := s.Start(p); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *supervised) lives() []time.Time {
	content, _ := os.ReadFile(s.starts)
	var times []time.Time
	for line := range strings.Lines(string(content)) {
		if ns, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64); err == nil {
			times = append(times, time.Unix(0, ns))
		}
	}
	return times
}

func (s *supervised) lastExit() service.LastExit {
	s.t.Helper()
	last, err := service.ReadLastExit(filepath.Join(s.run, "child.exit"))
	if err != nil || last == nil {
		s.t.Fatalf("last exit: %v %v", last, err)
	}
	return *last
}

func answers(t *testing.T, url string) bool {
	ctx, cancel := context.WithTimeout(t.Context(), askPatience)
	defer cancel()
	return asker(url)(ctx)
}

// A stopped process is what a wedged one looks like from outside.
func TestStoppedChildIsKilledAndStartedAgain(t *testing.T) {
	t.Parallel()
	s := supervise(t, "answers", true)
	health := s.programs[0].Health
	await(t, "it answers", func() bool { return answers(t, health) })
	pid := s.States()[0].PID
	select { // asked at least once more, by the supervisor
	case <-time.After(askEvery):
	case <-t.Context().Done():
	}
	stopped := time.Now()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	// That it takes 20 seconds at most is shown where time is virtual: see watch_test.go.
	awaitFor(t, time.Minute, "it is killed", func() bool { return s.States()[0].PID != pid })
	if took := time.Since(stopped); took < silentAfter-askEvery-time.Second {
		t.Errorf("killed %v after it stopped", took)
	}
	await(t, "the next life answers", func() bool { return answers(t, health) })
	if again := s.lives(); len(again) != 2 {
		t.Errorf("%d lives", len(again))
	}
	if last := s.lastExit(); last.Cause != "unresponsive" || last.Signal != "KILL" || last.AfterS < 15 {
		t.Errorf("last exit: %+v", last)
	}
}

func TestChildThatStartsSlowlyIsLeftAlone(t *testing.T) {
	t.Parallel()
	s := supervise(t, "is silent", true)
	await(t, "it runs", func() bool { return len(s.lives()) == 1 })
	select { // longer than a silent one may live
	case <-time.After(silentAfter + askEvery + askPatience):
	case <-t.Context().Done():
	}
	if lives := s.lives(); len(lives) != 1 || s.States()[0].PID == 0 {
		t.Errorf("%d lives: %+v", len(lives), s.States()[0])
	}
}

func TestChildKilledWhileYoungIsBack(t *testing.T) {
	t.Parallel()
	s := supervise(t, "answers 1s, then is killed", true)
	await(t, "five lives", func() bool { return len(s.lives()) >= 5 })
	if last := s.lastExit(); last.Cause != "signal" || last.Signal != "KILL" || last.Code != -1 {
		t.Errorf("last exit: %+v", last)
	}
}

func TestChildThatFailsAtStartIsHeldBack(t *testing.T) {
	t.Parallel()
	s := supervise(t, "fails", true)
	await(t, "five lives", func() bool { return len(s.lives()) >= 5 })
	lives := s.lives()
	for i, least := range []time.Duration{250, 500, 1000, 2000} {
		if gap := lives[i+1].Sub(lives[i]); gap < least*time.Millisecond {
			t.Errorf("start %d came only %v after the one before", i+1, gap)
		}
	}
	if last := s.lastExit(); last.Cause != "failure" || last.Code != 1 {
		t.Errorf("last exit: %+v", last)
	}
}

// Having run for long is not having been well.
func TestChildThatNeverAnsweredIsHeldBack(t *testing.T) {
	t.Parallel()
	s := supervise(t, "fails unheard after 5.5s", true)
	awaitFor(t, time.Minute, "three lives", func() bool { return len(s.lives()) >= 3 })
	if lives := s.lives(); lives[2].Sub(lives[1]) < 6*time.Second {
		t.Errorf("start came %v after the one before", lives[2].Sub(lives[1]))
	}
}

func TestChildThatRefusesItsConfigurationIsGivenUp(t *testing.T) {
	t.Parallel()
	s := supervise(t, "refuses", true)
	await(t, "given up", func() bool { return s.States()[0].GivenUp })
	if lives := s.lives(); len(lives) != 1 || s.lastExit().Cause != "config" {
		t.Errorf("%d lives, last exit %+v", len(lives), s.lastExit())
	}
}
