package incidentstore_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/internal/incidentstore"
)

// broken puts something into a column that this release cannot read.
func (r *rig) broken(table, column string, id int64, text string) {
	r.Helper()
	r.must(r.db.Write().Exec("UPDATE "+table+" SET "+column+" = ? WHERE id = ?", text, id).Error)
}

// A rule of another release speaks by what can be read of it, beside all others, and is not changed.
func TestRuleThatCannotBeRead(t *testing.T) {
	each(t, planner{}, func(r *rig) {
		lost, err := r.CreateRule(r.Context(), incidentstore.Rule{Name: "lost", Enabled: true, Terms: incidentstore.Terms{Channels: []int64{r.channels[0].ID}}}, noon)
		r.must(err)
		terms := fmt.Sprintf(`{"channels":[%d,%d],"weather":"rain","reminder_minutes":"often","send_resolved":true,`+
			`"quiet":[{"dates":["12-24"],"from":0,"to":0}],"tags":[{"is":"db"}],"severities":["down"],"escalations":[{"after_minutes":5,"unless":"quiet","channels":[7]}]}`, r.channels[0].ID, r.channels[1].ID)
		r.broken("notification_rules", "terms", r.rule.ID, terms)
		r.broken("notification_rules", "terms", lost.ID, `{"channels":`)
		i := r.open(0, 0)
		equal(r.T, "told", r.drain(0, time.Minute), r.told(i.ID, "opened"))
		all, err := r.Rules(r.Context(), 0, 10)
		if err != nil || len(all) != 2 || all[0].Unread == "" || all[1].Unread == "" || len(all[1].Terms.Channels) != 0 {
			r.Fatalf("%+v, %v", all, err)
		}
		want := incidentstore.Terms{ // without conditions of which a part alone would leave out somebody
			Channels: []int64{r.channels[0].ID, r.channels[1].ID}, Severities: []incidentstore.Severity{incidentstore.Down}, SendResolved: true,
			Escalations: []incidentstore.Step{{AfterMinutes: 5, Channels: []int64{7}}},
		}
		if diff := cmp.Diff(want, all[0].Terms); diff != "" {
			r.Error(diff)
		}
		if err := r.DeleteChannel(r.Context(), r.channels[1].ID, 0); !errors.Is(err, incidentstore.ErrInUse) {
			r.Error(err)
		}
		_, err = r.UpdateRule(r.Context(), r.rule.ID, 0, noon, func(rule *incidentstore.Rule) error { rule.Enabled = false; return nil })
		if !errors.Is(err, incidentstore.ErrUnreadable) {
			r.Error(err)
		}
		var kept string
		r.must(r.db.Read().Raw("SELECT terms FROM notification_rules WHERE id = ?", r.rule.ID).Row().Scan(&kept))
		equal(r.T, "its terms", kept, terms)
		for _, rule := range all {
			r.must(r.DeleteRule(r.Context(), rule.ID, 0, noon))
		}
	})
}

// Of what happened people are told although not all that was to be said can be read; what waits behind it is told.
func TestNotificationThatCannotBeRead(t *testing.T) {
	for name, text := range map[string]string{"no JSON": "{", "another type": `{"event":["opened"],"says":"hello","severity":"degraded"}`} {
		t.Run(name, func(t *testing.T) {
			each(t, planner{}, func(r *rig) {
				i, other := r.open(0, 0), r.open(1, time.Second)
				var id int64
				r.must(r.db.Read().Raw("SELECT MIN(id) FROM outbox WHERE incident_id = ? AND channel_id = ?", i.ID, r.channels[0].ID).Row().Scan(&id))
				r.broken("outbox", "payload", id, text)
				b, found := r.claim("a", 0, time.Minute)
				if !found || len(b.Notifications) != 1 {
					r.Fatalf("%+v", b)
				}
				p := b.Notifications[0].Payload
				if p.Event != incidentstore.Opened || p.IncidentID != i.ID || p.Severity == "" || p.Subject.Name == "" || p.At.IsZero() || p.Since.IsZero() || !strings.Contains(p.Explanation, "cannot be read") {
					r.Errorf("%+v", p)
				}
				if name == "another type" && (p.Says != "hello" || p.Severity != incidentstore.Degraded) {
					r.Errorf("what could be read is not said: %+v", p)
				}
				r.settle("a", b, incidentstore.OutcomeDelivered, 0)
				equal(r.T, "behind it", r.drain(0, time.Minute), r.told(other.ID, "opened"))
			})
		})
	}
}

// An incident of another release is listed, and comes to its end.
func TestIncidentThatCannotBeRead(t *testing.T) {
	each(t, planner{}, func(r *rig) {
		i, other := r.open(0, 0), r.open(1, 0)
		r.broken("incidents", "subject", i.ID, `{"name":`)
		r.broken("incidents", "cause", i.ID, `{"explanation":{"text":"x"}}`)
		all, err := r.List(r.Context(), incidentstore.Filter{Limit: 10})
		if err != nil || len(all) != 2 {
			r.Fatalf("%+v, %v", all, err)
		}
		for _, one := range all {
			if told := strings.Contains(one.Cause.Explanation, "cannot be read"); told != (one.ID == i.ID) || one.Subject.Name == "" {
				r.Errorf("%+v", one)
			}
		}
		equal(r.T, "resolved", r.resolve(i.ID, time.Minute) && r.resolve(other.ID, time.Minute), true)
	})
}
