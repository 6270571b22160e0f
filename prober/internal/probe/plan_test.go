package probe

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// What a check on demand looks at is none that is looked at again and again.
func TestPlansOfChecksOnDemandAreNotKept(t *testing.T) {
	t.Parallel()
	e := New(options(nil))
	for _, url := range []string{"http://a.test/1", "http://a.test/2", "http://a.test/1"} {
		check := checkOf(url)
		check.TargetID = 0
		if p := e.plans.of(&check); !p.bad.none() || p.url != url {
			t.Errorf("%+v", p)
		}
	}
	if len(e.plans.all) != 0 || e.plans.bytes != 0 {
		t.Errorf("%d are kept", len(e.plans.all))
	}
	check := checkOf("http://a.test/")
	if p := e.plans.of(&check); e.plans.of(&check) != p || len(e.plans.all) != 1 {
		t.Error("a target's is not kept")
	}
}

// Targets that send much have plans that are large: fewer of them are kept.
func TestPlansAreBoundedByWhatTheyKeep(t *testing.T) {
	t.Parallel()
	e := New(options(nil))
	large := checkOf("http://a.test/")
	large.Spec = uptime.Spec{HTTP: &uptime.HTTPSpec{Method: "POST", Body: strings.Repeat("x", 40<<10)}}.Text()
	const many = 1500
	for id := int64(1); id <= many; id++ {
		large.TargetID = id
		e.plans.of(&large)
		if e.plans.bytes > maxPlans {
			t.Fatalf("%d bytes of %d plans", e.plans.bytes, len(e.plans.all))
		}
	}
	kept := e.plans.of(&large)
	if e.plans.of(&large) != kept {
		t.Error("the newest is not kept")
	}
	plain := large
	plain.Spec = ""
	e.plans.of(&plain) // in place of it
	sum := 0
	for _, p := range e.plans.all {
		sum += p.weight()
	}
	if n := len(e.plans.all); n < 500 || n >= many || sum != e.plans.bytes {
		t.Errorf("%d plans are kept: %d bytes, %d counted", n, sum, e.plans.bytes)
	}
}

// Tens of thousands of targets that demand the same have what is demanded in memory once, as
// long as one of them is left.
func TestPlansShareWhatTheyDemand(t *testing.T) {
	t.Parallel()
	e := New(options(nil))
	demanding := func(id int64, status string) *plan {
		check := checkOf("http://a.test/")
		check.TargetID = id
		check.Spec = uptime.Spec{Assertions: []uptime.Assertion{{Source: uptime.SourceStatus, Op: uptime.OpEquals, Value: status}}}.Text()
		return e.plans.of(&check)
	}
	one, same, other := demanding(1, "200").asserts, demanding(2, "200").asserts, demanding(3, "204").asserts
	if one != same || one == other || one.Len() != 1 {
		t.Errorf("%p %p %p", one, same, other)
	}
	runtime.KeepAlive(other)
	demanding(3, "200")
	known := func() int {
		runtime.GC()
		e.plans.demands.mu.Lock()
		defer e.plans.demands.mu.Unlock()
		return len(e.plans.demands.all)
	}
	for patience := time.Now().Add(hang); known() != 1; runtime.Gosched() { // a cleanup runs some time after the collection
		if time.Now().After(patience) {
			t.Fatalf("%d are known", known())
		}
	}
	if demanding(4, "200").asserts != one {
		t.Error("what is demanded still was forgotten")
	}
}
