package statuspage_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/pagestore"
	"github.com/probefleet/probefleet/internal/testbackend"
)

// Days are old when something was written of a target that they are of: they are read again,
// but not all the time, and once more when it can surely be read.
func TestDaysEndWithWhatIsWritten(t *testing.T) {
	t.Parallel()
	r := newRig(t, testbackend.SQLite(t))
	site, other := r.target("site"), r.target("other")
	var down atomic.Uint64 // tenths of each day
	r.day = func(int64, int) availability.Counts {
		n := 144 * down.Load()
		return availability.Counts{Up: 1440 - n, Down: n}
	}
	r.page(pagestore.Page{Slug: "main", Terms: pagestore.Terms{Title: "Acme", Groups: components(pagestore.Component{Name: "Site", Rule: pagestore.RuleWorst, Targets: []int64{site}})}})
	says := func(what, uptime string) {
		t.Helper()
		if got := r.get("/s/main"); got.Code != http.StatusOK || !strings.Contains(got.Body.String(), uptime+" % uptime") {
			t.Errorf("%s: want %s: %d %s", what, uptime, got.Code, got.Body)
		}
	}
	const settles = 3 * time.Second
	says("at first", "100.000")
	down.Store(1)
	r.pages.Written(r.now().Add(settles), site)
	r.pass(4 * time.Second)
	says("too soon to read again", "100.000")
	r.pass(2 * time.Second) // a copy of the page is good for as long
	says("a result came", "90.000")
	down.Store(2)
	r.pass(6 * time.Second)
	says("nothing was written", "90.000")
	r.pages.Written(r.now().Add(settles), other)
	r.pass(2 * time.Second)
	says("something of another target was", "90.000")
	r.pages.Written(r.now().Add(settles), site)
	r.pass(2 * time.Second)
	says("what came can be read at once", "80.000")
	down.Store(3)
	r.pass(5 * time.Second)
	says("or a moment later", "70.000")
	down.Store(4)
	r.pass(6 * time.Second)
	says("but not for ever", "70.000")
	r.pages.Written(r.now(), 0)
	r.pass(2 * time.Second)
	says("of all targets", "60.000")
}
