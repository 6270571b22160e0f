package incidentstore_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/incidentstore"
)

// Of one incident a channel is told in order, whatever happens to the first of it; another
// incident, and another channel, wait for neither.
func TestOrderOfAnIncident(t *testing.T) {
	each(t, planner{}, func(r *rig) {
		i := r.open(0, 0)
		r.resolve(i.ID, time.Second)
		other := r.open(1, 2*time.Second)
		b, found := r.claim("a", 0, time.Minute)
		if !found || b.Notifications[0].Event != incidentstore.Opened || b.Notifications[0].IncidentID != i.ID || b.Notifications[0].Attempts != 1 || b.Channel.Config != "sealed" {
			r.Fatalf("%+v", b)
		}
		equal(r.T, "beside", r.drain(0, time.Minute), r.told(other.ID, "opened"))
		r.settle("a", b, incidentstore.OutcomeRetry, 5*time.Minute)
		equal(r.T, "before its time", r.drain(0, 5*time.Minute-1e6), "")
		equal(r.T, "then", r.drain(0, 5*time.Minute), r.told(i.ID, "opened")+" "+r.told(i.ID, "resolved"))
		equal(r.T, "other channel", r.drain(1, time.Minute), r.told(i.ID, "opened")+" "+r.told(i.ID, "resolved")+" "+r.told(other.ID, "opened"))
	})
}

// Whoever dies between claim and completion is replaced: the same key again, nothing skipped.
func TestLeaseRunsOut(t *testing.T) {
	each(t, planner{}, func(r *rig) {
		i := r.open(0, 0)
		dead, _ := r.claim("dead", 0, 0)
		if _, found := r.claim("b", 0, time.Minute-1e6); found {
			r.Error("claimed while it is leased")
		}
		again, found := r.claim("b", 0, time.Minute)
		if !found || again.Key != dead.Key || again.Notifications[0].Key != dead.Notifications[0].Key || again.Notifications[0].Attempts != 2 {
			r.Fatalf("%+v", again)
		}
		r.settle("dead", dead, incidentstore.OutcomeFailed, 0) // not its to say any more
		r.settle("b", again, incidentstore.OutcomeDelivered, 0)
		r.settle("dead", dead, incidentstore.OutcomeRetry, 0)
		equal(r.T, "left", r.drain(0, 2*time.Minute), "")
		_, events, err := r.Get(r.Context(), i.ID)
		r.must(err)
		if diff := cmp.Diff([]string{"answers 500 in eu and us", "ops (webhook): opened"}, texts(events)); diff != "" {
			r.Error(diff)
		}
		all, err := r.Deliveries(r.Context(), r.channels[0].ID, 0, 10)
		if err != nil || len(all) != 3 || all[0].Outcome != incidentstore.OutcomeRetry || all[1].Took != time.Second || all[1].Status != 200 || all[1].Excerpt != "ok" || all[1].Attempt != 2 || all[1].Key != dead.Key {
			r.Errorf("%+v %v", all, err)
		}
		if older, err := r.Deliveries(r.Context(), r.channels[0].ID, all[1].ID, 10); err != nil || len(older) != 1 || older[0] != all[2] {
			r.Errorf("%+v %v", older, err)
		}
	})
}

// A slow one that did deliver after another had taken over has delivered.
func TestLateDeliveryCounts(t *testing.T) {
	each(t, planner{}, func(r *rig) {
		r.open(0, 0)
		slow, _ := r.claim("slow", 0, 0)
		again, _ := r.claim("b", 0, time.Minute)
		r.settle("slow", slow, incidentstore.OutcomeDelivered, 0)
		r.settle("b", again, incidentstore.OutcomeRetry, 0)
		equal(r.T, "left", r.drain(0, 5*time.Minute), "")
	})
}

func texts(events []incidentstore.Event) (all []string) {
	for _, e := range events {
		all = append(all, e.Text)
	}
	return all
}

func TestClaimIsBoundedPerChannelAndGivenToOne(t *testing.T) {
	each(t, planner{}, func(r *rig) {
		for n := range 3 {
			r.open(n, 0)
		}
		var mu sync.Mutex
		var claimers sync.WaitGroup
		taken := map[string]int{}
		for n := range 8 {
			claimers.Go(func() {
				b, found, err := r.Claim(r.Context(), fmt.Sprint("node", n), r.channels[0].ID, 2, noon, noon.Add(time.Minute))
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					r.Error(err)
				} else if found {
					taken[b.Key]++
				}
			})
		}
		claimers.Wait()
		if len(taken) != 2 {
			r.Errorf("%v", taken)
		}
		for key, n := range taken {
			equal(r.T, key, n, 1)
		}
		waiting, err := r.Waiting(r.Context(), noon)
		if err != nil || len(waiting) != 2 {
			r.Errorf("%v %v", waiting, err)
		}
		n, since, err := r.Backlog(r.Context(), noon)
		if err != nil || n != 6 || since != noon {
			r.Errorf("%d since %v %v", n, since, err)
		}
	})
}

// A digest that was sent is sent again as it was, with the same key; what came since waits for the next.
func TestDigestIsFixedOnceSent(t *testing.T) {
	each(t, planner{digest: "rule"}, func(r *rig) {
		r.open(0, 0)
		r.open(1, time.Second)
		sent, found := r.claim("dead", 0, time.Minute)
		if !found || len(sent.Notifications) != 2 {
			r.Fatalf("%+v", sent)
		}
		third := r.open(2, 61*time.Second)
		again, found := r.claim("b", 0, 2*time.Minute)
		if !found || again.Key != sent.Key || len(again.Notifications) != 2 {
			r.Fatalf("%+v", again)
		}
		r.settle("b", again, incidentstore.OutcomeDelivered, 0)
		equal(r.T, "then", r.drain(0, 2*time.Minute), r.told(third.ID, "opened"))
	})
}

func TestReminderFollowsUnlessAcknowledged(t *testing.T) {
	each(t, planner{}, func(r *rig) {
		follow := func(target int, acknowledge bool) string {
			i := r.open(target, 0)
			b, _ := r.claim("a", 0, 0)
			if acknowledge {
				r.must(r.Acknowledge(r.Context(), i.ID, "user:1", "", noon))
			}
			next := incidentstore.Notification{Key: fmt.Sprint("reminder", target), IncidentID: i.ID, ChannelID: r.channels[0].ID, Event: incidentstore.Reminded, Unless: incidentstore.Acknowledged, DueAt: noon.Add(time.Minute)}
			end := incidentstore.Settlement{At: noon, Outcome: incidentstore.OutcomeDelivered, Follow: []incidentstore.Notification{next, next}}
			r.must(r.Settle(r.Context(), "a", b, end))
			return r.drain(0, 2*time.Minute)
		}
		equal(r.T, "reminded", follow(0, false), "1:reminder")
		equal(r.T, "not", follow(1, true), "2:acknowledged")
	})
}

// What waits to be escalated, or to be said again, says how the incident is by then; what is
// held back is replaced by what is told of the change.
func TestWhatWaitsIsRestated(t *testing.T) {
	each(t, planner{}, func(r *rig) {
		i := r.open(0, 0)
		b, _ := r.claim("a", 0, 0)
		r.tx(func(ctx context.Context, tx *gorm.DB) error {
			_, err := r.SetSeverity(ctx, tx, i.ID, "x", incidentstore.Degraded, incidentstore.Cause{Explanation: "slow", Regions: []string{"us"}}, noon.Add(time.Minute))
			return err
		})
		next := incidentstore.Notification{Key: "reminder", IncidentID: i.ID, ChannelID: r.channels[0].ID, Event: incidentstore.Reminded, Payload: b.Notifications[0].Payload, DueAt: noon.Add(20 * time.Minute)}
		r.must(r.Settle(r.Context(), "a", b, incidentstore.Settlement{At: noon, Outcome: incidentstore.OutcomeDelivered, Follow: []incidentstore.Notification{next}}))
		var said []string
		for {
			b, found := r.claim("a", 0, 20*time.Minute)
			if !found {
				break
			}
			p := b.Notifications[0].Payload
			said = append(said, fmt.Sprintf("%s %s %s", b.Notifications[0].Event, p.Severity, p.Explanation))
			r.settle("a", b, incidentstore.OutcomeDelivered, 0)
		}
		equal(r.T, "said", fmt.Sprint(said), "[severity   escalated degraded slow reminder degraded slow]")
	})
}

func TestForget(t *testing.T) {
	each(t, planner{}, func(r *rig) {
		i, open := r.open(0, 0), r.open(1, 0)
		r.drain(0, 0)
		r.resolve(i.ID, time.Minute)
		r.must(r.Forget(r.Context(), noon.Add(time.Hour)))
		var left int
		r.must(r.db.Read().Raw("SELECT COUNT(*) FROM outbox WHERE settled_at_ms IS NOT NULL AND incident_id <> ?", open.ID).Row().Scan(&left))
		equal(r.T, "left", left, 0)
		r.resolve(open.ID, time.Hour) // still known: who was told hears of its end
		equal(r.T, "told", r.drain(0, time.Hour), r.told(i.ID, "resolved")+" "+r.told(open.ID, "resolved"))
		if all, err := r.Deliveries(r.Context(), r.channels[1].ID, 0, 10); err != nil || len(all) != 0 {
			r.Errorf("%v %v", all, err)
		}
	})
}

func TestChannelsAndRules(t *testing.T) {
	each(t, planner{}, func(r *rig) {
		ctx, id := r.Context(), r.channels[0].ID
		if _, err := r.CreateChannel(ctx, incidentstore.Channel{Name: "ops"}, noon); !errors.Is(err, incidentstore.ErrNameTaken) {
			r.Error(err)
		}
		r.open(0, 0)
		off := func(c *incidentstore.Channel) error { c.Enabled, c.Config = false, "other"; return nil }
		got, err := r.UpdateChannel(ctx, id, 1, noon.Add(time.Hour), off)
		if err != nil || got.Version != 2 || got.Config != "other" || !got.UpdatedAt.Equal(noon.Add(time.Hour)) || !got.CreatedAt.Equal(noon) {
			r.Errorf("%+v %v", got, err)
		}
		if again, err := r.UpdateChannel(ctx, id, 2, noon, off); err != nil || again != got {
			r.Errorf("nothing changed: %+v %v", again, err)
		}
		if _, err := r.UpdateChannel(ctx, id, 1, noon, off); !errors.Is(err, incidentstore.ErrConflict) {
			r.Error(err)
		}
		if _, err := r.UpdateChannel(ctx, id, 0, noon, func(c *incidentstore.Channel) error { c.Name = "boss"; return nil }); !errors.Is(err, incidentstore.ErrNameTaken) {
			r.Error(err)
		}
		equal(r.T, "told while disabled", r.drain(0, time.Hour), "")
		if _, err := r.UpdateChannel(ctx, id, 0, noon, func(c *incidentstore.Channel) error { c.Enabled = true; return nil }); err != nil {
			r.Error(err)
		}
		equal(r.T, "told of old things", r.drain(0, time.Hour), "")
		if err := r.DeleteChannel(ctx, id, 0); !errors.Is(err, incidentstore.ErrInUse) {
			r.Error(err)
		}

		terms := incidentstore.Terms{Tags: []string{"prod"}, Severities: []incidentstore.Severity{incidentstore.Down}, Zone: "Europe/Berlin", Schedule: []incidentstore.Window{{Days: []time.Weekday{1, 2}, From: 60, To: 120}},
			Channels: []int64{r.channels[1].ID}, Escalations: []incidentstore.Step{{AfterMinutes: 5, Channels: []int64{r.channels[1].ID}}}, SendResolved: true}
		rule, err := r.UpdateRule(ctx, r.rule.ID, 1, noon, func(rule *incidentstore.Rule) error { rule.Terms = terms; return nil })
		if diff := cmp.Diff(terms, rule.Terms); err != nil || diff != "" || rule.Version != 2 {
			r.Errorf("%v %s", err, diff)
		}
		if read, err := r.Rule(ctx, rule.ID); err != nil || !cmp.Equal(read, rule) {
			r.Errorf("%+v %v", read, err)
		}
		if _, err := r.CreateRule(ctx, incidentstore.Rule{Name: "x", Terms: incidentstore.Terms{Channels: []int64{4711}}}, noon); !errors.Is(err, incidentstore.ErrChannelNotFound) {
			r.Error(err)
		}
		r.must(r.DeleteChannel(ctx, id, 0))
		if _, err := r.Channel(ctx, id); !errors.Is(err, incidentstore.ErrChannelNotFound) {
			r.Error(err)
		}
		r.must(r.DeleteRule(ctx, rule.ID, 2, noon))
		if err := r.DeleteRule(ctx, rule.ID, 0, noon); !errors.Is(err, incidentstore.ErrRuleNotFound) {
			r.Error(err)
		}
		channels, err := r.Channels(ctx, 0, 10)
		rules, err2 := r.Rules(ctx, 0, 10)
		if err != nil || err2 != nil || len(channels) != 1 || channels[0] != r.channels[1] || len(rules) != 0 {
			r.Errorf("%v %v %v %v", channels, rules, err, err2)
		}
		equal(r.T, "a rule that is gone escalates nothing", r.drain(1, time.Hour), "1:opened")
	})
}
