package embedded

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	mathrand "math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
)

// ErrLocked means that another server already uses the data folder.
var ErrLocked = errors.New("the data folder is in use by another process")

// Options says where a server keeps its data. Dir is required and belongs to
// one server alone: give ClickHouse and Redis different folders.
type Options struct {
	Dir string       // created 0700 when absent
	Log *slog.Logger // nil discards

	// ClickHouse only.
	LibPath   string // what FetchEngine or FindEngine returned
	Self      string // program to re-execute; empty means this one
	HTTPPort  int    // 0 picks a free one
	TCPPort   int    // 0 picks a free one
	MaxMemory int64  // bytes for the whole engine; 0 means 2.5 GiB, and never more than 60 % of the machine
	NoFsync   bool   // for throwaway data: faster inserts, rows may be lost on power failure

	// Redis only.
	Port      int  // 0 picks a free one
	InProcess bool // do not look for redis-server
}

func (o *Options) prepare() error {
	if o.Dir == "" {
		return errors.New("no data folder given")
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	o.Dir = dir
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("create data folder: %w", err)
	}
	return nil
}

// password reads the password of a data folder, or makes it. Two processes
// that start at once agree on one: the first link wins.
func password(dir string) (string, error) {
	path := filepath.Join(dir, "password")
	text, err := os.ReadFile(path)
	if err == nil {
		if pass := strings.TrimSpace(string(text)); pass != "" {
			return pass, nil
		}
		return "", fmt.Errorf("%s is empty: delete it to get a new password", path)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read password: %w", err)
	}
	temp, err := os.CreateTemp(dir, ".password-*") // mode 0600
	if err != nil {
		return "", fmt.Errorf("create password: %w", err)
	}
	defer os.Remove(temp.Name())
	_, err = temp.WriteString(rand.Text() + "\n")
	if err = errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return "", fmt.Errorf("write password: %w", err)
	}
	if err := os.Link(temp.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("keep password: %w", err)
	}
	return password(dir)
}

// freePort finds a port nobody listens on, below those that systems give to outgoing
// connections and to listeners that ask for any: a server keeps its port for life, also
// while it is being started again. Somebody may take it before the server does, so
// callers retry.
func freePort() (int, error) {
	const first, last, attempts = 20_000, 30_000, 100
	var err error
	for range attempts {
		var l net.Listener
		port := first + mathrand.IntN(last-first)
		if l, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			_ = l.Close()
			return port, nil
		}
	}
	return 0, fmt.Errorf("find a free port between %d and %d: %w", first, last, err)
}
