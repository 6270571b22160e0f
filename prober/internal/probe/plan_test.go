package probe

import (
	"strings"
	"testing"

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
