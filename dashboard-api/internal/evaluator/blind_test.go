package evaluator

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/internal/blindstore"
	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/livefeed"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

// listener has everything told to one channel.
func (r *rig) listener() {
	r.Helper()
	channel, err := r.incidents.CreateChannel(r.Context(), incidentstore.Channel{Name: "ops", Kind: "webhook", Config: "sealed", Enabled: true}, r.began)
	if err != nil {
		r.Fatal(err)
	}
	_, err = r.incidents.CreateRule(r.Context(), incidentstore.Rule{Name: "all", Enabled: true, Terms: incidentstore.Terms{Channels: []int64{channel.ID}, SendResolved: true}}, r.began)
	if err != nil {
		r.Fatal(err)
	}
}

// told is what was put into the outbox, as "opened Region us", in order.
func (r *rig) told() (all []string) {
	r.Helper()
	rows, err := r.db.Read().WithContext(r.Context()).Raw("SELECT o.event, i.subject FROM outbox o JOIN incidents i ON i.id = o.incident_id ORDER BY o.id").Rows()
	if err != nil {
		r.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var event, subject string
		if err := rows.Scan(&event, &subject); err != nil {
			r.Fatal(err)
		}
		_, name, _ := strings.Cut(subject, `"name":"`)
		name, _, _ = strings.Cut(name, `"`)
		all = append(all, event+" "+name)
	}
	return all
}

// round has a region's prober say how its canaries are, so long after the beginning.
func (r *rig) round(region string, after time.Duration, good bool) {
	r.Helper()
	if err := r.announcer.AnnounceRound(r.Context(), livefeed.Round{Region: region, Prober: region + "-1", At: r.began.Add(after), Good: good, Said: map[bool]string{false: "none of 3 answers"}[good]}); err != nil {
		r.Fatal(err)
	}
}

func (r *rig) blind() (all []string) {
	r.Helper()
	found, err := blindstore.New(r.db).List(r.Context(), blindstore.Filter{Limit: 1000})
	if err != nil {
		r.Fatal(err)
	}
	for _, w := range slices.Backward(found) {
		text := fmt.Sprintf("%s %s %v-", w.Region, w.Sign, w.From.Sub(r.began))
		if !w.To.IsZero() {
			text += fmt.Sprint(w.To.Sub(r.began))
		}
		all = append(all, text)
	}
	return all
}

const ms = time.Millisecond

// What a blind region sees counts for nothing, also after another node has taken over, until it
// is back by itself; people hear of both once.
func TestBlindRegionIsNotAsked(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db *database.DB) {
		r := newRig(t, db, 3)
		r.listener()
		end := r.run()
		for _, w := range r.targets {
			r.say(w.Target.ID, uptime.StatusUp)
		}
		r.round("us", 5*ms, true)
		r.round("us", 6*ms, false)
		r.await("us is blind", func() bool { return len(r.blind()) == 1 })
		lost, fine, other := r.targets[0].Target.ID, r.targets[1].Target.ID, r.targets[2].Target.ID
		r.announce(r.next(lost, "eu", uptime.StatusDown), r.next(lost, "us", uptime.StatusUp), r.next(fine, "eu", uptime.StatusUp), r.next(fine, "us", uptime.StatusDown))
		r.await("the other region decides alone", func() bool { return len(r.targetsDown()) == 1 })
		r.folded()
		end()

		defer r.run()()
		r.announce(r.next(other, "eu", uptime.StatusDown), r.next(other, "us", uptime.StatusUp), r.next(fine, "eu", uptime.StatusUp), r.next(fine, "us", uptime.StatusDown))
		r.await("nor is it asked after a takeover", func() bool { return len(r.targetsDown()) == 2 })
		r.round("us", 25*ms, true)
		r.await("it is back", func() bool { return len(r.told()) == 4 })
		r.announce(r.next(fine, "eu", uptime.StatusDown), r.next(fine, "us", uptime.StatusUp))
		r.folded()
		if diff := cmp.Diff([]int64{lost, other}, r.targetsDown()); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"us canaries 5ms-25ms"}, r.blind()); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"opened Region us", "opened t0", "opened t2", "resolved Region us"}, r.told()); diff != "" {
			t.Error(diff)
		}
	})
}

// targetsDown are those with an open incident, in the order of their ids.
func (r *rig) targetsDown() (ids []int64) {
	for _, i := range r.all() {
		if i.Open() && i.TargetID != 0 {
			ids = append(ids, i.TargetID)
		}
	}
	slices.Sort(ids)
	return ids
}

// A region alone that is blind leaves no data, and nobody is told that anything is down.
//
// Promise: a region without connectivity opens no incident
func TestBlindRegionAloneOpensNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, databasetest.Open(t, testbackend.SQLite(t)), 3)
	r.listener()
	for i := range r.targets {
		r.targets[i].Rules.Regions = []string{"us"}
	}
	defer r.run()()
	for _, w := range r.targets {
		r.announce(r.next(w.Target.ID, "us", uptime.StatusUp))
	}
	r.round("us", 0, true)
	r.round("us", ms, false)
	r.slots = map[int64]int{r.targets[0].Target.ID: 2, r.targets[1].Target.ID: 2, r.targets[2].Target.ID: 2}
	for _, w := range r.targets {
		r.announce(r.next(w.Target.ID, "us", uptime.StatusDown))
	}
	r.folded()
	if diff := cmp.Diff([]string{"opened Region us"}, r.told()); diff != "" {
		t.Error(diff)
	}
}

// Many targets that turn in one region alone are that region's fault: found again by who takes
// over, and over when most are good.
func TestMassChangeOutlivesWhoFoundIt(t *testing.T) {
	t.Parallel()
	r := newRig(t, databasetest.Open(t, testbackend.SQLite(t)), 12)
	r.listener()
	for i := range r.targets {
		r.targets[i].Target.URL = fmt.Sprintf("https://t%d.example/", i)
	}
	end := r.run()
	each := func(us uptime.Status, targets watched) {
		for _, w := range targets {
			r.announce(r.next(w.Target.ID, "eu", uptime.StatusUp), r.next(w.Target.ID, "us", us))
		}
	}
	each(uptime.StatusUp, r.targets)
	each(uptime.StatusDown, r.targets)
	r.await("us is blind", func() bool { return len(r.blind()) == 1 })
	r.folded()
	end()
	r.forget() // it takes long: the stream has nothing of it any more
	defer r.run()()
	each(uptime.StatusUp, r.targets[:6])
	r.folded()
	if diff := cmp.Diff([]string{"us mass_change 10ms-"}, r.blind()); diff != "" {
		t.Error(diff)
	}
	each(uptime.StatusUp, r.targets[6:7])
	r.await("more than half are good", func() bool { return len(r.told()) == 2 })
	if diff := cmp.Diff([]string{"us mass_change 10ms-20ms"}, r.blind()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"opened Region us", "resolved Region us"}, r.told()); diff != "" {
		t.Error(diff)
	}
}

// forget empties the stream, as time does.
func (r *rig) forget() {
	r.Helper()
	if err := r.redis.Commands().XTrimMaxLen(r.Context(), "{pf}:results", 0).Err(); err != nil {
		r.Fatal(err)
	}
}

// Who takes over knows of probers that said something before: one of two with bad canaries makes
// no region blind.
func TestTakeoverKnowsWhoSpokeBefore(t *testing.T) {
	t.Parallel()
	r := newRig(t, databasetest.Open(t, testbackend.SQLite(t)), 1)
	say := func(prober string, after time.Duration, good bool) {
		if err := r.announcer.AnnounceRound(t.Context(), livefeed.Round{Region: "us", Prober: prober, At: r.began.Add(after), Good: good}); err != nil {
			t.Fatal(err)
		}
	}
	end := r.run()
	say("a", 0, true)
	say("b", 0, true)
	r.folded()
	end()
	defer r.run()()
	say("a", ms, false)
	r.folded()
	if got := r.blind(); len(got) > 0 {
		t.Errorf("blind %q", got)
	}
	say("b", ms, false)
	r.await("none is good", func() bool { return slices.Equal(r.blind(), []string{"us canaries 0s-"}) })
}

// A region that checks nothing any more is not blind for ever.
func TestRetiredRegionIsNotBlind(t *testing.T) {
	t.Parallel()
	r := newRig(t, databasetest.Open(t, testbackend.SQLite(t)), 2)
	r.listener()
	end := r.run()
	r.round("us", 0, false)
	r.await("us is blind", func() bool { return len(r.blind()) == 1 })
	end()
	for i := range r.targets {
		r.targets[i].Rules.Regions = []string{"eu"}
	}
	defer r.run()()
	r.await("it is told that it is over", func() bool { return slices.Equal(r.told(), []string{"opened Region us", "resolved Region us"}) })
}

// Whoever evaluates ends at any moment, and two believe to be the one: every window is there
// once, as if one had seen everything, and told once at each end.
func TestEveryWindowOnceWhoeverDies(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		const episodes = 15
		r := newRig(t, db, 2)
		r.listener()
		random := rand.New(rand.NewPCG(3, 4))
		running := []func(){r.run(), r.run()}
		for n := range episodes {
			at := time.Duration(n) * 20 * ms
			r.round("us", at, true)
			r.round("us", at+5*ms, false)
			r.round("us", at+10*ms, false)
			r.say(r.targets[n%2].Target.ID, uptime.StatusUp)
			if n%3 == 0 {
				i := random.IntN(2)
				running[i]()
				running[i] = r.run()
			}
			if n%4 == 1 {
				r.folded()
			}
		}
		r.round("us", time.Second, true)
		r.folded()
		for _, end := range running {
			end()
		}
		var want []string
		for _, w := range r.whole().watch.Windows() {
			want = append(want, fmt.Sprintf("%s %s %v-%v", w.Region, w.Sign, w.From.Sub(r.began), w.To.Sub(r.began)))
		}
		if diff := cmp.Diff(want, r.blind()); diff != "" || len(want) != episodes {
			t.Errorf("%d windows: %s", len(want), diff)
		}
		told := r.told()
		for i, text := range told {
			if text != []string{"opened Region us", "resolved Region us"}[i%2] {
				t.Fatalf("told %q", told)
			}
		}
		if len(told) != 2*episodes {
			t.Errorf("%d told", len(told))
		}
	})
}
