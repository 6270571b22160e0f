package notify

import (
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/probefleet/probefleet/internal/incidentstore"
)

// urgent says whether a message should wake somebody.
func (m Message) urgent() bool { return !m.over() && m.worst() == incidentstore.Down }

// Ntfy is a topic of an ntfy server.
type Ntfy struct {
	Server string `json:"server,omitempty" format:"uri" maxLength:"2048" doc:"Default https://ntfy.sh."`
	Topic  string `json:"topic" pattern:"^[-_A-Za-z0-9]{1,64}$" doc:"Who knows it can read along, where the server does not ask for a token."`
	Token  Secret `json:"token,omitempty,omitzero" format:"password" doc:"An access token. Default none."`
}

func (n *Ntfy) server() string {
	if n.Server == "" {
		return "https://ntfy.sh"
	}
	return n.Server
}

// To is the topic.
func (n *Ntfy) To() string     { return hostOf(n.server()) + "/" + n.Topic }
func (n *Ntfy) origin() string { return hostOf(n.server()) }

var topicName = regexp.MustCompile(`^[-_A-Za-z0-9]{1,64}$`)

func (n *Ntfy) judge(j *judge) {
	if n.Server != "" {
		j.url("server", n.Server, "https", "http")
	}
	if !topicName.MatchString(n.Topic) {
		j.add("topic", CodeInvalidText, "a topic has 1 to 64 of A-Z, a-z, 0-9, - and _")
	}
	j.secret("token", n.Token, false)
}

func (n *Ntfy) send(c *call, m Message) error {
	header := http.Header{}
	if !n.Token.IsZero() {
		header.Set("Authorization", "Bearer "+n.Token.Reveal())
	}
	priority, tag := 3, "warning"
	switch {
	case m.over():
		tag = "white_check_mark"
	case m.urgent():
		priority, tag = 5, "rotating_light"
	}
	_, err := c.postJSON(n.server(), map[string]any{"topic": n.Topic, "title": m.title(), "message": cut(m.text(), 3000), "priority": priority, "tags": []string{tag}, "click": m.link()}, header)
	return err
}

// Gotify is an application on a Gotify server.
type Gotify struct {
	Server string `json:"server" format:"uri" maxLength:"2048"`
	Token  Secret `json:"token" format:"password" doc:"The application's token."`
}

// To is the host.
func (g *Gotify) To() string     { return hostOf(g.Server) }
func (g *Gotify) origin() string { return g.To() }

func (g *Gotify) judge(j *judge) {
	j.url("server", g.Server, "https", "http")
	j.secret("token", g.Token, true)
}

func (g *Gotify) send(c *call, m Message) error {
	header := http.Header{"X-Gotify-Key": {g.Token.Reveal()}}
	_, err := c.postJSON(strings.TrimRight(g.Server, "/")+"/message", map[string]any{
		"title": m.title(), "message": m.text(), "priority": map[bool]int{true: 8, false: 5}[m.urgent()],
		"extras": map[string]any{"client::notification": map[string]any{"click": map[string]string{"url": m.link()}}},
	}, header)
	return err
}

// Pushover is a user or group of Pushover.
type Pushover struct {
	Token Secret `json:"token" format:"password" doc:"The application's API token."`
	User  Secret `json:"user" format:"password" doc:"The key of the user or group."`
}

// To is the service: the user's key is a secret.
func (*Pushover) To() string     { return "pushover.net" }
func (*Pushover) origin() string { return "api.pushover.net" }

func (p *Pushover) judge(j *judge) {
	j.secret("token", p.Token, true)
	j.secret("user", p.User, true)
}

func (p *Pushover) send(c *call, m Message) error {
	form := url.Values{
		"token": {p.Token.Reveal()}, "user": {p.User.Reveal()}, "title": {m.title()}, "message": {cut(m.text(), 1000)}, "url": {m.link()}, "url_title": {"More"},
		"priority": {map[bool]string{true: "1", false: "0"}[m.urgent()]},
	}
	if item, one := m.single(); one {
		form.Set("timestamp", strconv.FormatInt(item.At.Unix(), 10))
	}
	_, err := c.post(c.endpoint("pushover", "https://api.pushover.net")+"/1/messages.json", "application/x-www-form-urlencoded", []byte(form.Encode()), nil)
	return err
}
