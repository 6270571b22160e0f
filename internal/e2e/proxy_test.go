//go:build !load && !faults && !browser && !bench

package e2e

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"math/big"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/testfleet"
)

// behindProxies has a person come through each of the proxies whose settings are shipped: set up by the one-time
// link over TLS, or sign in where another did that; see a change live, leave no secret in the access log.
func behindProxies(t *testing.T, s *system) {
	isSetUp := false
	for _, front := range []struct {
		name  string
		start func(*testing.T, *system) proxy
	}{{"caddy", caddy}, {"nginx", nginx}} {
		t.Run(front.name, func(t *testing.T) {
			p := front.start(t, s.at(t))
			jar, err := cookiejar.New(nil)
			if err != nil {
				t.Fatal(err)
			}
			client := &http.Client{Jar: jar, Transport: &http.Transport{TLSClientConfig: p.trust, ForceAttemptHTTP2: true, DisableCompression: true}}
			ask := func(method, path, body string, header ...string) (*http.Response, string) {
				t.Helper()
				request, err := http.NewRequestWithContext(t.Context(), method, p.url+path, strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				request.Header.Set("Content-Type", "application/json")
				request.Header.Set("Origin", p.url)
				for i := 0; i < len(header); i += 2 {
					request.Header.Set(header[i], header[i+1])
				}
				response, err := client.Do(request)
				if err != nil {
					t.Fatal(err)
				}
				defer response.Body.Close()
				text, err := io.ReadAll(response.Body)
				if err != nil {
					t.Fatal(err)
				}
				return response, string(text)
			}

			token := regexp.MustCompile(`/setup\?token=(\S+)`).FindStringSubmatch(s.output.String())[1]
			if response, _ := ask("GET", "/setup?token="+token, ""); response.StatusCode != http.StatusOK || response.Header.Get("Strict-Transport-Security") == "" || response.Header.Get("Content-Security-Policy") == "" {
				t.Errorf("the set-up page: %s %v", response.Status, response.Header)
			}
			response, text := ask("POST", "/api/v1/setup", fmt.Sprintf(`{"token":%q,"email":"o@example.com","name":"Owner","password":"correct horse battery"}`, token))
			if isSetUp {
				if response.StatusCode/100 != 4 {
					t.Errorf("set up twice: %s %s", response.Status, text)
				}
				response, text = ask("POST", "/api/v1/session", `{"email":"o@example.com","password":"correct horse battery"}`)
			}
			if response.StatusCode/100 != 2 || !strings.HasPrefix(response.Header.Get("Set-Cookie"), "__Host-") || !strings.Contains(response.Header.Get("Set-Cookie"), "Secure") {
				t.Fatalf("set-up: %s %q %s", response.Status, response.Header.Get("Set-Cookie"), text)
			}
			isSetUp = true
			if response, _ := ask("GET", "/api/openapi.json", "", "Accept-Encoding", "gzip"); response.Header.Get("Content-Encoding") != "gzip" || !strings.HasPrefix(response.Proto, "HTTP/2") {
				t.Errorf("compression: %s %v", response.Proto, response.Header)
			}
			if response, text := ask("POST", "/api/v1/targets", `{"name":"x","url":"https://example.com/"}`, "Origin", "https://evil.example"); response.StatusCode != http.StatusForbidden {
				t.Errorf("a foreign page may write: %s %s", response.Status, text)
			}

			conn := p.socket(t, jar, p.url)
			if response, text := ask("POST", "/api/v1/targets", fmt.Sprintf(`{"name":"seen live by %s","url":"https://example.com/","active":false}`, front.name)); response.StatusCode != http.StatusCreated {
				t.Fatalf("a target: %s %s", response.Status, text)
			}
			limited, cancel := context.WithTimeout(t.Context(), hang)
			defer cancel()
			for seen := false; !seen; {
				_, message, err := conn.Read(limited)
				if err != nil {
					t.Fatal(err)
				}
				seen = bytes.Contains(message, []byte(`"seen live by `+front.name))
			}
			if _, response, err := websocket.Dial(t.Context(), p.url+"/api/v1/live", p.dial(jar, "https://evil.example")); err == nil || response == nil || response.StatusCode != http.StatusForbidden {
				t.Errorf("a foreign page opens a socket: %v", err)
			}
			if response, text := ask("POST", "/api/v1/status-pages", `{"slug":"`+front.name+`","title":"Acme","published":true,"groups":[{"components":[{"name":"Site","rule":"manual","state":"up"}]}]}`); response.StatusCode != http.StatusCreated {
				t.Fatalf("a page: %s %s", response.Status, text)
			}
			streams, endStreams := context.WithCancel(t.Context())
			defer endStreams()
			dashboard, public := p.events(streams, t, jar, "/api/v1/live/events?ch=targets"), p.events(streams, t, jar, "/s/"+front.name+"/events")
			if response, text := ask("POST", "/api/v1/targets", fmt.Sprintf(`{"name":"streamed by %s","url":"https://example.com/streamed","active":false}`, front.name)); response.StatusCode != http.StatusCreated {
				t.Fatalf("another target: %s %s", response.Status, text)
			}
			dashboard(`"streamed by ` + front.name)
			public(`"ch":"page:` + front.name)

			known := map[string]string{}
			for what, path := range map[string]string{ // of nobody: the path is logged all the same
				"the token of a heartbeat":    "/api/v1/heartbeats/%s",
				"the token of a confirmation": "/s/-/confirm/%s?lang=en",
				"what ends a subscription":    "/s/-/unsubscribe/12.%s?lang=en",
				"the token of an invitation":  "/invite?lang=en&token=%s",
				"the code of single sign-on":  "/api/v1/session/provider/callback?state=aside&code=%s",
				"the state of single sign-on": "/api/v1/session/provider/callback?code=aside&state=%s",
			} {
				known[what] = rand.Text()
				path = fmt.Sprintf(path, known[what])
				_, _ = ask("GET", path, "", "Referer", p.url+path)
				_, _ = ask("POST", path, "", "Referer", p.url+path)
				plain, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.plain+path, nil)
				if err != nil {
					t.Fatal(err)
				}
				response, err := http.DefaultTransport.RoundTrip(plain)
				if err != nil {
					t.Fatal(err)
				}
				_ = response.Body.Close()
				if to := response.Header.Get("Location"); response.StatusCode/100 != 3 || !strings.HasPrefix(to, "https://") {
					t.Errorf("without TLS: %s to %q", response.Status, to)
				}
			}
			endStreams() // a proxy that ends waits for what is open
			_ = conn.CloseNow()
			client.CloseIdleConnections()
			p.stop()
			log, err := os.ReadFile(p.log)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(log)) {
				if !json.Valid([]byte(line)) {
					t.Errorf("not JSON: %s", line)
				}
			}
			secrets := cookiesOf(t, jar, p.url)
			if len(secrets) != 2 || secrets["__Host-pf_session"] == "" || secrets["__Host-pf_known"] == "" {
				t.Fatalf("cookies: %v", secrets)
			}
			secrets["the token of the set-up"] = token
			maps.Copy(secrets, known)
			for what, secret := range secrets {
				if strings.Contains(string(log), secret) {
					t.Errorf("the access log has %s:\n%s", what, log)
				}
			}
			for _, asked := range []string{"/api/v1/setup", "/s/-/confirm/REDACTED", "/s/-/unsubscribe/REDACTED", "/api/v1/session/provider/callback?REDACTED"} {
				if !strings.Contains(string(log), asked) {
					t.Errorf("the access log lacks %s:\n%s", asked, log)
				}
			}
		})
	}
}

// proxy is one in front of an installation.
type proxy struct {
	url   string
	plain string // where it sends those on who come without TLS
	log   string
	trust *tls.Config
	stop  func()
}

func (p proxy) dial(jar http.CookieJar, origin string) *websocket.DialOptions {
	return &websocket.DialOptions{Subprotocols: []string{"probefleet.v1.json"}, HTTPHeader: http.Header{"Origin": {origin}},
		HTTPClient: &http.Client{Jar: jar, Transport: &http.Transport{TLSClientConfig: p.trust}}}
}

// socket opens one as a page does, and subscribes.
func (p proxy) socket(t *testing.T, jar http.CookieJar, origin string) *websocket.Conn {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), p.url+"/api/v1/live", p.dial(jar, origin))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	if err := conn.Write(t.Context(), websocket.MessageText, []byte(`{"t":"sub","id":"1","ch":"targets"}`)); err != nil {
		t.Fatal(err)
	}
	for {
		_, message, err := conn.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(message, []byte(`"t":"ok"`)) {
			return conn
		}
	}
}

// events reads an event stream as a page does whose websockets fail; the function it gives waits
// for an event that has a text in it.
func (p proxy) events(ctx context.Context, t *testing.T, jar http.CookieJar, path string) func(want string) {
	t.Helper()
	limited, cancel := context.WithTimeout(ctx, hang)
	t.Cleanup(cancel)
	request, err := http.NewRequestWithContext(limited, http.MethodGet, p.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "text/event-stream")
	request.Header.Set("Accept-Encoding", "gzip") // a browser takes it, and what is compressed may be held back
	response, err := (&http.Client{Jar: jar, Transport: &http.Transport{TLSClientConfig: p.trust, ForceAttemptHTTP2: true}}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	if got := response.Header.Get("Content-Type"); got != "text/event-stream" || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %q", path, response.Status, got)
	}
	var body io.Reader = response.Body
	if response.Header.Get("Content-Encoding") == "gzip" {
		if body, err = gzip.NewReader(body); err != nil {
			t.Fatal(err)
		}
	}
	lines := bufio.NewScanner(body)
	return func(want string) {
		t.Helper()
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), "data: ") && strings.Contains(lines.Text(), want) {
				return
			}
		}
		t.Fatalf("%s: no %s: %v", path, want, lines.Err())
	}
}

// deployed is the folder of what people deploy with.
func deployed(t *testing.T) string {
	t.Helper()
	root, err := testfleet.Root()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(root, "deploy")
}

func cookiesOf(t *testing.T, jar http.CookieJar, url string) map[string]string {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	cookies := map[string]string{}
	for _, c := range jar.Cookies(request.URL) {
		cookies[c.Name] = c.Value
	}
	return cookies
}

// caddy runs the shipped settings with names and places of this test, through the variables
// they have for that. Its certificate is of its own authority, since the name is localhost.
func caddy(t *testing.T, s *system) proxy {
	t.Helper()
	dir := t.TempDir()
	port, plain := testbackend.Port(t), testbackend.Port(t)
	shipped := filepath.Join(deployed(t), "caddy", "Caddyfile")
	settings := filepath.Join(dir, "Caddyfile")
	global := fmt.Sprintf("{\n\tadmin off\n\tskip_install_trust\n\thttp_port %d\n}\nimport %s\n", plain, shipped)
	if err := os.WriteFile(settings, []byte(global), 0o600); err != nil {
		t.Fatal(err)
	}
	p := proxy{url: fmt.Sprintf("https://localhost:%d", port), plain: fmt.Sprintf("http://localhost:%d", plain), log: filepath.Join(dir, "access.log")}
	cmd := exec.Command("caddy", "run", "--config", settings, "--adapter", "caddyfile")
	cmd.Env = append(os.Environ(), "PROBEFLEET_SITE="+p.url, fmt.Sprintf("PROBEFLEET_UPSTREAM=127.0.0.1:%d", s.port), "PROBEFLEET_ACCESS_LOG="+p.log,
		"XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir, "HOME="+dir)
	root := filepath.Join(dir, "caddy", "pki", "authorities", "local", "root.crt")
	p.stop, p.trust = run(t, s, cmd, port, root)
	return p
}

// nginx runs the shipped settings with their names and places replaced by those of this test.
func nginx(t *testing.T, s *system) proxy {
	t.Helper()
	dir := t.TempDir()
	port, plain := testbackend.Port(t), testbackend.Port(t)
	content, err := os.ReadFile(filepath.Join(deployed(t), "nginx", "probefleet.conf"))
	if err != nil {
		t.Fatal(err)
	}
	p := proxy{url: fmt.Sprintf("https://localhost:%d", port), plain: fmt.Sprintf("http://localhost:%d", plain), log: filepath.Join(dir, "access.log")}
	certificate, key := selfSigned(t, dir)
	settings := string(content)
	for shipped, here := range map[string]string{
		"server 127.0.0.1:8080;": fmt.Sprintf("server 127.0.0.1:%d;", s.port), "listen 80;": fmt.Sprintf("listen 127.0.0.1:%d;", plain), "listen 443 ssl": fmt.Sprintf("listen 127.0.0.1:%d ssl", port),
		"server_name probefleet.example.com;": "server_name localhost;", "/var/log/nginx/probefleet.log": p.log,
		"/etc/letsencrypt/live/probefleet.example.com/fullchain.pem": certificate, "/etc/letsencrypt/live/probefleet.example.com/privkey.pem": key,
	} {
		if !strings.Contains(settings, shipped) {
			t.Fatalf("the shipped settings have no %q", shipped)
		}
		settings = strings.ReplaceAll(settings, shipped, here)
	}
	temp := ""
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		temp += fmt.Sprintf("\t%s_temp_path %s;\n", kind, filepath.Join(dir, kind))
	}
	whole := fmt.Sprintf("daemon off;\nmaster_process off;\npid %s;\nerror_log stderr;\nevents {}\nhttp {\n\tinclude /etc/nginx/mime.types;\n%s%s}\n", filepath.Join(dir, "nginx.pid"), temp, settings)
	path := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(path, []byte(whole), 0o600); err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("nginx")
	if err != nil {
		program = "/usr/sbin/nginx" // Debian's place, which not everybody's PATH has
	}
	p.stop, p.trust = run(t, s, exec.Command(program, "-c", path, "-p", dir), port, certificate)
	return p
}

// run starts a proxy and waits until it speaks TLS, by the certificate in a file or one that it
// signed; stop ends it as an operator does.
func run(t *testing.T, s *system, cmd *exec.Cmd, port int, certificate string) (stop func(), trust *tls.Config) {
	t.Helper()
	output := &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = output, output
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v (make deps installs it)", err)
	}
	exited := make(chan struct{})
	go func() { defer close(exited); _ = cmd.Wait() }()
	stop = func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-exited:
		case <-time.After(hang):
			_ = cmd.Process.Kill()
			<-exited
		}
	}
	t.Cleanup(func() {
		stop()
		if t.Failed() {
			t.Logf("%s says:\n%s", cmd.Path, output)
		}
	})
	s.await(hang, "the proxy speaks TLS", func() bool {
		select {
		case <-exited:
			t.Fatalf("%s ended:\n%s", cmd.Path, output)
		default:
		}
		if trust = trusting(certificate); trust == nil {
			return false
		}
		conn, err := tls.Dial("tcp", fmt.Sprintf("localhost:%d", port), trust)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	return stop, trust
}

// trusting believes the certificates in a file; nil: there are none yet.
func trusting(path string) *tls.Config {
	content, err := os.ReadFile(path)
	pool := x509.NewCertPool()
	if err != nil || !pool.AppendCertsFromPEM(content) {
		return nil
	}
	return &tls.Config{RootCAs: pool}
}

// selfSigned makes a certificate of localhost.
func selfSigned(t *testing.T, dir string) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}, IsCA: true, BasicConstraintsValid: true}
	public, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	certificate, key = filepath.Join(dir, "certificate.pem"), filepath.Join(dir, "key.pem")
	for path, block := range map[string]*pem.Block{certificate: {Type: "CERTIFICATE", Bytes: public}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certificate, key
}
