package main

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/livefeed"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/migrations"
)

// A page stays there while a store is away, says so, and is green on no old evidence.
func TestStatusPageWhileStoresAreAway(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	n := start(t, s.database, s.redis.URL(), s.clickHouse.URL())
	code, text := n.call("POST", "/api/v1/status-pages", fmt.Sprintf(`{"slug":"main","title":"Acme","published":true,"groups":[{"components":[{"name":"Site","target_ids":[%d]}]}]}`, s.target.ID))
	if code != http.StatusCreated {
		t.Fatalf("%d %s", code, text)
	}
	page := func(wanted ...string) bool {
		t.Helper()
		_, code, body, took := n.get("/s/main")
		if took > promptly {
			t.Errorf("took %v", took)
		}
		for _, want := range wanted {
			if code != http.StatusOK || !strings.Contains(body, want) {
				return false
			}
		}
		return true
	}
	n.await("the page with its history", func() bool {
		return page("All systems are operational", "100.000 % uptime") && !page("cannot be read")
	})
	s.redis.Stop()
	if !page("All systems are operational", "Updated ") { // the evidence is fresh for two intervals
		t.Error("without Redis the page is gone")
	}
	s.clickHouse.Stop()
	n.await("the last good days", func() bool {
		return page("100.000 % uptime", "The daily history is as of")
	})
	s.clickHouse.Restart()
	s.redis.Restart()
	n.await("all as it was", func() bool { return page("All systems are operational") && !page("cannot be read") })
}

// fleet is an installation of which every store can be stopped, with a target of a short interval.
type fleet struct {
	*node
	database, redis, clickHouse *testbackend.Server
	target                      uptime.Target
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{database: testbackend.PostgresServer(t), redis: testbackend.RedisServer(t), clickHouse: testbackend.ClickHouseServer(t)}
	if err := migrations.UpClickHouse(t.Context(), f.clickHouse.URL(), nil); err != nil {
		t.Fatal(err)
	}
	db := databasetest.Open(t, f.database.URL())
	if _, err := schedulestore.New(db).AddRegion(t.Context(), "eu"); err != nil {
		t.Fatal(err)
	}
	var err error
	f.target, err = targetstore.New(db).Create(t.Context(), uptime.Target{Name: "a", URL: "https://example.com/", Kind: uptime.KindHTTP, Interval: 2 * time.Second, Timeout: time.Second, Active: true})
	if err != nil {
		t.Fatal(err)
	}
	results, err := resultstore.Open(t.Context(), f.clickHouse.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer results.Close()
	if err := results.Insert(t.Context(), resultstore.Batch{Token: "one", Prober: "p1", Region: "eu", Rows: []uptime.Result{up(f.target.ID, time.Now())}}); err != nil {
		t.Fatal(err)
	}
	f.node = start(t, f.database.URL(), f.redis.URL(), f.clickHouse.URL())
	return f
}

// measure announces a result of this moment.
func (f *fleet) measure(status uptime.Status) {
	f.Helper()
	r := up(f.target.ID, time.Now())
	if r.Status = status; status == uptime.StatusDown {
		r.Failure, r.HTTPStatus = uptime.FailureStatusCode, 503
	}
	if err := livefeed.NewAnnouncer(openRedis(f.T, f.redis)).Announce(f.Context(), []uptime.Result{r}); err != nil {
		f.Fatal(err)
	}
}

var ageOfPage = regexp.MustCompile(`Updated (\d+) seconds? ago`)

// shows says whether the page answers with all that is wanted, and without what is after a "!".
// Whatever it shows, it answers soon, and green stands on evidence of this minute.
func (f *fleet) shows(wanted ...string) bool {
	f.Helper()
	_, code, body, took := f.get("/s/main")
	if code != http.StatusOK || took > promptly {
		f.Fatalf("%d after %v: %s", code, took, body)
	}
	green := strings.Contains(body, "All systems are operational") || strings.Contains(body, "<b>Operational</b>")
	if found := ageOfPage.FindStringSubmatch(body); green {
		if found == nil {
			f.Fatalf("green, and it is not said since when: %s", body)
		}
		// Two intervals and the timeout, and what a copy may be old.
		if seconds, err := strconv.Atoi(found[1]); err != nil || seconds > 2*2+1+2 {
			f.Fatalf("green on evidence %s s old", found[1])
		}
	}
	for _, want := range wanted {
		not, absent := strings.CutPrefix(want, "!")
		if strings.Contains(body, not) == absent {
			return false
		}
	}
	return true
}

const (
	allGreen  = "All systems are operational"
	unknown   = "There is no current data for some systems"
	oldDays   = "The daily history is as of"
	oldWords  = "Reports and maintenance are as of"
	whatWeSay = "We look into it."
)

// A page stays while one store after the other is stopped, says how old what it shows is, and
// comes back by itself.
func TestStatusPageOutlivesEveryStore(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	code, text := f.call("POST", "/api/v1/status-pages", fmt.Sprintf(`{"slug":"main","title":"Acme","published":true,"groups":[{"components":[{"name":"Site","target_ids":[%d]}]}]}`, f.target.ID))
	if code != http.StatusCreated {
		t.Fatalf("%d %s", code, text)
	}
	if code, text := f.call("POST", "/api/v1/status-pages/1/posts", `{"title":"Slow","text":"`+whatWeSay+`"}`); code != http.StatusCreated {
		t.Fatalf("%d %s", code, text)
	}
	feeding := func(wanted ...string) func() bool {
		return func() bool { f.measure(uptime.StatusUp); return f.shows(wanted...) }
	}
	f.await("all is well", feeding(allGreen, whatWeSay, "% uptime", "!cannot be read"))

	f.clickHouse.Stop()
	f.await("without ClickHouse: states go on, the days are of before", feeding(allGreen, whatWeSay, "% uptime", oldDays, "!"+oldWords))

	f.redis.Stop()
	f.await("without Redis: the evidence ages", func() bool { return f.shows(unknown, whatWeSay, oldDays, "!"+oldWords, "!"+allGreen) })

	f.database.Stop()
	f.await("without the database: what was read last", func() bool { return f.shows(unknown, whatWeSay, oldDays, oldWords, "!"+allGreen) })
	for _, path := range []string{"/s/main/feed.atom", "/s/main/api/v2/summary.json", "/s/main/badge.svg", "/s/main/state.json"} {
		if _, code, body, took := f.get(path); code != http.StatusOK || took > promptly || strings.Contains(body, allGreen) {
			t.Errorf("%s: %d after %v", path, code, took)
		}
	}
	if _, code, _, took := f.get("/s/other"); code != http.StatusNotFound || took > promptly {
		t.Errorf("a page that is not there: %d after %v", code, took)
	}

	f.redis.Restart() // the database stays away: states come back without it
	f.await("Redis is back", feeding(allGreen, whatWeSay, oldDays, oldWords))
	f.await("a failure is shown while the database is away", func() bool {
		f.measure(uptime.StatusDown)
		return f.shows("Some systems are down", oldWords)
	})
	f.database.Restart()
	f.await("the database is back", feeding(allGreen, whatWeSay, "!"+oldWords))
	f.clickHouse.Restart()
	f.await("all as it was", feeding(allGreen, whatWeSay, "% uptime", "!cannot be read"))
}
