package notify

import (
	"net/http"
	"net/url"
	"time"

	"github.com/probefleet/probefleet/internal/incidentstore"
)

// each sends the items of a message one by one, in order: providers that keep incidents want
// one event each. What was sent before a failure is sent again; by its key it changes nothing.
func (m Message) each(send func(p incidentstore.Payload, one Message) error) error {
	for _, p := range m.Items {
		if err := send(p, Message{Key: m.Key, Items: []incidentstore.Payload{p}}); err != nil {
			return err
		}
	}
	return nil
}

// alertKey names an incident at a provider that keeps some: one of this installation.
func alertKey(p incidentstore.Payload) string { return cut(p.Link, 250) }

func detailsOf(one Message) map[string]string {
	details := map[string]string{}
	for _, f := range one.facts() {
		details[f.name] = f.value
	}
	return details
}

// PagerDuty is an integration of a PagerDuty service with the Events API v2.
type PagerDuty struct {
	RoutingKey Secret `json:"routing_key" format:"password" doc:"The integration key: 32 characters."`
	Region     string `json:"region,omitempty" enum:"us,eu" doc:"Of the account. Default us."`
}

// To is the region.
func (p *PagerDuty) To() string     { return hostOf(p.host()) }
func (p *PagerDuty) origin() string { return p.To() }

func (p *PagerDuty) host() string {
	if p.Region == "eu" {
		return "https://events.eu.pagerduty.com"
	}
	return "https://events.pagerduty.com"
}

func (p *PagerDuty) judge(j *judge) {
	j.secret("routing_key", p.RoutingKey, true)
	if n := len(p.RoutingKey.Reveal()); n != 32 {
		j.add("routing_key", CodeInvalidText, "an integration key has 32 characters")
	}
	j.oneOf("region", p.Region, "", "us", "eu")
}

func (p *PagerDuty) send(c *call, m Message) error {
	return m.each(func(item incidentstore.Payload, one Message) error {
		event := map[string]any{"routing_key": p.RoutingKey.Reveal(), "event_action": "trigger", "dedup_key": alertKey(item)}
		switch item.Event {
		case incidentstore.Resolved:
			event["event_action"] = "resolve"
		case incidentstore.Acknowledged:
			event["event_action"] = "acknowledge"
		default:
			event["payload"] = map[string]any{
				"summary": one.title(), "source": cut(item.Subject.Name, 250), "timestamp": item.Since.UTC().Format(time.RFC3339), "component": cut(item.Subject.URL, 500), "class": item.Failure,
				"severity":       map[bool]string{true: "critical", false: "warning"}[item.Severity == incidentstore.Down],
				"custom_details": detailsOf(one),
			}
			event["client"], event["client_url"] = "Probefleet", one.link()
		}
		_, err := c.postJSON(c.endpoint("pagerduty", p.host())+"/v2/enqueue", event, nil)
		return err
	})
}

// Opsgenie is an API integration of Opsgenie.
type Opsgenie struct {
	Key    Secret `json:"key" format:"password" doc:"The integration's API key."`
	Region string `json:"region,omitempty" enum:"us,eu" doc:"Of the account. Default us."`
}

// To is the region.
func (o *Opsgenie) To() string     { return hostOf(o.host()) }
func (o *Opsgenie) origin() string { return o.To() }

func (o *Opsgenie) host() string {
	if o.Region == "eu" {
		return "https://api.eu.opsgenie.com"
	}
	return "https://api.opsgenie.com"
}

func (o *Opsgenie) judge(j *judge) {
	j.secret("key", o.Key, true)
	j.oneOf("region", o.Region, "", "us", "eu")
}

func (o *Opsgenie) send(c *call, m Message) error {
	header := http.Header{"Authorization": {"GenieKey " + o.Key.Reveal()}}
	return m.each(func(item incidentstore.Payload, one Message) error {
		alerts := c.endpoint("opsgenie", o.host()) + "/v2/alerts"
		alias := alertKey(item)
		body := map[string]any{"source": "Probefleet", "note": cut(one.title()+"\n"+one.text(), 2000)}
		switch item.Event {
		case incidentstore.Resolved:
			alerts += "/" + url.PathEscape(alias) + "/close?identifierType=alias"
		case incidentstore.Acknowledged:
			alerts += "/" + url.PathEscape(alias) + "/acknowledge?identifierType=alias"
		default:
			body["message"], body["alias"], body["description"] = cut(one.title(), 130), alias, cut(one.text(), 15000)
			body["entity"], body["details"] = cut(item.Subject.Name, 512), detailsOf(one)
			body["priority"] = map[bool]string{true: "P1", false: "P3"}[item.Severity == incidentstore.Down]
		}
		_, err := c.postJSON(alerts, body, header)
		return err
	})
}
