package testbackend

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// RedisUsers is a redis-server of the test's own that knows the users of an ACL file, and
// an administrator who looks on.
type RedisUsers struct {
	t     testing.TB
	base  *url.URL
	admin *redis.Client
}

var (
	aclHash   = regexp.MustCompile(`(?m)^(user (\S+) on #)SHA256_\S+`)
	aclRegion = regexp.MustCompile(`(?m)^.*REGION.*\n`)
)

// NewRedisUsers starts one with the users of the file, filled in as its operator does: with
// hashes, and a line for each region.
func NewRedisUsers(t testing.TB, path string, regions ...string) *RedisUsers {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	acl := aclRegion.ReplaceAllStringFunc(string(content), func(line string) (lines string) {
		for _, region := range regions {
			lines += strings.ReplaceAll(line, "REGION", region)
		}
		return lines
	}) + "user admin on #SHA256_ADMIN ~* &* +@all\n"
	acl = aclHash.ReplaceAllStringFunc(acl, func(head string) string {
		parts := aclHash.FindStringSubmatch(head)
		return parts[1] + hashOf(parts[2])
	})
	server, address, err := startRedisWithUsers(acl)
	if err != nil {
		t.Fatalf("redis for tests: %v", err)
	}
	t.Cleanup(server.kill)
	r := &RedisUsers{t: t, base: &url.URL{Scheme: "redis", Host: address, Path: "/0"}}
	options, err := redis.ParseURL(r.URL("admin"))
	if err != nil {
		t.Fatal(err)
	}
	r.admin = redis.NewClient(options)
	t.Cleanup(func() { _ = r.admin.Close() })
	return r
}

// URL is that of a user.
func (r *RedisUsers) URL(user string) string { return as(r.base, user, "/0") }

// Refused tells what was refused so far, also within scripts: to whom, and which command or key.
func (r *RedisUsers) Refused() (all []string) {
	r.t.Helper()
	entries, err := r.admin.Do(r.t.Context(), "ACL", "LOG", "128").Slice()
	if err != nil {
		r.t.Fatal(err)
	}
	for _, entry := range entries {
		all = append(all, fmt.Sprint(entry))
	}
	return all
}

func startRedisWithUsers(acl string) (*server, string, error) {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, "", fmt.Errorf("%w: %s", err, install)
	}
	dir, err := serverDir("redis")
	if err != nil {
		return nil, "", err
	}
	users, log := filepath.Join(dir, "users.acl"), filepath.Join(dir, "redis.log")
	if err := os.WriteFile(users, []byte(acl), 0o600); err != nil {
		return nil, "", err
	}
	port, release, err := holdPort()
	if err != nil {
		return nil, "", err
	}
	atExit(release)
	cmd := exec.Command(program, "--bind", "127.0.0.1", "--port", strconv.Itoa(port), "--dir", dir, "--logfile", log, "--aclfile", users, "--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction")
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	server, err := start(cmd)
	if err != nil {
		return nil, "", err
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	if err := awaitRefusal(address, server.done); err != nil {
		server.kill()
		text, _ := os.ReadFile(log)
		return nil, "", fmt.Errorf("%w: %s", err, text)
	}
	return server, address, nil
}

// awaitRefusal waits until the server refuses somebody without a name: it knows its users then.
func awaitRefusal(address string, ended <-chan struct{}) error {
	ctx, cancel := soon()
	defer cancel()
	client := redis.NewClient(&redis.Options{Addr: address, Protocol: 2, DisableIdentity: true, MaxRetries: -1})
	defer client.Close()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := client.Ping(ctx).Err()
		if err != nil && strings.HasPrefix(err.Error(), "NOAUTH") {
			return nil
		}
		select {
		case <-ended:
			return errors.New("redis-server ended before it was ready")
		case <-ctx.Done():
			return fmt.Errorf("redis-server does not ask who is there: %w", errors.Join(context.Cause(ctx), err))
		case <-ticker.C:
		}
	}
}
