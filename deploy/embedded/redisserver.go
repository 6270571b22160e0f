package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	redisLogName   = "redis.log"
	redisLogMax    = 8 << 20
	oldestRedis    = 7
	redisDatabases = 16
)

func findRedis() string {
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

func startServer(ctx context.Context, program string, o Options) (*Redis, error) {
	// Redis itself does not notice a second server on the same files. The
	// child inherits the locked file and so holds the lock while it lives.
	lock, err := lockFile(filepath.Join(o.Dir, "redis.lock"))
	if errors.Is(err, ErrLocked) {
		return nil, fmt.Errorf("%w: %s (is another `probefleet up` running?)", ErrLocked, o.Dir)
	}
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	pass, err := password(o.Dir)
	if err != nil {
		return nil, err
	}
	r := &Redis{port: o.Port, pass: pass}
	if r.port == 0 {
		if r.port, err = freePort(); err != nil {
			return nil, err
		}
	}
	logPath := filepath.Join(o.Dir, redisLogName)
	if fileSize(logPath) > redisLogMax {
		_ = os.Rename(logPath, logPath+".1")
	}
	logStart := fileSize(logPath)
	config := filepath.Join(o.Dir, "redis.conf")
	if err := os.WriteFile(config, []byte(redisConfig(o, r, logPath)), 0o600); err != nil {
		return nil, fmt.Errorf("write configuration: %w", err)
	}
	cmd := exec.Command(program, config)
	cmd.Dir = o.Dir
	cmd.ExtraFiles = []*os.File{lock}
	if r.server, err = startProcess(cmd, syscall.SIGTERM); err != nil {
		return nil, err
	}
	if err := r.awaitReady(ctx); err != nil {
		r.server.kill()
		tail := logTail(logPath, logStart)
		if strings.Contains(tail, "Address already in use") {
			return nil, fmt.Errorf("%w: port %d", errPortTaken, r.port)
		}
		return nil, fmt.Errorf("%w: %s (log: %s)", err, lastLines(tail, 3), logPath)
	}
	return r, nil
}

// redisConfig keeps what a work queue needs: nothing is evicted, everything is
// appended to a log, and the password is in this file only.
func redisConfig(o Options, r *Redis, logPath string) string {
	lines := [][2]string{
		{"bind", "127.0.0.1"},
		{"protected-mode", "yes"},
		{"port", strconv.Itoa(r.port)},
		{"requirepass", r.pass},
		{"databases", strconv.Itoa(redisDatabases)},
		{"dir", strconv.Quote(o.Dir)},
		{"logfile", strconv.Quote(logPath)},
		{"loglevel", "notice"},
		{"daemonize", "no"},
		{"pidfile", `""`},
		{"save", `""`},
		{"appendonly", "yes"},
		{"appendfsync", "everysec"},
		{"aof-use-rdb-preamble", "yes"},
		{"maxmemory-policy", "noeviction"},
		{"tcp-backlog", "128"},
	}
	var text strings.Builder
	for _, line := range lines {
		text.WriteString(line[0] + " " + line[1] + "\n")
	}
	return text.String()
}

// awaitReady asks until the server has loaded its data and is new enough.
func (r *Redis) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	client := redis.NewClient(&redis.Options{Addr: r.address(), Password: r.pass, MaxRetries: -1, PoolSize: 1})
	defer client.Close()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := client.Ping(ctx).Err()
		if err == nil {
			return r.readVersion(ctx, client)
		}
		select {
		case <-r.server.done:
			return errors.New("redis-server ended before it was ready")
		case <-ctx.Done():
			return fmt.Errorf("redis-server was not ready in time: %w", errors.Join(ctx.Err(), err))
		case <-ticker.C:
		}
	}
}

func (r *Redis) readVersion(ctx context.Context, client *redis.Client) error {
	info, err := client.InfoMap(ctx, "server").Result()
	if err != nil {
		return fmt.Errorf("read server version: %w", err)
	}
	server := info["Server"]
	r.version = server["redis_version"] // Valkey reports 7.2.4 here, the version it is compatible with
	major, _, _ := strings.Cut(r.version, ".")
	if n, err := strconv.Atoi(major); err != nil || n < oldestRedis {
		return fmt.Errorf("redis-server is version %s, and %d.0 or later is needed: install a newer one or set REDIS_URL", r.version, oldestRedis)
	}
	return nil
}
