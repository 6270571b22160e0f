package notify

import (
	"fmt"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/incidentstore"
)

const (
	maxTitle = 120 // characters; every provider takes that much
	maxText  = 900
	maxItems = 20 // told one by one in a digest
)

// Message is what is said at once: one notification, or a digest.
type Message struct {
	Key    string // the same whenever it is sent
	Items  []incidentstore.Payload
	Errand any // what is said instead, to whom a Sender of its own knows to write
}

// fact is a line of a message.
type fact struct{ name, value string }

// single is the one item of a message that is no digest.
func (m Message) single() (incidentstore.Payload, bool) {
	if len(m.Items) != 1 {
		return incidentstore.Payload{}, false
	}
	return m.Items[0], true
}

// title is the message in one short line.
func (m Message) title() string {
	if p, one := m.single(); one {
		return titleOf(p)
	}
	over := 0
	for _, p := range m.Items {
		if p.Event == incidentstore.Resolved {
			over++
		}
	}
	return fmt.Sprintf("%d notifications, %d of them resolved", len(m.Items), over)
}

func titleOf(p incidentstore.Payload) string {
	state := word(p.Severity)
	switch p.Event {
	case incidentstore.Resolved:
		state = "Resolved"
	case incidentstore.Acknowledged:
		state = "Acknowledged"
	case incidentstore.Escalated:
		state += ", not acknowledged"
	case incidentstore.Reminded:
		state = "Still " + strings.ToLower(state)
	case incidentstore.Tested:
		state = "Test"
	}
	return cut(state+": "+p.Subject.Name, maxTitle)
}

// facts are the lines of the message.
func (m Message) facts() []fact {
	if p, one := m.single(); one {
		return factsOf(p)
	}
	var all []fact
	for i, p := range m.Items {
		if i == maxItems {
			return append(all, fact{"and", fmt.Sprintf("%d more", len(m.Items)-i)})
		}
		all = append(all, fact{titleOf(p), whyOf(p)})
	}
	return all
}

func factsOf(p incidentstore.Payload) []fact {
	var all []fact
	add := func(name, value string) {
		if value != "" {
			all = append(all, fact{name, cut(value, maxText)})
		}
	}
	since := p.Since.UTC().Format("2006-01-02 15:04:05 UTC")
	switch {
	case !p.ResolvedAt.IsZero():
		add("Lasted", lasted(p.ResolvedAt.Sub(p.Since))+", from "+since)
	case p.At.After(p.Since):
		add("Since", since+", for "+lasted(p.At.Sub(p.Since)))
	default:
		add("Since", since)
	}
	add("Why", p.Explanation)
	add("Regions", strings.Join(p.Regions, ", "))
	if p.Event == incidentstore.Resolved {
		add("Now", p.Says)
	} else {
		add("By", p.By)
		add("Says", p.Says)
	}
	add("Target", p.Subject.URL)
	return all
}

func whyOf(p incidentstore.Payload) string {
	if !p.ResolvedAt.IsZero() {
		return "after " + lasted(p.ResolvedAt.Sub(p.Since))
	}
	return cut(p.Explanation, 200)
}

// link is where to see more.
func (m Message) link() string {
	if len(m.Items) == 0 {
		return ""
	}
	link := m.Items[0].Link
	if len(m.Items) > 1 {
		link = link[:strings.LastIndexByte(link, '/')+1]
	}
	return link
}

// text is the message without its title.
func (m Message) text() string {
	var out strings.Builder
	for _, f := range m.facts() {
		out.WriteString(f.name + ": " + f.value + "\n")
	}
	return out.String() + m.link()
}

// over says whether all that is told of is over.
func (m Message) over() bool {
	for _, p := range m.Items {
		if p.Event != incidentstore.Resolved {
			return false
		}
	}
	return true
}

// worst is the severity of a message.
func (m Message) worst() (worst incidentstore.Severity) {
	for _, severity := range incidentstore.Severities() {
		for _, p := range m.Items {
			if p.Severity == severity {
				worst = severity
			}
		}
	}
	return worst
}

// lasted writes a length of time for people.
func lasted(d time.Duration) string {
	d = d.Round(time.Second)
	days, hours, minutes, seconds := int(d/(24*time.Hour)), int(d/time.Hour)%24, int(d/time.Minute)%60, int(d/time.Second)%60
	switch {
	case days > 0:
		return fmt.Sprintf("%d d %d h", days, hours)
	case hours > 0:
		return fmt.Sprintf("%d h %d min", hours, minutes)
	case minutes > 0:
		return fmt.Sprintf("%d min %d s", minutes, seconds)
	}
	return fmt.Sprintf("%d s", seconds)
}

// cut caps a text in characters.
func cut(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most-1]) + "…"
}

// testPayload is a message that says that a channel works.
func testPayload(channel, publicURL string, event incidentstore.Kind, now time.Time) incidentstore.Payload {
	p := incidentstore.Payload{
		Event: event, At: now, Subject: incidentstore.Subject{Name: channel, URL: publicURL}, Severity: incidentstore.Degraded, Since: now.Add(-5 * time.Minute),
		Explanation: "Somebody tried this channel: nothing is wrong.", Regions: []string{"eu", "us"}, Link: publicURL + "/incidents/0",
	}
	if event == incidentstore.Resolved {
		p.ResolvedAt, p.Says = now, "Nothing was wrong."
	}
	return p
}
