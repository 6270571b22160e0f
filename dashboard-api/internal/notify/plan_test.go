package notify

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/incidentstore"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func incident() incidentstore.Incident {
	return incidentstore.Incident{
		ID: 12, TargetID: 7, FirstSlot: noon.Add(-5 * time.Minute), Severity: incidentstore.Down, OpenedAt: noon,
		Subject: incidentstore.Subject{Name: "shop", URL: "https://shop.example/", Kind: "http", Tags: []string{"prod", "eu"}},
		Cause:   incidentstore.Cause{Explanation: "answers 500 in eu and us", Failure: "status_code", Regions: []string{"eu", "us"}, HTTPStatus: 500},
	}
}

func change(kind incidentstore.Kind) incidentstore.Change {
	return incidentstore.Change{Incident: incident(), Key: string(kind), Event: incidentstore.Event{Kind: kind, At: noon, Text: "answers again"}}
}

func book(rules ...incidentstore.Rule) incidentstore.Book {
	b := incidentstore.Book{Rules: rules, Channels: map[int64]bool{1: true, 2: true, 3: true}}
	for i := range b.Rules {
		b.Rules[i].ID, b.Rules[i].Enabled = int64(i+1), true
	}
	return b
}

func rule(t terms) incidentstore.Rule { return incidentstore.Rule{Terms: t} }

// planned is a plan as "opened c1 +0s", one a line.
func planned(c incidentstore.Change, b incidentstore.Book) string {
	var lines []string
	for _, n := range (Planner{PublicURL: "https://pf.example"}).Plan(c, b) {
		line := fmt.Sprintf("%s c%d r%d +%v", n.Event, n.ChannelID, n.RuleID, n.DueAt.Sub(noon))
		if n.Unless != "" {
			line += " unless " + string(n.Unless)
		}
		if n.Digest != "" {
			line += " in " + n.Digest
		}
		if n.TellResolved {
			line += " resolved"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestWhoIsToldWhen(t *testing.T) {
	t.Parallel()
	opened := change(incidentstore.Opened)
	acknowledged := change(incidentstore.SeverityChanged)
	acknowledged.Key, acknowledged.Incident.AcknowledgedAt = "severity:x", noon
	resolved := change(incidentstore.Resolved)
	resolved.Incident.ResolvedAt = noon
	told := func(b incidentstore.Book, all ...incidentstore.Told) incidentstore.Book {
		b.Told = all
		return b
	}
	quiet := terms{Channels: []int64{1}, Quiet: []window{{From: clock(11, 0), To: clock(13, 0)}}, SendResolved: true}
	for name, c := range map[string]struct {
		change incidentstore.Change
		book   incidentstore.Book
		want   string
	}{
		"nobody":         {opened, book(), ""},
		"every incident": {opened, book(rule(terms{Channels: []int64{1, 2}})), "opened c1 r1 +0s\nopened c2 r1 +0s"},
		"one of the tags": {opened, book(rule(terms{Channels: []int64{1}, Tags: []string{"x", "EU"}}), rule(terms{Channels: []int64{2}, Tags: []string{"x"}})),
			"opened c1 r1 +0s"},
		"target or tag": {opened, book(rule(terms{Channels: []int64{1}, Tags: []string{"x"}, Targets: []int64{7}}), rule(terms{Channels: []int64{2}, Targets: []int64{8}})), "opened c1 r1 +0s"},
		"severity":      {opened, book(rule(terms{Channels: []int64{1}, Severities: []incidentstore.Severity{"degraded"}}), rule(terms{Channels: []int64{2}, Severities: []incidentstore.Severity{"down"}})), "opened c2 r2 +0s"},
		"channel that is off": {opened, func() incidentstore.Book {
			b := book(rule(terms{Channels: []int64{1, 2}}))
			delete(b.Channels, 1)
			return b
		}(), "opened c2 r1 +0s"},
		"quiet hours": {opened, book(rule(quiet)), "opened c1 r1 +1h0m0s unless resolved resolved"},
		"the earlier of two rules": {opened, book(rule(quiet), rule(terms{Channels: []int64{1}})),
			"opened c1 r2 +0s resolved"},
		"digest": {opened, book(rule(terms{Channels: []int64{1}, DigestMinutes: 7})), "opened c1 r1 +6m0s in r1"},
		"escalations and reminders": {opened, book(rule(terms{Channels: []int64{1}, ReminderMinutes: 30, SendResolved: true, Escalations: []incidentstore.Step{
			{AfterMinutes: 10, Channels: []int64{2}}, {AfterMinutes: 20, Channels: []int64{2, 3}}}})),
			"opened c1 r1 +0s resolved\nescalated c2 r1 +10m0s unless acknowledged resolved\nescalated c2 r1 +20m0s unless acknowledged resolved\n" +
				"escalated c3 r1 +20m0s unless acknowledged resolved\nreminder c1 r1 +30m0s unless acknowledged resolved"},
		"acknowledged already":       {acknowledged, book(rule(terms{Channels: []int64{1}, ReminderMinutes: 30, Escalations: []incidentstore.Step{{AfterMinutes: 10, Channels: []int64{2}}}})), "severity c1 r1 +0s"},
		"resolved, who asked to":     {resolved, told(book(rule(quiet)), incidentstore.Told{ChannelID: 1, RuleID: 1, TellResolved: true}, incidentstore.Told{ChannelID: 2, RuleID: 1}), "resolved c1 r1 +1h0m0s resolved"},
		"resolved, the rule is gone": {resolved, told(book(), incidentstore.Told{ChannelID: 1, RuleID: 9, TellResolved: true}), "resolved c1 r0 +0s resolved"},
		"a note":                     {change(incidentstore.Noted), told(book(rule(quiet)), incidentstore.Told{ChannelID: 1, RuleID: 1, TellResolved: true}), ""},
	} {
		if got := planned(c.change, c.book); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

// The same change makes the same keys: however often it is enqueued, it is told once.
func TestKeysAreOfTheChange(t *testing.T) {
	t.Parallel()
	b := book(rule(terms{Channels: []int64{1, 2}, ReminderMinutes: 5, Escalations: []incidentstore.Step{{AfterMinutes: 10, Channels: []int64{1}}, {AfterMinutes: 20, Channels: []int64{1}}}}))
	keys := map[string]bool{}
	for _, n := range (Planner{}).Plan(change(incidentstore.Opened), b) {
		if keys[n.Key] || n.Key == "" {
			t.Errorf("twice: %q", n.Key)
		}
		keys[n.Key] = true
	}
	for _, n := range (Planner{}).Plan(change(incidentstore.Opened), b) {
		if !keys[n.Key] {
			t.Errorf("new: %q", n.Key)
		}
	}
	if len(keys) != 6 {
		t.Errorf("%v", keys)
	}
}

func TestReminders(t *testing.T) {
	t.Parallel()
	r := incidentstore.Rule{Enabled: true, Terms: terms{ReminderMinutes: 30}}
	n := incidentstore.Notification{Key: "i12/reminder/c1/1", Event: incidentstore.Reminded, DueAt: noon, Payload: incidentstore.Payload{Severity: incidentstore.Down, At: noon}, Attempts: 4}
	again, more := Again(r, n, noon.Add(time.Minute))
	if !more || again.Key != "i12/reminder/c1/2" || !again.DueAt.Equal(noon.Add(30*time.Minute)) || !again.Payload.At.Equal(again.DueAt) || again.Attempts != 0 {
		t.Errorf("%+v", again)
	}
	if again, _ := Again(r, n, noon.Add(2*time.Hour+time.Minute)); !again.DueAt.Equal(noon.Add(150 * time.Minute)) {
		t.Errorf("missed ones are made up for: %v", again.DueAt)
	}
	for name, off := range map[string]incidentstore.Rule{"disabled": {Terms: r.Terms}, "without reminders": {Enabled: true}} {
		if _, more := Again(off, n, noon); more {
			t.Error(name)
		}
	}
	n.Event = incidentstore.Opened
	if _, more := Again(r, n, noon); more {
		t.Error("an opening is no reminder")
	}
}

func TestMessages(t *testing.T) {
	t.Parallel()
	payload := func(kind incidentstore.Kind) incidentstore.Payload {
		c := change(kind)
		if kind == incidentstore.Resolved {
			c.Incident.ResolvedAt = noon.Add(2*time.Hour + 5*time.Minute)
		}
		c.Event.Author = map[bool]string{true: "user:1"}[kind == incidentstore.Acknowledged]
		return Planner{PublicURL: "https://pf.example"}.payload(c)
	}
	since := "2026-03-01 11:55:00 UTC"
	for kind, want := range map[incidentstore.Kind]string{
		incidentstore.Opened:       "Down: shop\nSince: " + since + ", for 5 min 0 s\nWhy: answers 500 in eu and us\nRegions: eu, us\nTarget: https://shop.example/\nhttps://pf.example/incidents/12",
		incidentstore.Reminded:     "Still down: shop\nSince: " + since + ", for 5 min 0 s\nWhy: answers 500 in eu and us\nRegions: eu, us\nTarget: https://shop.example/\nhttps://pf.example/incidents/12",
		incidentstore.Escalated:    "Down, not acknowledged: shop\nSince: " + since + ", for 5 min 0 s\nWhy: answers 500 in eu and us\nRegions: eu, us\nTarget: https://shop.example/\nhttps://pf.example/incidents/12",
		incidentstore.Acknowledged: "Acknowledged: shop\nSince: " + since + ", for 5 min 0 s\nWhy: answers 500 in eu and us\nRegions: eu, us\nBy: user:1\nSays: answers again\nTarget: https://shop.example/\nhttps://pf.example/incidents/12",
		incidentstore.Resolved:     "Resolved: shop\nLasted: 2 h 10 min, from " + since + "\nWhy: answers 500 in eu and us\nRegions: eu, us\nNow: answers again\nTarget: https://shop.example/\nhttps://pf.example/incidents/12",
	} {
		m := Message{Items: []incidentstore.Payload{payload(kind)}}
		if got := m.title() + "\n" + m.text(); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", kind, got, want)
		}
	}
	digest := Message{Items: []incidentstore.Payload{payload(incidentstore.Opened), payload(incidentstore.Resolved)}}
	if got, want := digest.title()+"\n"+digest.text(), "2 notifications, 1 of them resolved\nDown: shop: answers 500 in eu and us\nResolved: shop: after 2 h 10 min\nhttps://pf.example/incidents/"; got != want {
		t.Errorf("digest:\n%s\nwant\n%s", got, want)
	}
	for d, want := range map[time.Duration]string{12 * time.Second: "12 s", 26 * time.Hour: "1 d 2 h", time.Minute: "1 min 0 s"} {
		if got := lasted(d); got != want {
			t.Errorf("%v: %q", d, got)
		}
	}
}

// Of the fleet's own troubles hears who hears of everything, or asked to; and not who asked not to.
func TestWhoHearsOfTheFleet(t *testing.T) {
	t.Parallel()
	c, yes, no := change(incidentstore.Opened), true, false
	c.Incident.TargetID, c.Incident.Subject = 0, incidentstore.Subject{Name: "The publisher", Kind: incidentstore.KindFleet}
	rules := book(rule(terms{Channels: []int64{1}}), rule(terms{Tags: []string{"prod"}, Channels: []int64{2}}), rule(terms{Fleet: &yes, Tags: []string{"prod"}, Channels: []int64{3}}))
	if got := planned(c, rules); got != "opened c1 r1 +0s\nopened c3 r3 +0s" {
		t.Error(got)
	}
	if got := planned(c, book(rule(terms{Fleet: &no, Channels: []int64{1}}), rule(terms{Fleet: &yes, Severities: []incidentstore.Severity{incidentstore.Degraded}, Channels: []int64{2}}))); got != "" {
		t.Error(got)
	}
	if got := planned(change(incidentstore.Opened), book(rule(terms{Fleet: &yes, Channels: []int64{1}}), rule(terms{Fleet: &no, Channels: []int64{2}}), rule(terms{Fleet: &yes, Tags: []string{"x"}, Channels: []int64{3}}))); got != "opened c1 r1 +0s\nopened c2 r2 +0s" {
		t.Errorf("of a target: %s", got)
	}
}

// Of a group hears who would hear of any of its members; of a region that is blind, who hears of
// everything.
func TestWhoHearsOfWhatIsAboutNoTarget(t *testing.T) {
	t.Parallel()
	c := change(incidentstore.Opened)
	c.Incident.TargetID, c.Incident.Subject = 0, incidentstore.Subject{Name: "3 targets: address 192.0.2.7", Kind: incidentstore.KindGroup}
	rules := book(rule(terms{Channels: []int64{1}}), rule(terms{Targets: []int64{7, 8}, Channels: []int64{2}}), rule(terms{Tags: []string{"prod"}, Channels: []int64{3}}))
	if got := planned(c, rules); got != "opened c1 r1 +0s" {
		t.Error(got)
	}
	c.Incident.MemberTags = []string{"eu", "prod"}
	if got := planned(c, rules); got != "opened c1 r1 +0s\nopened c3 r3 +0s" {
		t.Error(got)
	}
	c.Incident.Members, c.Incident.MemberTags = []int64{5, 8}, nil
	if got := planned(c, rules); got != "opened c1 r1 +0s\nopened c2 r2 +0s" {
		t.Error(got)
	}
}
