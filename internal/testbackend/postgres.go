package testbackend

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Postgres returns the URL of an empty PostgreSQL database of its own.
func Postgres(t testing.TB) string {
	t.Helper()
	return postgresLike(t, "template0")
}

// PostgresTemplate is a database that others are copied from, which is faster than filling each.
type PostgresTemplate struct {
	// Fill is given an empty database, once in a process. On a server that several test binaries
	// share it is called once for each Key.
	Fill func(url string) error
	// Key tells templates with different contents apart; at most 48 lower-case letters, digits
	// and underscores.
	Key func() string

	name lazy[string]
}

// Postgres returns the URL of a PostgreSQL database of its own with what the template has.
func (p *PostgresTemplate) Postgres(t testing.TB) string {
	t.Helper()
	name, err := p.name.get(p.make)
	if err != nil {
		t.Fatalf("postgres for tests: %v", err)
	}
	return postgresLike(t, name)
}

func (p *PostgresTemplate) make() (string, error) {
	host, name, err := newPostgres("template0")
	if err != nil {
		return "", err
	}
	if host.server != nil { // it ends with this binary, and all its databases with it
		return name, p.Fill(withDatabase(host.base, name))
	}
	return p.share(host, name)
}

// share fills the template in a database of its own and renames it, so that no other binary sees
// half of one. Whoever comes second drops its own.
func (p *PostgresTemplate) share(host *postgresHost, name string) (string, error) {
	ctx, cancel := soon()
	defer cancel()
	conn, err := pgx.Connect(ctx, host.base.String())
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	const lockTemplates = 7_203_411
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", lockTemplates); err != nil { // ends with the connection
		return "", err
	}
	shared, exists := "template_"+p.Key(), false
	if err := conn.QueryRow(ctx, "SELECT count(*) > 0 FROM pg_database WHERE datname = $1", shared).Scan(&exists); err != nil {
		return "", err
	}
	if exists {
		return shared, host.drop(name)
	}
	if err := p.Fill(withDatabase(host.base, name)); err != nil {
		return "", errors.Join(err, host.drop(name))
	}
	_, err = conn.Exec(ctx, "ALTER DATABASE "+name+" RENAME TO "+shared)
	return shared, err
}

func postgresLike(t testing.TB, template string) string {
	t.Helper()
	host, name, err := newPostgres(template)
	if err != nil {
		t.Fatalf("postgres for tests: %v", err)
	}
	t.Cleanup(func() {
		if err := host.drop(name); err != nil {
			t.Logf("drop test database: %v", err)
		}
	})
	return withDatabase(host.base, name)
}

func newPostgres(template string) (host *postgresHost, name string, err error) {
	if host, err = shared.postgres.get(startPostgresHost); err != nil {
		return nil, "", err
	}
	name = databaseName()
	return host, name, host.exec("CREATE DATABASE " + name + " TEMPLATE " + template)
}

func (h *postgresHost) drop(name string) error {
	return h.exec("DROP DATABASE IF EXISTS " + name + " WITH (FORCE)")
}

type postgresHost struct {
	base   *url.URL
	server *server // nil: it is not ours
}

func (h *postgresHost) URL() string { return h.base.String() }
func (h *postgresHost) PID() int    { return h.server.cmd.Process.Pid }
func (h *postgresHost) Kill()       { h.server.kill() }
func (h *postgresHost) stop() error { h.server.kill(); return nil } // what was committed is read from its log

// PostgresServer starts a server of the test's own. URL leads to its database `postgres`, which
// is empty at first.
func PostgresServer(t testing.TB) *Server {
	t.Helper()
	var data postgresData
	port := Port(t)
	return newServer(t, "postgres", func() (running, error) {
		var err error
		if data.dir == "" {
			if data, err = newPostgresData(); err != nil {
				return nil, err
			}
		}
		return data.run(port)
	})
}

func startPostgresHost() (*postgresHost, error) {
	if address := os.Getenv("TEST_DATABASE_URL"); address != "" {
		base, err := url.Parse(address)
		if err != nil {
			return nil, fmt.Errorf("TEST_DATABASE_URL: %w", err)
		}
		return &postgresHost{base: base}, nil
	}
	data, err := newPostgresData()
	if err != nil {
		return nil, err
	}
	port, release, err := holdPort()
	if err != nil {
		return nil, err
	}
	atExit(release)
	host, err := data.run(port)
	if err == nil {
		atExit(host.Kill)
	}
	return host, err
}

// postgresData is a cluster that a server can run on.
type postgresData struct {
	bin, dir, pass string
	account        account
}

func newPostgresData() (d postgresData, err error) {
	if d.bin, err = postgresBin(); err != nil {
		return d, err
	}
	if d.account, err = unprivileged(); err != nil {
		return d, err
	}
	if d.dir, err = serverDir("postgres"); err != nil {
		return d, err
	}
	if err := d.account.own(d.dir); err != nil {
		return d, fmt.Errorf("hand over %s: %w", d.dir, err)
	}
	d.pass = rand.Text()
	passFile := filepath.Join(d.dir, "password")
	if err := os.WriteFile(passFile, []byte(d.pass), 0o600); err != nil {
		return d, err
	}
	if err := d.account.own(passFile); err != nil {
		return d, err
	}
	initdb := exec.Command(filepath.Join(d.bin, "initdb"), "--pgdata="+filepath.Join(d.dir, "data"), "--username=postgres", "--pwfile="+passFile,
		"--auth=scram-sha-256", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync", "--no-instructions")
	d.account.run(initdb, d.dir)
	if out, err := initdb.CombinedOutput(); err != nil {
		return d, fmt.Errorf("initdb: %w: %s", err, out)
	}
	return d, nil
}

// run starts the server. Its data is thrown away, so it syncs nothing.
func (d postgresData) run(port int) (*postgresHost, error) {
	log, err := os.Create(filepath.Join(d.dir, "postgres.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	args := []string{"-D", filepath.Join(d.dir, "data"), "-p", strconv.Itoa(port)}
	for _, setting := range []string{"listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off",
		"synchronous_commit=off", "full_page_writes=off", "max_connections=200", "shared_buffers=32MB", "autovacuum=off"} {
		args = append(args, "-c", setting)
	}
	cmd := exec.Command(filepath.Join(d.bin, "postgres"), args...)
	d.account.run(cmd, d.dir)
	cmd.Stdout, cmd.Stderr = log, log
	server, err := start(cmd)
	if err != nil {
		return nil, err
	}
	host := &postgresHost{server: server, base: &url.URL{Scheme: "postgres", User: url.UserPassword("postgres", d.pass),
		Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), Path: "/postgres", RawQuery: "sslmode=disable"}}
	ctx, cancel := soon()
	defer cancel()
	if err := host.awaitReady(ctx, server.done); err != nil {
		server.kill()
		text, _ := os.ReadFile(log.Name())
		return nil, fmt.Errorf("%w: %s", err, text)
	}
	return host, nil
}

func (h *postgresHost) awaitReady(ctx context.Context, ended <-chan struct{}) error {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := h.exec("SELECT 1")
		if err == nil {
			return nil
		}
		select {
		case <-ended:
			return errors.New("postgres ended before it was ready")
		case <-ctx.Done():
			return fmt.Errorf("postgres was not ready in time: %w", err)
		case <-ticker.C:
		}
	}
}

func (h *postgresHost) exec(statement string) error {
	ctx, cancel := soon()
	defer cancel()
	conn, err := pgx.Connect(ctx, h.base.String())
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, statement)
	return err
}

// postgresBin finds the folder of the server programs, which Debian keeps off PATH.
func postgresBin() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path), nil
		}
	}
	newest, newestAt := "", 0
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	for _, path := range found {
		bin := filepath.Dir(path)
		if version, err := strconv.Atoi(filepath.Base(filepath.Dir(bin))); err == nil && version > newestAt {
			newest, newestAt = bin, version
		}
	}
	if newest == "" {
		return "", fmt.Errorf("no PostgreSQL server programs (initdb, postgres) found: %s, or set TEST_DATABASE_URL", install)
	}
	return newest, nil
}
