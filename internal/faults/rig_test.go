package faults

import (
	"cmp"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/lab"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/testfleet"
	"github.com/probefleet/probefleet/migrations"
)

const (
	apiKey    = "pf_faults_key_of_a_throwaway_fleet"
	secretKey = "0123456789abcdef0123456789abcdef-faults"
)

// fleet is what a rig is made of. Rows that ask for equal fleets share one.
type fleet struct {
	targets, intervalS int
	postgres           bool     // instead of SQLite, behind edges of its own
	env                []string // for every process
}

// rig is a whole installation of real programs, with an edge to break between each
// process and each store, a lab of targets, and the auditor.
type rig struct {
	fleet
	t      testing.TB
	dir    string
	lab    *lab.Lab
	redis  *store
	click  *store
	audit  *testfleet.Auditor
	dbURL  string // direct
	ids    []int64
	began  time.Time
	edges  edges
	normal map[string]float64 // goroutines of each process while all was well

	publishers []*process // pub-1 and pub-2 run; pub-3 is started by the rows that want it
	probers    []*process // eu-1, eu-2, us-1
	api        *process
}

// newRig starts the fleet and returns when every target has been measured.
func newRig(t testing.TB, f fleet) *rig {
	t.Helper()
	// One at a time: while several fleets start, a small machine answers nobody in time.
	beginning.Lock()
	defer beginning.Unlock()
	r := &rig{fleet: f, t: t, dir: t.TempDir()}
	bin := testfleet.Programs(t, build())
	var err error
	if r.lab, err = lab.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.lab.Close() })
	canary := testfleet.Canary(t)
	var starting sync.WaitGroup
	starting.Go(func() { r.redis = newRedis(t, filepath.Join(r.dir, "redis")) })
	r.click = newClickHouse(t, filepath.Join(r.dir, "clickhouse"))
	starting.Wait()
	r.dbURL = testbackend.SQLite(t)
	if f.postgres {
		r.dbURL = testbackend.Postgres(t)
	}
	if err := migrations.UpRelational(t.Context(), r.dbURL, nil); err != nil {
		t.Fatal(err)
	}
	if err := migrations.UpClickHouse(t.Context(), r.click.url(), nil); err != nil {
		t.Fatal(err)
	}
	if r.audit, err = testfleet.NewAuditor(r.dbURL, r.click.url()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.audit.Close() })

	port := strconv.Itoa(testbackend.Port(t))
	r.api = r.process(bin, "dashboard-api", "api", "", true, "PORT="+port, "API_BIND=127.0.0.1", "BOOTSTRAP_API_KEY="+apiKey)
	r.api.url = "http://127.0.0.1:" + port
	for i := range 3 {
		r.publishers = append(r.publishers, r.process(bin, "publisher", fmt.Sprintf("pub-%d", i+1), "", true, "PUBLISHER_SETTLE=30s", "PUBLISHER_BACKLOG_MAX=40000"))
	}
	for _, name := range []string{"eu-1", "eu-2", "us-1"} {
		r.probers = append(r.probers, r.process(bin, "prober", name, name[:2], false, "REGION="+name[:2], "PROBER_NAME="+name, "PROBER_ALLOW_CIDRS=127.0.0.0/8", "PROBER_CANARIES="+canary))
	}
	stop := make(chan struct{})
	var watching sync.WaitGroup
	for _, p := range r.all() {
		watching.Go(func() { p.watch(stop) })
		if p.name != "pub-3" {
			p.up(t)
		}
	}
	t.Cleanup(func() {
		close(stop)
		watching.Wait()
		for _, p := range r.all() {
			p.unmute()
			p.down()
		}
		if t.Failed() {
			r.keepLogs()
		}
	})
	r.await(4*time.Minute, "every process is ready and well", r.well)
	r.await(30*time.Second, "a target of the lab is accepted: probers have said that they may visit it", func() bool {
		var made struct{ ID int64 }
		status := r.call("POST", "/api/v1/targets", map[string]any{"url": r.lab.URL() + "/ok", "interval_s": f.intervalS}, &made)
		r.ids = append(r.ids, made.ID)
		return status == http.StatusCreated
	})
	r.ids = append(r.ids[len(r.ids)-1:], r.create(f.targets-1, f.intervalS)...)
	r.began = time.Now()
	r.await(time.Minute+2*time.Duration(f.intervalS)*time.Second, "every target is measured in both regions", func() bool {
		counts, err := r.audit.Measured(t.Context(), r.began.Add(-time.Minute), time.Now())
		return err == nil && counts["eu"] >= f.targets && counts["us"] >= f.targets
	})
	r.normal = map[string]float64{}
	for _, p := range r.all() {
		r.normal[p.kind] = max(r.normal[p.kind], p.metric("go_goroutines"))
	}
	return r
}

// process describes one; it is not started yet.
func (r *rig) process(bin, kind, name, region string, database bool, env ...string) *process {
	r.t.Helper()
	log, err := os.Create(filepath.Join(r.dir, name+".log"))
	if err != nil {
		r.t.Fatal(err)
	}
	ended := make(chan struct{})
	close(ended)
	p := &process{
		name: name, kind: kind, region: region, ops: fmt.Sprint("127.0.0.1:", testbackend.Port(r.t)), spool: filepath.Join(r.dir, "spool-"+name),
		path: filepath.Join(bin, kind), log: log, done: ended, seen: map[string]bool{},
		redis: newEdge(r.t, name+"-redis", hostOf(r.t, r.redis.url())),
		click: newEdge(r.t, name+"-clickhouse", hostOf(r.t, r.click.url())),
	}
	r.edges = append(r.edges, p.redis, p.click)
	p.env = []string{"OPS_ADDR=" + p.ops, "SECRET_KEY=" + secretKey, "LOG_LEVEL=" + cmp.Or(os.Getenv("LOG_LEVEL"), "info"),
		"REDIS_URL=" + through(r.t, r.redis.url(), p.redis), "CLICKHOUSE_URL=" + through(r.t, r.click.url(), p.click),
		"PROBER_SPOOL_DIR=" + p.spool, "PROBER_SPOOL_VOLATILE=true", "PUBLISHER_SPOOL_DIR=" + p.spool, "PUBLISHER_SPOOL_VOLATILE=true"}
	if database {
		address := r.dbURL
		if r.postgres {
			p.db = newEdge(r.t, name+"-database", hostOf(r.t, r.dbURL))
			r.edges = append(r.edges, p.db)
			address = through(r.t, r.dbURL, p.db)
		}
		p.env = append(p.env, "DATABASE_URL="+address)
	}
	p.env = append(append(p.env, r.env...), env...)
	return p
}

// all are the processes in the order in which they start.
func (r *rig) all() []*process {
	return append(append([]*process{r.api}, r.publishers...), r.probers...)
}

// named finds "pub-1" to "pub-3", "eu-1", "eu-2", "us-1" or "api".
func (r *rig) named(name string) *process {
	for _, p := range r.all() {
		if p.name == name {
			return p
		}
	}
	r.t.Fatalf("no process %q", name)
	return nil
}

// leader is the publisher that works; nil when none says so.
func (r *rig) leader() *process {
	for _, p := range r.publishers {
		if p.pid() != 0 && p.metric("probefleet_publisher_leader")+p.metric("probefleet_publisher_lease_held") > 0 {
			return p
		}
	}
	return nil
}

// toRedis are the ways of every process to Redis.
func (r *rig) toRedis() (all edges) {
	for _, p := range r.all() {
		all = append(all, p.redis)
	}
	return all
}

// well says whether every process that is wanted is ready and says ok.
func (r *rig) well() bool {
	for _, p := range r.all() {
		p.mu.Lock()
		wanted := p.wanted
		p.mu.Unlock()
		if !wanted {
			continue
		}
		if status, _ := p.health(); status != "ok" {
			return false
		}
	}
	return true
}

// heal undoes whatever a trial did to the fleet: rows need not clean up.
func (r *rig) heal() {
	r.redis.thaw()
	r.click.thaw()
	r.redis.start(r.t)
	r.click.start(r.t)
	for _, e := range r.edges {
		e.mend(r.t)
	}
	for _, p := range r.all() {
		p.unmute()
		p.thaw()
		if p.name == "pub-3" {
			p.down()
		} else {
			p.up(r.t)
		}
	}
}

// await polls until ok, and fails with what was awaited.
func (r *rig) await(limit time.Duration, what string, ok func() bool) {
	r.t.Helper()
	if !r.within(limit, ok) {
		r.t.Fatalf("not within %v: %s (%s)", patience(limit), what, r.state())
	}
}

func (r *rig) within(limit time.Duration, ok func() bool) bool {
	for deadline := time.Now().Add(patience(limit)); ; {
		began := time.Now()
		if ok() {
			return true
		}
		if began.After(deadline) { // the last try begins after it: the machine may have been busy
			return false
		}
		<-time.After(max(100*time.Millisecond, 2*time.Since(began))) // an audit is work for the same cores
	}
}

// state is a line on what every process says of itself.
func (r *rig) state() string {
	var text strings.Builder
	for _, p := range r.all() {
		status, reasons := p.health()
		fmt.Fprintf(&text, "%s %s %v; ", p.name, status, reasons)
	}
	return text.String()
}

// keepLogs copies what the processes said to where it outlives the test.
func (r *rig) keepLogs() {
	kept, err := os.MkdirTemp("", "probefleet-faults-")
	if err != nil {
		r.t.Log(err)
		return
	}
	for _, p := range r.all() {
		if content, err := os.ReadFile(p.log.Name()); err == nil {
			_ = os.WriteFile(filepath.Join(kept, p.name+".log"), content, 0o600)
		}
	}
	r.t.Logf("the logs of the fleet are in %s", kept)
}

func build() testfleet.Build { return testfleet.Build{Race: raceDetector(), Failpoints: true} }

// raceDetector says whether the programs carry it: always, unless RACE=0.
func raceDetector() bool { return os.Getenv("RACE") != "0" }

// beginning is held by the rig that starts its fleet.
var beginning sync.Mutex
