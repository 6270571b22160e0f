package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/probefleet/probefleet/deploy/probefleet/internal/supervisor"
	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/schedulestore"
)

// installation is the data folder of one machine's Probefleet.
type installation struct {
	dir       string // absolute
	env       environment
	secretKey string
	binDir    string
	lock      *os.File
	logFile   *os.File
}

// openInstallation makes the folder, takes its lock and reads or makes the secret key.
func openInstallation(dir string) (*installation, error) {
	env, err := readEnvironment()
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, "logs"), 0o700); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	in := &installation{dir: dir, env: env, binDir: filepath.Dir(self)}
	if in.lock, err = os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil, err
	}
	if err := unix.Flock(int(in.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, fmt.Errorf("another 'probefleet up' uses %s: stop it, or choose another folder with --dir", dir)
	}
	if in.logFile, err = os.OpenFile(filepath.Join(dir, "logs", "up.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return nil, err
	}
	if in.secretKey = env.SecretKey.Reveal(); in.secretKey == "" {
		in.secretKey, err = keptSecret(filepath.Join(dir, "secret_key"))
	}
	return in, err
}

func (in *installation) close() {
	_ = os.Remove(filepath.Join(in.dir, "run.json"))
	_ = in.logFile.Close()
	_ = in.lock.Close()
}

func (in *installation) logger() *slog.Logger { return newFileLogger(in.logFile) }

// supervised says where programs of this installation leave their traces.
func (in *installation) supervised(changed func()) supervisor.Options {
	return supervisor.Options{LogDir: filepath.Join(in.dir, "logs"), RunDir: filepath.Join(in.dir, "run"), Log: in.logger(), Changed: changed}
}

func (in *installation) binary(name string) string { return filepath.Join(in.binDir, name) }

func (in *installation) setupLinkPath() string { return filepath.Join(in.dir, "setup_link") }

// setupLink is the one-time link, empty once an owner exists.
func (in *installation) setupLink() string {
	content, err := os.ReadFile(in.setupLinkPath())
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(content))
}

// changeRegions makes the named regions known before their probers start, so that the
// first target may name one, and ends those an earlier life ran here and this one does
// not. Regions of other machines are none of its business.
func (in *installation) changeRegions(ctx context.Context, databaseURL string, regions []string) error {
	path := filepath.Join(in.dir, "regions.json")
	var before []string
	content, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(content, &before)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	db, err := database.Open(ctx, databaseURL)
	if err != nil {
		return err
	}
	defer db.Close()
	known := schedulestore.New(db)
	for _, region := range regions {
		if _, err := known.AddRegion(ctx, region); err != nil {
			return err
		}
	}
	for _, region := range before {
		if slices.Contains(regions, region) {
			continue
		}
		if _, err := known.RetireRegion(ctx, region); err != nil {
			return err
		}
	}
	content, err = json.Marshal(regions)
	if err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o600)
}

// keptSecret reads a secret of 32 random bytes, making it first when absent.
func keptSecret(path string) (string, error) {
	content, err := os.ReadFile(path)
	if err == nil {
		return strings.TrimSpace(string(content)), nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	random := make([]byte, 32)
	_, _ = rand.Read(random) // never fails
	secret := hex.EncodeToString(random)
	return secret, os.WriteFile(path, []byte(secret+"\n"), 0o600)
}

// withoutStoreVariables drops what every program gets explicitly, or must not get.
func withoutStoreVariables(env []string) []string {
	drop := []string{"DATABASE_URL", "REDIS_URL", "CLICKHOUSE_URL", "SECRET_KEY", "SECRET_KEY_OTHER", "PORT", "OPS_ADDR", "REGION", "PROBER_NAME", "PROBER_ALLOW_CIDRS", "PROBER_CANARIES", "PROBER_SPOOL_DIR", "PROBER_SPOOL_VOLATILE", "PUBLISHER_SPOOL_DIR", "PUBLISHER_SPOOL_VOLATILE", "API_SPOOL_DIR", "API_SPOOL_VOLATILE", "API_BIND", "API_PUBLIC_URL", "BOOTSTRAP_API_KEY", "NOTIFY_SOCKET", "WATCHDOG_USEC"}
	return slices.DeleteFunc(slices.Clone(env), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return slices.Contains(drop, strings.TrimSuffix(name, "_FILE"))
	})
}

func portFree(bind string, port int) error {
	listener, err := net.Listen("tcp", net.JoinHostPort(bind, strconv.Itoa(port)))
	if err == nil {
		err = listener.Close()
	}
	return err
}

// Ports of the ops servers are below those that the kernel gives to outgoing
// connections: a program must find its own free in every life.
const (
	firstFreePort = 20_000
	freePorts     = 10_000
)

func freeAddress() (string, error) {
	var listener net.Listener
	var err error
	for range 100 {
		if listener, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", firstFreePort+mathrand.IntN(freePorts))); err == nil {
			defer listener.Close()
			return listener.Addr().String(), nil
		}
	}
	return "", fmt.Errorf("no free port from %d to %d: %w", firstFreePort, firstFreePort+freePorts-1, err)
}

func hostForPeople(bind string) string {
	if ip := net.ParseIP(bind); bind == "" || ip.IsUnspecified() || ip.IsLoopback() {
		return "localhost"
	}
	return bind
}

func httpOK(ctx context.Context, url string) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusOK
}
