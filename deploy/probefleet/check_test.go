package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/internal/accountstore"
	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/testbackend"
)

// fakeAPI answers a check with its states in turn, the last one for ever.
type fakeAPI struct {
	*httptest.Server
	asked  atomic.Value // the body of the last POST
	key    atomic.Value
	states []string
	polls  atomic.Int64
	busy   atomic.Int64 // answers of 503 that come first
}

func newFakeAPI(t *testing.T, states ...string) *fakeAPI {
	t.Helper()
	f := &fakeAPI{states: states}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.key.Store(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		switch {
		case f.busy.Add(-1) >= 0:
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, `{"detail":"too many checks are waiting"}`)
			return
		case r.Method == http.MethodPost && r.URL.Path == "/api/v1/checks":
			body, _ := io.ReadAll(r.Body)
			f.asked.Store(string(body))
			if strings.Contains(string(body), "ftp:") {
				w.WriteHeader(http.StatusUnprocessableEntity)
				_, _ = io.WriteString(w, `{"detail":"2 mistakes","errors":[{"pointer":"/url","message":"only http"},{"pointer":"/regions/0","message":"none \u001b[2J"}]}`)
				return
			}
			w.WriteHeader(http.StatusAccepted)
		case r.URL.Path != "/api/v1/checks/c1":
			w.WriteHeader(http.StatusNotFound)
			return
		}
		n := min(int(f.polls.Add(1)), len(f.states)) - 1
		_, _ = io.WriteString(w, f.states[n])
	}))
	t.Cleanup(f.Close)
	return f
}

func state(state, results string) string {
	return fmt.Sprintf(`{"id":"c1","url":"https://a.example/","state":%q,"retry_count":1,"error":"","results":[%s]}`, state, results)
}

const (
	upJSON   = `{"region":"eu","status":"up","total_us":5000}`
	slowJSON = `{"region":"asia","status":"degraded","total_us":5000}`
	downJSON = `{"region":"us","status":"down","failure":"status_code","message":"answered 503"}`
	lostJSON = `{"region":"mars","status":"missed","reason":"region_down","message":"no prober answered in time"}`
)

// probefleet runs the tool and gives its exit code.
func probefleet(args ...string) (code int, out, errOut string) {
	var o, e strings.Builder
	code = run(args, &o, &e)
	return code, o.String(), e.String()
}

func TestCheckTellsByItsExitCode(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		last string
		code int
		says string
	}{
		"up":           {state("COMPLETED", upJSON), 0, ""},
		"degraded":     {state("COMPLETED", upJSON+","+slowJSON), 0, ""},
		"down":         {state("COMPLETED", upJSON+","+downJSON), 1, "down from us"},
		"down counts":  {state("COMPLETED", downJSON+","+lostJSON), 1, "down from us"},
		"not checked":  {state("COMPLETED", upJSON+","+lostJSON), 2, "could not be checked from mars"},
		"failed":       {state("FAILED_PERMANENT", lostJSON), 2, "could not be checked from mars"},
		"failed early": {strings.Replace(state("FAILED_PERMANENT", ""), `"error":""`, `"error":"there is no region"`, 1), 2, "there is no region"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := newFakeAPI(t, state("QUEUED", ""), state("IN_PROGRESS", ""), state("FAILED_RETRYABLE", ""), c.last)
			code, out, errOut := probefleet("check", "https://a.example/", "--api", api.URL+"/", "--key", "pf_k", "--region", "eu,us", "--region", "mars", "--timeout", "2s")
			if code != c.code || !strings.Contains(errOut, c.says) || !strings.Contains(out, "https://a.example/") {
				t.Errorf("exit %d\n%s%s", code, out, errOut)
			}
			if asked := api.asked.Load(); asked != `{"regions":["eu","us","mars"],"timeout_ms":2000,"url":"https://a.example/"}` || api.key.Load() != "pf_k" {
				t.Errorf("asked %v with %v", asked, api.key.Load())
			}
			if strings.Count(errOut, "IN_PROGRESS") != 1 {
				t.Errorf("progress: %s", errOut)
			}
		})
	}
}

func TestCheckAsJSON(t *testing.T) {
	t.Parallel()
	api := newFakeAPI(t, state("COMPLETED", downJSON))
	api.busy.Store(1) // it is tried again
	code, out, _ := probefleet("check", "https://a.example/", "--api", api.URL, "--key", "pf_k", "--json")
	var document map[string]any
	if err := json.Unmarshal([]byte(out), &document); err != nil || code != 1 || document["id"] != "c1" {
		t.Errorf("exit %d: %v\n%s", code, err, out)
	}
}

func TestCheckThatCannotBeMade(t *testing.T) {
	t.Parallel()
	api, empty := newFakeAPI(t, state("QUEUED", "")), t.TempDir()
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"refused":     {[]string{"ftp://a/", "--api", api.URL, "--key", "k"}, "/url: only http\n/regions/0: \"none \\x1b[2J\""},
		"no answer":   {[]string{"https://a/", "--api", "http://127.0.0.1:1", "--key", "k"}, "does not answer"},
		"not ours":    {[]string{"https://a/", "--api", api.URL + "/elsewhere", "--key", "k"}, "is this the URL of a Probefleet?"},
		"no key":      {[]string{"https://a/", "--api", api.URL}, "PROBEFLEET_API_KEY"},
		"nothing":     {[]string{"https://a/", "--dir", empty}, "no installation runs in " + empty},
		"no outcome":  {[]string{"https://a/", "--api", api.URL, "--key", "k", "--wait", "1s"}, "no outcome within 1s: it is QUEUED"},
		"not a place": {[]string{"https://a/", "--api", "http://[::1", "--key", "k"}, "--api"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, out, errOut := probefleet(append([]string{"check"}, c.args...)...)
			if code != exitUnchecked || !strings.Contains(errOut, c.says) || out != "" || strings.ContainsAny(errOut, "\x1b") {
				t.Errorf("exit %d\n%s%s", code, out, errOut)
			}
		})
	}
}

// TestCheckOfARunningInstallation: its folder is enough, nobody needs a key.
func TestCheckOfARunningInstallation(t *testing.T) {
	t.Parallel()
	url := testbackend.SQLite(t)
	databasetest.Open(t, url)
	api, dir := newFakeAPI(t, state("COMPLETED", upJSON)), t.TempDir()
	if err := (runFile{URL: api.URL, PID: os.Getpid(), DatabaseURL: url}).write(dir); err != nil {
		t.Fatal(err)
	}
	if code, out, errOut := probefleet("check", "https://a.example/", "--dir", dir); code != 0 {
		t.Fatalf("exit %d\n%s%s", code, out, errOut)
	}
	key := lentKey(t, api, url, "probefleet check", accountstore.RoleEditor)
	if content, err := os.ReadFile(filepath.Join(dir, "run.json")); err != nil || strings.Contains(string(content), key) {
		t.Errorf("the key is left behind: %v", err)
	}
}

// TestKeysAreLentForWhatIsDone: who only reads gets a key that may not write.
func TestKeysAreLentForWhatIsDone(t *testing.T) {
	t.Parallel()
	targets := filepath.Join(t.TempDir(), "targets.json")
	if err := os.WriteFile(targets, []byte(`{"targets":[{"url":"https://a.example/"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		role accountstore.Role
	}{
		"export":             {[]string{"export", "--out", filepath.Join(t.TempDir(), "out")}, accountstore.RoleViewer},
		"history export":     {[]string{"history", "export", "nobody", "--out", filepath.Join(t.TempDir(), "out")}, accountstore.RoleViewer},
		"status-page export": {[]string{"status-page", "export", "nobody", t.TempDir()}, accountstore.RoleViewer},
		"import":             {[]string{"import", targets}, accountstore.RoleEditor},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := testbackend.SQLite(t)
			databasetest.Open(t, url)
			api, dir := newFakeAPI(t), t.TempDir()
			if err := (runFile{URL: api.URL, PID: os.Getpid(), DatabaseURL: url}).write(dir); err != nil {
				t.Fatal(err)
			}
			if code, out, errOut := probefleet(append(c.args, "--dir", dir)...); code == 0 { // it is asked, and answers nothing of use
				t.Errorf("exit %d\n%s%s", code, out, errOut)
			}
			lentKey(t, api, url, "probefleet "+name, c.role)
		})
	}
}

// lentKey is the key that the API was asked with, which is one that was lent for a while, and audited.
func lentKey(t *testing.T, api *fakeAPI, url, name string, role accountstore.Role) string {
	t.Helper()
	db, err := database.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	key, _ := api.key.Load().(string)
	if key == "" {
		t.Fatal("the API was not asked")
	}
	lent, err := accountstore.New(db).KeyByHash(t.Context(), hashOf(key), time.Now())
	if err != nil || lent.Role != role || time.Until(lent.ExpiresAt) > lentFor || strings.Contains(lent.Prefix, key[6:]) {
		t.Errorf("lent %+v: %v", lent, err)
	}
	said, err := accountstore.New(db).AuditLog(t.Context(), accountstore.AuditQuery{Limit: 10})
	if err != nil || len(said) != 1 || said[0].Actor != "cli" || said[0].Action != "key.created" || said[0].Object != fmt.Sprint("key:", lent.ID) || said[0].Detail != fmt.Sprint(name, " as ", role) {
		t.Errorf("audit log: %+v, %v", said, err)
	}
	return key
}

func TestWaterfall(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	valid, expired := now.Add(63*24*time.Hour+time.Hour), now.Add(-36*time.Hour)
	check := checkJSON{URL: "https://a.example/", State: "COMPLETED", RetryCount: 2, Error: "mars: no prober answered in time", Results: []regionJSON{
		{Region: "eu", Status: "up", HTTPStatus: 200, TotalUS: 40_000, Address: "192.0.2.1", Protocol: "HTTP/1.1", TLSVersion: "1.3", CertNotAfter: &valid, Hops: []hopJSON{
			{URL: "https://a.example/", Address: "192.0.2.1", Status: 301, Phases: phasesJSON{DNS: 4000, Connect: 6000, TLS: 10_000, Wait: 4000, Transfer: 50}},
			{URL: "https://a.example/b", Address: "192.0.2.1", Status: 200, Phases: phasesJSON{Connect: 6000, Wait: 8000, Transfer: 1950}, DNSCached: true},
		}},
		{Region: "us", Status: "down", Failure: "tls_expired", Message: "expired\x1b[2J", TotalUS: 2000, CertNotAfter: &expired, Hops: []hopJSON{
			{URL: "https://a.example/\nforged", Phases: phasesJSON{DNS: 1000, Connect: 1000}},
		}},
		{Region: "mars", Status: "missed", Reason: "region_down", Message: "no prober answered in time"},
	}}
	var out strings.Builder
	printCheck(&out, check, now)
	want, err := os.ReadFile(filepath.Join("testdata", "waterfall.txt"))
	if diff := cmp.Diff(string(want), out.String()); diff != "" {
		t.Errorf("%v %s\n%s", err, diff, out.String())
	}
}
