package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	startTimeout = 60 * time.Second
	portAttempts = 5
)

var errPortTaken = errors.New("a port was taken in between")

// ClickHouse is a running engine. Its methods may be called from any goroutine.
type ClickHouse struct {
	process           *process
	dir, pass         string
	httpPort, tcpPort int
}

// StartClickHouse starts the engine and returns when both protocols answer and
// the database exists.
func StartClickHouse(ctx context.Context, o Options) (*ClickHouse, error) {
	if os.Getenv(childMark) != "" {
		return nil, errors.New("start ClickHouse: this program does not call embedded.MaybeRunChild first")
	}
	if err := o.prepare(); err != nil {
		return nil, fmt.Errorf("start ClickHouse: %w", err)
	}
	if o.LibPath == "" {
		return nil, fmt.Errorf("start ClickHouse: %w", ErrNoEngine)
	}
	if o.Self == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("start ClickHouse: find this program: %w", err)
		}
		o.Self = self
	}
	if o.MaxMemory == 0 {
		o.MaxMemory = defaultMemory
	}
	began := time.Now()
	for attempt := 1; ; attempt++ {
		c, err := startOnce(ctx, o)
		if errors.Is(err, errPortTaken) && attempt < portAttempts && (o.HTTPPort == 0 || o.TCPPort == 0) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("start ClickHouse: %w", err)
		}
		o.Log.Info("clickhouse started", "pid", c.PID(), "http_port", c.httpPort, "tcp_port", c.tcpPort,
			"took_ms", time.Since(began).Milliseconds())
		return c, nil
	}
}

func startOnce(ctx context.Context, o Options) (*ClickHouse, error) {
	pass, err := password(o.Dir)
	if err != nil {
		return nil, err
	}
	c := &ClickHouse{dir: o.Dir, pass: pass, httpPort: o.HTTPPort, tcpPort: o.TCPPort}
	for _, port := range []*int{&c.httpPort, &c.tcpPort} {
		if *port == 0 {
			if *port, err = freePort(); err != nil {
				return nil, err
			}
		}
	}
	logPath := filepath.Join(o.Dir, engineLogName)
	logStart := fileSize(logPath)
	run := child{lib: o.LibPath, dir: o.Dir, httpPort: c.httpPort, tcpPort: c.tcpPort, maxMemory: o.MaxMemory, noFsync: o.NoFsync}
	cmd := exec.Command(o.Self, run.args()...)
	cmd.Env = childEnv()
	cmd.Dir = o.Dir
	var early strings.Builder
	cmd.Stderr = &early
	cmd.WaitDelay = 2 * time.Second
	if c.process, err = startProcess(cmd, syscall.SIGTERM); err != nil {
		return nil, err
	}

	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	err = c.awaitReady(ctx, func() string { return logTail(logPath, logStart) })
	if err == nil {
		err = c.Exec(ctx, "CREATE DATABASE IF NOT EXISTS "+Database+" ENGINE = Atomic")
	}
	if err == nil {
		return c, nil
	}
	c.process.kill()
	tail := logTail(logPath, logStart)
	switch {
	case c.process.exitCode() == childLocked, strings.Contains(tail, "Cannot lock file"):
		return nil, fmt.Errorf("%w: %s (is another `probefleet up` running?)", ErrLocked, o.Dir)
	case errors.Is(err, errPortTaken):
		return nil, err
	}
	return nil, fmt.Errorf("%w: %s %s (log: %s)", err, strings.TrimSpace(early.String()), errorLines(tail), logPath)
}

// childEnv leaves out this program's settings, which hold secrets the engine
// has no use for.
func childEnv() []string {
	env := []string{childMark + "=1", "TZ=UTC"}
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "GORACE", "GOCOVERDIR"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// awaitReady asks until both listeners answer: HTTP is up before native TCP
// in some starts. An engine that cannot listen stays at its prompt, so its log
// is watched as well.
func (c *ClickHouse) awaitReady(ctx context.Context, log func() string) error {
	ticker := time.NewTicker(15 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := c.ping(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-c.process.done:
			return errors.New("the engine ended before it was ready")
		case <-ctx.Done():
			return fmt.Errorf("the engine was not ready in time: %w", errors.Join(ctx.Err(), err))
		case <-ticker.C:
			if text := log(); portTaken(text) {
				return fmt.Errorf("%w: %s", errPortTaken, errorLines(text))
			}
		}
	}
}

// portTaken does not go by the code, 210: clients that hang up while the engine starts
// get the same one.
func portTaken(log string) bool { return strings.Contains(log, "Address already in use") }

func (c *ClickHouse) ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := c.do(ctx, "/ping", ""); err != nil {
		return err
	}
	return handshake(ctx, c.address(c.tcpPort), User, c.pass)
}

// Exec runs one statement over HTTP.
func (c *ClickHouse) Exec(ctx context.Context, statement string) error {
	return c.do(ctx, "/", statement)
}

func (c *ClickHouse) do(ctx context.Context, path, body string) error {
	method := http.MethodPost
	if body == "" {
		method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://"+c.address(c.httpPort)+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Close = true // no idle connection stays behind
	req.Header.Set("X-ClickHouse-User", User)
	req.Header.Set("X-ClickHouse-Key", c.pass)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("ClickHouse answered %s: %s", resp.Status, strings.TrimSpace(string(text)))
	}
	return nil
}

func (c *ClickHouse) address(port int) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}

// URL is the native-protocol address with user, password and database.
func (c *ClickHouse) URL() string { return c.url("clickhouse", c.tcpPort, "/"+Database) }

// HTTPURL is the HTTP address with user and password.
func (c *ClickHouse) HTTPURL() string { return c.url("http", c.httpPort, "/") }

func (c *ClickHouse) url(scheme string, port int, path string) string {
	return (&url.URL{Scheme: scheme, User: url.UserPassword(User, c.pass), Host: c.address(port), Path: path}).String()
}

// HTTPPort and TCPPort let a restart keep the address that clients hold.
func (c *ClickHouse) HTTPPort() int { return c.httpPort }

// TCPPort is the port of URL.
func (c *ClickHouse) TCPPort() int { return c.tcpPort }

// PID is the engine's process id.
func (c *ClickHouse) PID() int { return c.process.pid() }

// Done is closed when the engine has ended, for whatever reason.
func (c *ClickHouse) Done() <-chan struct{} { return c.process.done }

// Wait blocks until the engine has ended and says how. A clean stop is nil.
func (c *ClickHouse) Wait() error {
	<-c.process.done
	if c.process.err == nil {
		return nil
	}
	return fmt.Errorf("ClickHouse ended: %w: %s", c.process.err, errorLines(logTail(filepath.Join(c.dir, engineLogName), 0)))
}

// Stop ends the engine cleanly; after 30 s, or when ctx ends, it is killed,
// which loses no acknowledged row.
func (c *ClickHouse) Stop(ctx context.Context) error {
	if err := c.process.stop(ctx); err != nil {
		return fmt.Errorf("stop ClickHouse: %w", err)
	}
	return nil
}

// Kill ends the engine as a crash would.
func (c *ClickHouse) Kill() { c.process.kill() }
