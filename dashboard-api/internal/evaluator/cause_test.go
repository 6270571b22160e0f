package evaluator

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

// at gives targets hosts of their own, and some of them an address in common.
func (r *rig) at(addresses []string) func(i int, result uptime.Result) uptime.Result {
	for i := range r.targets {
		r.targets[i].Target.URL = fmt.Sprintf("https://t%d.example/", i)
	}
	return func(i int, result uptime.Result) uptime.Result {
		result.Address = netip.AddrFrom4([4]byte{10, byte(i >> 8), byte(i), 1})
		if n := len(addresses); i < 400 && n > 0 {
			result.Address = netip.MustParseAddr(addresses[i%n])
		}
		return result
	}
}

// all has both regions see targets, in entries of many results each.
func (r *rig) see(status uptime.Status, where func(int, uptime.Result) uptime.Result, targets ...int) {
	r.Helper()
	for _, region := range regions {
		var results []uptime.Result
		for _, i := range targets {
			results = append(results, where(i, r.next(r.targets[i].Target.ID, region, status)))
		}
		r.announce(results...)
	}
}

func upTo(from, to int) (all []int) {
	for i := from; i < to; i++ {
		all = append(all, i)
	}
	return all
}

// outbox counts what is told: of groups by their names, of targets how many there are.
func (r *rig) outbox() map[string]int {
	counts := map[string]int{}
	for _, text := range r.told() {
		event, name, _ := strings.Cut(text, " ")
		if strings.HasPrefix(name, "t") {
			name = "alone"
		}
		counts[event+" "+name]++
	}
	return counts
}

// Of 1,000 targets 400 on three addresses fail at once, and 20 others on their own: people hear
// of 3 + 20 things, each once, and of each end once, whoever dies in between.
func TestManyOutagesWithFewCauses(t *testing.T) {
	t.Parallel()
	const shared, others, targets = 400, 20, 1000
	r := newRig(t, databasetest.Open(t, testbackend.SQLite(t)), targets)
	r.listener()
	where := r.at([]string{"192.0.2.7", "198.51.100.8", "203.0.113.9"})
	random := rand.New(rand.NewPCG(5, 6))
	running := []func(){r.run(), r.run()}
	restart := func() {
		i := random.IntN(2)
		running[i]()
		running[i] = r.run()
	}
	r.see(uptime.StatusUp, where, upTo(0, targets)...)
	restart()
	r.see(uptime.StatusDown, where, upTo(0, shared/2)...)
	restart()
	r.see(uptime.StatusDown, where, upTo(shared/2, shared+others)...)
	r.await("all are open", func() bool { return len(r.targetsDown()) == shared+others })
	restart() // they are open, and nobody was told
	opened := map[string]int{"opened 134 targets: address 192.0.2.7": 1, "opened 133 targets: address 198.51.100.8": 1, "opened 133 targets: address 203.0.113.9": 1, "opened alone": others}
	r.await("it is told", func() bool { return cmp.Equal(opened, r.outbox()) })
	restart()
	r.see(uptime.StatusUp, where, upTo(0, shared-3)...)
	r.folded()
	if diff := cmp.Diff(opened, r.outbox()); diff != "" {
		t.Errorf("some are good again: %s", diff)
	}
	restart()
	r.see(uptime.StatusUp, where, upTo(shared-3, shared+others)...)
	want := map[string]int{}
	for text, n := range opened {
		want[text], want[strings.Replace(text, "opened", "resolved", 1)] = n, n
	}
	r.await("it is told that they are over", func() bool { return cmp.Equal(want, r.outbox()) })
	r.folded()
	for _, end := range running {
		end()
	}
	if diff := cmp.Diff(want, r.outbox()); diff != "" {
		t.Error(diff)
	}
	for _, i := range r.all() {
		if i.Open() || i.TargetID != 0 && (i.GroupID == 0) != (i.TargetID > r.targets[shared-1].Target.ID) {
			t.Fatalf("%+v", i)
		}
	}
}

// Who comes to a group later is not told of again, and with the last that is left, or is deleted,
// the group ends.
func TestGroupsGrowAndEnd(t *testing.T) {
	t.Parallel()
	r := newRig(t, databasetest.Open(t, testbackend.SQLite(t)), 8)
	r.listener()
	where := r.at([]string{"192.0.2.7"})
	end := r.run()
	r.see(uptime.StatusUp, where, upTo(0, 8)...)
	r.see(uptime.StatusDown, where, 0, 1, 2) // of eight, but of the others nobody knows yet
	first := map[string]int{"opened 3 targets: address 192.0.2.7": 1}
	r.await("it is told", func() bool { return cmp.Equal(first, r.outbox()) })
	end()
	defer r.run()()
	r.see(uptime.StatusDown, where, 4, 5)
	r.await("they are members", func() bool {
		all, err := r.incidents.List(t.Context(), incidentstore.Filter{GroupID: 1, Limit: 100})
		return err == nil && len(all) == 6
	})
	r.see(uptime.StatusUp, where, 0, 1, 2, 4)
	r.folded()
	if diff := cmp.Diff(first, r.outbox()); diff != "" {
		t.Error(diff)
	}
	if err := targetstore.New(r.db).Delete(t.Context(), r.targets[5].Target.ID, 0); err != nil {
		t.Fatal(err)
	}
	r.see(uptime.StatusUp, where, 6)
	r.await("it is over", func() bool { return r.outbox()["resolved 3 targets: address 192.0.2.7"] == 1 })
}

// An outage that shares nothing is told without waiting, and one that ends while it waits for
// others is told, and that it is over.
func TestSingleOutagesDoNotWait(t *testing.T) {
	t.Parallel()
	r := newRig(t, databasetest.Open(t, testbackend.SQLite(t)), 6)
	r.listener()
	where := r.at(nil)
	f := newFold(mustLoad(r))
	f.judge(r.targets, nil, r.began)
	at := r.began
	see := func(status uptime.Status, i int) {
		for _, region := range regions {
			f.take(entry{id: "1-0", at: at, results: []uptime.Result{where(i, r.next(r.targets[i].Target.ID, region, status))}})
		}
	}
	for i := range 6 {
		see(uptime.StatusUp, i)
	}
	pending := func() (all []string) {
		c, _ := f.pending(at)
		for _, d := range c.Decisions {
			switch {
			case d.Tell:
				all = append(all, fmt.Sprint("tell ", d.TargetID))
			case d.Group != nil:
				all = append(all, d.Group.Subject.Name)
			default:
				all = append(all, fmt.Sprint(d.Kind, " ", d.TargetID))
			}
		}
		f.committed(0)
		return all
	}
	at = at.Add(time.Second)
	see(uptime.StatusDown, 5)
	if diff := cmp.Diff([]string{"opened 6", "tell 6"}, pending()); diff != "" {
		t.Errorf("on its own: %s", diff)
	}
	where = r.at([]string{"192.0.2.7"})
	for i := range 6 {
		see(uptime.StatusUp, i)
	}
	pending()
	for i := range 2 {
		see(uptime.StatusDown, i)
	}
	if diff := cmp.Diff([]string{"opened 1", "opened 2"}, pending()); diff != "" {
		t.Errorf("with others: %s", diff)
	}
	see(uptime.StatusUp, 0)
	if diff := cmp.Diff([]string{"tell 1", "resolved 1"}, pending()); diff != "" {
		t.Errorf("short: %s", diff)
	}
	at = at.Add(gatherFor)
	f.pass(at)
	if diff := cmp.Diff([]string{"tell 2"}, pending()); diff != "" {
		t.Errorf("waited: %s", diff)
	}
	at = at.Add(time.Second)
	see(uptime.StatusDown, 2)
	see(uptime.StatusDown, 3)
	got := pending()
	at = at.Add(gatherFor)
	f.pass(at)
	if got = append(got, pending()...); !slices.Equal(got, []string{"opened 3", "opened 4", "3 targets: address 192.0.2.7"}) {
		t.Errorf("with one that was told alone: %q", got)
	}
}

// What one evaluator held when it ended the next one tells, once; the one after that knows the
// group, too.
func TestHeldOutagesOutliveWhoHeldThem(t *testing.T) {
	t.Parallel()
	r := newRig(t, databasetest.Open(t, testbackend.SQLite(t)), 8)
	r.listener()
	where := r.at([]string{"192.0.2.7"})
	at := r.began
	var f *fold
	takeOver := func() {
		f = newFold(mustLoad(r))
		f.judge(r.targets, nil, at)
		f.pass(at)
	}
	see := func(status uptime.Status, targets ...int) {
		for _, i := range targets {
			for _, region := range regions {
				f.take(entry{id: "1-0", at: at, results: []uptime.Result{where(i, r.next(r.targets[i].Target.ID, region, status))}})
			}
		}
	}
	commit := func(want ...string) {
		t.Helper()
		if c, some := f.pending(at); some {
			turn, err := r.store.Commit(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			f.committed(turn)
		}
		if diff := cmp.Diff(want, r.told()); diff != "" {
			t.Error(diff)
		}
	}
	takeOver()
	see(uptime.StatusUp, upTo(0, 8)...)
	at = at.Add(time.Second)
	see(uptime.StatusDown, 0, 1, 2)
	commit()
	takeOver()
	at = at.Add(gatherFor)
	takeOver()
	commit("opened 3 targets: address 192.0.2.7")
	commit("opened 3 targets: address 192.0.2.7")
	takeOver()
	see(uptime.StatusDown, 3)
	commit("opened 3 targets: address 192.0.2.7")
	takeOver()
	see(uptime.StatusUp, 0, 1, 2)
	commit("opened 3 targets: address 192.0.2.7")
	see(uptime.StatusUp, 3)
	commit("opened 3 targets: address 192.0.2.7", "resolved 3 targets: address 192.0.2.7")
}

// Targets on hosts and addresses of their own share who signed their certificates, or who answers
// for their names: what others with the same live well with is not the cause.
func TestCausesOfCertificatesAndNames(t *testing.T) {
	t.Parallel()
	r := newRig(t, databasetest.Open(t, testbackend.SQLite(t)), 28)
	r.listener()
	where := r.at(nil)
	r.zones = map[string]string{}
	for i := range 28 {
		r.zones[fmt.Sprintf("t%d.example", i)] = []string{"dns.example", "names.example"}[i%2]
	}
	failure := uptime.FailureNone
	look := func(i int, result uptime.Result) uptime.Result {
		result = where(i, result)
		result.Issuer = []string{"Somebody R1", "Somebody R1", "Somebody R2"}[i%3]
		if result.Status == uptime.StatusDown {
			result.Failure, result.HTTPStatus = failure, 0
		}
		return result
	}
	end := r.run()
	r.see(uptime.StatusUp, look, upTo(0, 28)...)
	r.folded()
	end() // the next one recalls who signed what
	defer r.run()()

	failure = uptime.FailureTLSUntrusted
	r.see(uptime.StatusDown, look, 2, 5, 8, 11, 14) // of nine by R2
	failure = uptime.FailureDNS
	r.see(uptime.StatusDown, look, 0, 4, 6, 10, 12, 16, 18) // of fourteen at dns.example
	r.see(uptime.StatusDown, look, 1, 3, 7)                 // of fourteen at names.example
	failure = uptime.FailureTLSUntrusted
	r.see(uptime.StatusDown, look, 9, 13, 15) // of nineteen by R1
	r.see(uptime.StatusUp, look, append(upTo(19, 28), 17)...)
	want := map[string]int{"opened 5 targets: issuer of certificates Somebody R2": 1, "opened 7 targets: name servers at dns.example": 1, "opened alone": 6}
	r.await("it is told", func() bool { return cmp.Equal(want, r.outbox()) })
	r.folded()
	if diff := cmp.Diff(want, r.outbox()); diff != "" {
		t.Error(diff)
	}
}
