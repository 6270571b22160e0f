package lab

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestMain fails when a lab left a goroutine behind.
func TestMain(m *testing.M) {
	code := m.Run()
	if left := leftovers(); code == 0 && left != "" {
		_, _ = io.WriteString(os.Stderr, "goroutines left behind:\n"+left)
		code = 1
	}
	os.Exit(code)
}

// leftovers waits for the goroutines of this package and of the servers it starts
// to end, and gives the stacks of those that do not.
func leftovers() string {
	buffer := make([]byte, 16<<20)
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for end := time.Now().Add(2 * time.Minute); ; <-again.C {
		var left []string
		for i, stack := range strings.Split(string(buffer[:runtime.Stack(buffer, true)]), "\n\n") {
			if i > 0 && (strings.Contains(stack, "internal/lab.") || strings.Contains(stack, "net/http.(*conn)") || strings.Contains(stack, "miekg/dns")) && !strings.Contains(stack, "testing.") {
				left = append(left, stack)
			}
		}
		if len(left) == 0 || time.Now().After(end) {
			return strings.Join(left, "\n\n")
		}
	}
}

func start(t *testing.T) (*Lab, *http.Client) {
	t.Helper()
	l, err := Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: l.CertPool()}, DisableKeepAlives: true, DisableCompression: true}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l, &http.Client{Transport: transport, Timeout: 2 * time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// at is At for a name that must work.
func at(t *testing.T, l *Lab, name string) string {
	t.Helper()
	url, err := l.At(name)
	if err != nil {
		t.Fatal(err)
	}
	return url
}

// dial connects to a server by its name. Nothing in these tests takes half a minute.
func dial(t *testing.T, l *Lab, name string) net.Conn {
	t.Helper()
	addr, err := l.Addr(name)
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(2 * time.Minute))
	return c
}

// dialTLS is dial with a handshake.
func dialTLS(t *testing.T, l *Lab, name string, protocols ...string) *tls.Conn {
	t.Helper()
	c := tls.Client(dial(t, l, name), &tls.Config{RootCAs: l.CertPool(), ServerName: "127.0.0.1", NextProtos: protocols})
	if err := c.Handshake(); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return c
}

// ask sends text and reads to the end of the connection.
func ask(c net.Conn, text string) (string, error) {
	if _, err := io.WriteString(c, text); err != nil {
		return "", err
	}
	answer, err := io.ReadAll(c)
	return string(answer), err
}

// sentAtLeast awaits a count: bytes arrive before they are counted.
func sentAtLeast(t *testing.T, l *Lab, path string, want int64) int64 {
	t.Helper()
	await(t, l, path+" to be counted", func() bool { return l.SentTo(path) >= want })
	return l.SentTo(path)
}

// await looks again every millisecond.
func await(t *testing.T, l *Lab, what string, happened func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !happened(); {
		if !l.wait(t.Context(), time.Millisecond) || time.Now().After(end) {
			t.Fatal("waited in vain for ", what)
		}
	}
}

func get(path string) string { return "GET " + path + " HTTP/1.1\r\nHost: lab.test\r\n\r\n" }

func TestBehaviours(t *testing.T) {
	t.Parallel()
	l, client := start(t)
	cases := []struct {
		path string
		code int
		size int64
	}{
		{"/ok", 200, 3}, {"/", 200, 3}, {"/n/any/thing", 200, 3}, {"/status/503", 503, 0}, {"/status/9", 400, -1}, {"/slow/1ms", 200, 3},
		{"/drip/3/1ms", 200, 3}, {"/body/100000", 200, 100_000}, {"/headers/5000", 200, 3}, {"/redirect/3", 302, -1}, {"/redirect-to?url=http://x.invalid/", 302, 0},
		{"/nothing", 404, -1},
	}
	for _, c := range cases {
		for _, base := range []string{l.URL(), l.TLSURL()} {
			response, err := client.Get(base + c.path)
			if err != nil {
				t.Errorf("%s: %v", c.path, err)
				continue
			}
			size, err := io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
			if err != nil || response.StatusCode != c.code || c.size >= 0 && size != c.size {
				t.Errorf("%s: %d, %d bytes, %v", c.path, response.StatusCode, size, err)
			}
		}
	}
	if l.RequestsTo("/ok") != 2 || l.Requests() != 2*int64(len(cases)) || l.Connections() != l.Requests() || l.ConnectionsTo("tls") != int64(len(cases)) {
		t.Errorf("counted %d to /ok, %d in all, %d connections, %d with TLS", l.RequestsTo("/ok"), l.Requests(), l.Connections(), l.ConnectionsTo("tls"))
	}
	if sent := sentAtLeast(t, l, "/body/100000", 200_000); sent > 202_000 {
		t.Errorf("two times 100,000 bytes count as %d", sent)
	}
}

func TestFlapChanges(t *testing.T) {
	t.Parallel()
	l, client := start(t)
	seen := map[int]bool{}
	for end := time.Now().Add(2 * time.Minute); len(seen) < 2 && time.Now().Before(end); {
		response, err := client.Get(l.URL() + "/flap/20ms")
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		seen[response.StatusCode] = true
	}
	if !seen[200] || !seen[503] || len(seen) != 2 {
		t.Error(seen)
	}
}

func TestUnknownServers(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	for _, name := range []string{"", "nothing", "expires-in-", "expires-in-soon"} {
		if url, err := l.At(name); err == nil {
			t.Errorf("%q is at %s", name, url)
		}
	}
	if first, second := at(t, l, "chain"), at(t, l, "chain"); first != second {
		t.Errorf("two servers of one name: %s and %s", first, second)
	}
	if at(t, l, "plain") != l.URL() || at(t, l, "tls") != l.TLSURL() {
		t.Error("the servers from the start have other addresses by name")
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if url, err := l.At("h2"); err == nil {
		t.Errorf("a closed lab opened %s", url)
	}
}

// TestCloseEndsEverything leaves a client hanging on every server, and on every
// path that does not end by itself. It is alone, to see its goroutines.
func TestCloseEndsEverything(t *testing.T) {
	l, err := Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range Names() {
		addr, err := l.Addr(name)
		if err != nil {
			t.Fatal(err)
		}
		if name == "refused" || name == "full" {
			continue
		}
		if c, err := net.Dial("tcp", addr); err == nil { // a few hang up at once
			defer c.Close()
		} else if name != "tcp-reset" {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, path := range []string{
		"/hang", "/slow/1h", "/drip/9999/1h", "/endless/chunked", "/endless/length", "/endless/close", "/endless-chunk", "/endless-trailers", "/bomb/endless",
		"/slow-headers/9/1h", "/endless-header", "/endless-headers", "/endless-interim", "/raw/hang/SFRUUA", "/body/1000000000",
	} {
		for _, server := range []string{"plain", "tls"} {
			c := dial(t, l, server)
			if server == "tls" {
				c = dialTLS(t, l, server)
			}
			if _, err := io.WriteString(c, get(path)); err != nil {
				t.Fatal(err)
			}
		}
		await(t, l, path, func() bool { return l.RequestsTo(path) == 2 })
	}
	begin := time.Now()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	t.Logf("closed after %v", time.Since(begin))
	if left := leftovers(); left != "" {
		t.Errorf("goroutines left behind:\n%s", left)
	}
}

// BenchmarkStart is what every test that wants a target pays.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		l, err := Start("127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		_ = l.Close()
	}
}
