package notify

import (
	"bytes"
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"gorm.io/gorm"

	"github.com/probefleet/probefleet/dashboard-api/internal/longtail"
	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/guard"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/seal"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

func TestMain(m *testing.M) {
	if code, ran := longtail.MaybeRunChild(os.Args); ran {
		os.Exit(code)
	}
	testbackend.Main(m)
}

// heard is a request that a provider took in.
type heard struct {
	method, path string
	header       http.Header
	body         []byte
}

// provider is a local server that speaks TLS, notes what it hears and answers what it is told to.
type provider struct {
	*httptest.Server
	mu     sync.Mutex
	all    []heard
	status int
	header http.Header
	answer string
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	p := newUnstarted(t)
	p.StartTLS()
	return p
}

// newPlainProvider is one that speaks no TLS.
func newPlainProvider(t *testing.T) *provider {
	t.Helper()
	p := newUnstarted(t)
	p.Start()
	return p
}

func newUnstarted(t *testing.T) *provider {
	t.Helper()
	p := &provider{status: http.StatusOK, header: http.Header{}}
	p.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.all = append(p.all, heard{r.Method, r.URL.RequestURI(), r.Header, body})
		for name, values := range p.header {
			w.Header()[name] = values
		}
		w.WriteHeader(p.status)
		_, _ = io.WriteString(w, p.answer)
	}))
	p.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	t.Cleanup(p.Close)
	return p
}

func (p *provider) says(status int, answer string, header ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status, p.answer, p.header = status, answer, http.Header{}
	if len(header) > 0 {
		p.header.Set(header[0], header[1])
	}
}

func (p *provider) requests() []heard {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]heard(nil), p.all...)
}

// rig is a worker on a real database, with a clock of its own.
type rig struct {
	*testing.T
	store   *incidentstore.Store
	db      *database.DB
	box     *seal.Box
	worker  *Worker
	deliver *Deliverer
	mu      sync.Mutex
	now     time.Time
	log     *lockedBuffer
	targets []int64
}

type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

type noHealth struct{}

func (noHealth) Set(string, service.Level, string) {}

// allowed is a guard that opens this machine.
func allowed() *guard.Guard { return guard.New([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}) }

func newBox(t *testing.T) *seal.Box {
	t.Helper()
	box, err := seal.New("the SECRET_KEY of these tests")
	if err != nil {
		t.Fatal(err)
	}
	return box
}

func newRig(t *testing.T, roots *x509.CertPool) *rig {
	t.Helper()
	r := &rig{T: t, db: databasetest.Open(t, testbackend.SQLite(t)), box: newBox(t), now: noon, log: &lockedBuffer{}}
	planner := Planner{PublicURL: "https://pf.example"}
	r.store = incidentstore.New(r.db, planner)
	r.deliver = NewDeliverer(DelivererOptions{Box: r.box, Guard: allowed(), PublicURL: planner.PublicURL, Roots: roots})
	r.worker = r.newWorker("one", r.deliver)
	targets := targetstore.New(r.db)
	for n := range 4 {
		created, err := targets.Create(t.Context(), uptime.Target{Name: fmt.Sprint("t", n), URL: "https://example.com/", Kind: uptime.KindHTTP, Interval: time.Minute, Timeout: time.Second, Active: true})
		r.must(err)
		r.targets = append(r.targets, created.ID)
	}
	return r
}

func (r *rig) newWorker(holder string, sender Sender) *Worker {
	return NewWorker(WorkerOptions{Holder: holder, Outbox: r.store, Sender: sender, Health: noHealth{}, Now: r.clock, Log: slog.New(slog.NewTextHandler(r.log, nil)), Metrics: prometheus.NewRegistry()})
}

func (r *rig) clock() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

func (r *rig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// pass moves the clock on, a step at a time, and has the worker look at each.
func (r *rig) pass(long, step time.Duration) {
	r.Helper()
	for end := r.clock().Add(long); r.clock().Before(end); {
		r.mu.Lock()
		r.now = r.now.Add(step)
		r.mu.Unlock()
		r.work()
	}
}

// work has the worker send what is due now.
func (r *rig) work() {
	r.Helper()
	r.must(r.worker.runOnce(r.Context()))
	r.worker.sending.Wait()
}

func (r *rig) channel(name, kind string, config Config) incidentstore.Channel {
	r.Helper()
	if found := Judge(config, nil); len(found) > 0 {
		r.Fatalf("%s: %+v", name, found)
	}
	sealed, err := Seal(r.box, config)
	r.must(err)
	c, err := r.store.CreateChannel(r.Context(), incidentstore.Channel{Name: name, Kind: kind, Config: sealed, Enabled: true}, r.clock())
	r.must(err)
	return c
}

func (r *rig) rule(name string, t terms) incidentstore.Rule {
	r.Helper()
	created, err := r.store.CreateRule(r.Context(), incidentstore.Rule{Name: name, Enabled: true, Terms: t}, r.clock())
	r.must(err)
	return created
}

func (r *rig) open(target int) (i incidentstore.Incident) {
	r.Helper()
	template := incident()
	r.must(r.db.Tx(r.Context(), func(tx *gorm.DB) (err error) {
		i, _, err = r.store.Open(r.Context(), tx, incidentstore.Opening{TargetID: r.targets[target], FirstSlot: r.clock().Add(-time.Minute), Severity: incidentstore.Down,
			Subject: template.Subject, Cause: template.Cause, At: r.clock()})
		return err
	}))
	return i
}

func (r *rig) resolve(i incidentstore.Incident) {
	r.Helper()
	r.must(r.db.Tx(r.Context(), func(tx *gorm.DB) error {
		_, err := r.store.Resolve(r.Context(), tx, i.ID, r.clock(), "answers again")
		return err
	}))
}

// events are what hooks heard of an incident, as "opened resolved".
func events(t *testing.T, all []heard, id int64) string {
	t.Helper()
	var words []string
	for _, h := range all {
		for _, p := range hookOf(t, h).Notifications {
			if p.IncidentID == id {
				words = append(words, string(p.Event))
			}
		}
	}
	return strings.Join(words, " ")
}

const hookKey = "a signing key of tests"

func hook(p *provider) *Webhook {
	return &Webhook{URL: NewSecret(p.URL + "/hook?token=canary-in-the-url"), Secret: NewSecret(hookKey), Authorization: NewSecret("Bearer canary-of-authorization")}
}

// canaries are what must stand nowhere.
var canaries = []string{"canary-in-the-url", "canary-of-authorization", hookKey}

func noCanary(t *testing.T, where, text string) {
	t.Helper()
	for _, canary := range canaries {
		if strings.Contains(text, canary) {
			t.Errorf("%s holds %q: %.600s", where, canary, text)
		}
	}
}

func send(t *testing.T, d *Deliverer, kind string, config Config, m Message) Sent {
	t.Helper()
	sealed, err := Seal(d.o.Box, config)
	if err != nil {
		t.Fatal(err)
	}
	return d.Send(context.WithoutCancel(t.Context()), incidentstore.Channel{Kind: kind, Config: sealed, Name: "c"}, m)
}
