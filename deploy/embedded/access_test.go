package embedded_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/probefleet/probefleet/deploy/embedded"
)

func TestOnlyTheGeneratedUserGetsIn(t *testing.T) {
	t.Parallel()
	c := startClickHouse(t, embedded.Options{})
	for name, test := range map[string]struct {
		user *url.Userinfo
		code int32
	}{
		"default user":       {url.UserPassword("default", ""), 700}, // its only session is taken
		"default, guessed":   {url.UserPassword("default", "x"), 516},
		"bad password":       {url.UserPassword(embedded.User, "guess"), 516},
		"no password":        {url.User(embedded.User), 516},
		"unknown user":       {url.UserPassword("admin", "admin"), 516},
		"empty, as a client": {url.UserPassword("", ""), 700},
	} {
		for _, address := range []string{c.URL(), c.HTTPURL()} {
			conn := connect(t, replaceUser(t, address, test.user))
			var refused *clickhouse.Exception
			err := conn.Exec(t.Context(), "SELECT 1")
			switch {
			case err == nil:
				t.Errorf("%s got in through %s", name, address)
			case strings.HasPrefix(address, "clickhouse:") && (!errors.As(err, &refused) || refused.Code != test.code):
				t.Errorf("%s: %v, want code %d", name, err, test.code)
			}
		}
	}
}

func TestUserCannotLeaveTheDatabase(t *testing.T) {
	t.Parallel()
	conn := connect(t, startClickHouse(t, embedded.Options{}).URL())
	for _, statement := range []string{
		"SELECT * FROM file('/etc/passwd', 'LineAsString')",
		"SELECT * FROM url('http://127.0.0.1:1/', 'LineAsString')",
		"SELECT * FROM remote('127.0.0.1:9000', system.one)",
		"CREATE TABLE leak (s String) ENGINE = File(LineAsString, '/etc/passwd')",
		"CREATE TABLE leak (s String) ENGINE = URL('http://127.0.0.1:1/', LineAsString)",
		"CREATE DICTIONARY leak (a UInt64) PRIMARY KEY a SOURCE(FILE(PATH '/etc/passwd' FORMAT 'CSV')) LIFETIME(0) LAYOUT(FLAT())",
		"CREATE DATABASE leak ENGINE = Filesystem('/etc')",
		"CREATE USER other IDENTIFIED BY 'x'",
		"SYSTEM SHUTDOWN",
		"SYSTEM STOP LISTEN HTTP",
	} {
		var refused *clickhouse.Exception
		if err := conn.Exec(t.Context(), statement); !errors.As(err, &refused) || refused.Code != 497 {
			t.Errorf("%s: %v, want code 497", statement, err)
		}
	}
	execute(t, conn, "SELECT 1")
}

func TestSecretsAreOursAlone(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	c := startClickHouse(t, embedded.Options{Dir: dir})
	u, err := url.Parse(c.URL())
	if err != nil {
		t.Fatal(err)
	}
	pass, _ := u.User.Password()
	if len(pass) < 20 {
		t.Errorf("password of %d characters", len(pass))
	}
	for name, want := range map[string]os.FileMode{"": 0o700, "password": 0o600, "users.xml": 0o600, "clickhouse.log": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%q has mode %o, want %o", name, got, want)
		}
	}
	for _, name := range []string{"cmdline", "environ"} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", c.PID(), name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), pass) {
			t.Errorf("the password is in /proc/pid/%s", name)
		}
	}
}

// Clients that send garbage or reset at any point must not end the engine:
// with another standard input, or with SIGPIPE at its default, they do.
func TestEngineSurvivesAbusiveConnections(t *testing.T) {
	t.Parallel()
	c := startClickHouse(t, embedded.Options{})
	u, err := url.Parse(c.HTTPURL())
	if err != nil {
		t.Fatal(err)
	}
	pass, _ := u.User.Password()
	hello := "\x00\x01x\x01\x00\xd0\xa9\x03\x06absent" + string(rune(len(embedded.User))) + embedded.User + string(rune(len(pass))) + pass
	query := "GET /?user=" + embedded.User + "&password=" + pass + "&query=SELECT+repeat('x',1000)+FROM+numbers(100000) HTTP/1.1\r\nHost: x\r\n\r\n"
	openings := []struct {
		port int
		text string
	}{
		{c.TCPPort(), ""}, {c.TCPPort(), hello}, {c.TCPPort(), hello[:9]}, {c.TCPPort(), "GET / HTTP/1.1\r\n\r\n"},
		{c.TCPPort(), "\x00\xff\xff\xff\xff\xff\xff\xff\xff\x7f"}, {c.TCPPort(), strings.Repeat("\xff", 4096)},
		{c.HTTPPort(), ""}, {c.HTTPPort(), query}, {c.HTTPPort(), query[:40]}, {c.HTTPPort(), "\x16\x03\x01\x02\x00\x01"},
		{c.HTTPPort(), "POST /?query=INSERT+INTO+x+VALUES HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n"},
		{c.HTTPPort(), "GET /" + strings.Repeat("a", 100_000)},
	}
	const rounds, parallel = 30, 8
	jobs := make(chan int)
	var wait sync.WaitGroup
	for range parallel {
		wait.Go(func() {
			for n := range jobs {
				opening := openings[n%len(openings)]
				abuse(fmt.Sprintf("127.0.0.1:%d", opening.port), opening.text, n)
			}
		})
	}
	for n := range rounds * len(openings) {
		jobs <- n
	}
	close(jobs)
	wait.Wait()
	select {
	case <-c.Done():
		t.Fatalf("the engine died: %v", c.Wait())
	default:
	}
	if got := one[uint8](t, connect(t, c.URL()), "SELECT 1"); got != 1 {
		t.Fatalf("got %d", got)
	}
}

// abuse sends text and resets, after nothing, a part, or some of the answer.
func abuse(address, text string, n int) {
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return
	}
	defer conn.Close()
	_ = conn.(*net.TCPConn).SetLinger(0)
	_ = conn.SetDeadline(time.Now().Add(100 * time.Millisecond))
	_, _ = io.WriteString(conn, text)
	if n%3 > 0 {
		_, _ = io.ReadFull(conn, make([]byte, 1+rand.IntN(5000*(n%3))))
	}
}
