package notify

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/incidentstore"
)

// color is that of a message, as 0xRRGGBB.
func (m Message) color() int {
	switch {
	case m.over():
		return 0x2e7d32
	case m.worst() == incidentstore.Down:
		return 0xc62828
	}
	return 0xed8b00
}

// Slack is an incoming webhook of Slack, or of what takes the same (Mattermost, Rocket.Chat).
type Slack struct {
	URL Secret `json:"url" format:"password" doc:"The incoming webhook's address: https://hooks.slack.com/services/…"`
}

// To is the host.
func (s *Slack) To() string     { return hostOf(s.URL.Reveal()) }
func (s *Slack) origin() string { return s.To() }
func (s *Slack) judge(j *judge) { j.url("url", s.URL.Reveal(), "https") }

func (s *Slack) send(c *call, m Message) error {
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace
	type text struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	var lines strings.Builder
	for _, f := range m.facts() {
		fmt.Fprintf(&lines, "*%s*: %s\n", escape(f.name), escape(f.value))
	}
	fmt.Fprintf(&lines, "<%s|More>", m.link())
	section := map[string]any{"type": "section", "text": text{"mrkdwn", cut(lines.String(), 2900)}} // Slack takes 3000
	_, err := c.postJSON(s.URL.Reveal(), map[string]any{
		"text": escape(m.title()), // of notifications and of readers without blocks
		"attachments": []any{map[string]any{"color": fmt.Sprintf("#%06x", m.color()), "blocks": []any{
			map[string]any{"type": "header", "text": text{"plain_text", m.title()}}, section,
		}}},
	}, nil)
	return err
}

// Discord is a webhook of a Discord channel.
type Discord struct {
	URL Secret `json:"url" format:"password" doc:"The webhook's address: https://discord.com/api/webhooks/…"`
}

// To is the host.
func (d *Discord) To() string     { return hostOf(d.URL.Reveal()) }
func (d *Discord) origin() string { return d.To() }
func (d *Discord) judge(j *judge) { j.url("url", d.URL.Reveal(), "https") }

func (d *Discord) send(c *call, m Message) error {
	type field struct {
		Name   string `json:"name"`
		Value  string `json:"value"`
		Inline bool   `json:"inline"`
	}
	var fields []field
	left := 5000 // an embed has 6000 characters in all
	for _, f := range m.facts() {
		name, value := cut(f.name, 256), cut(f.value, 1024)
		if left -= len([]rune(name)) + len([]rune(value)); left < 0 || len(fields) == 25 {
			break
		}
		if value == "" {
			value = "…" // it must not be empty
		}
		fields = append(fields, field{name, value, false})
	}
	_, err := c.postJSON(d.URL.Reveal(), map[string]any{
		"allowed_mentions": map[string]any{"parse": []string{}}, // names of targets call nobody
		"embeds":           []any{map[string]any{"title": m.title(), "url": m.link(), "color": m.color(), "fields": fields}},
	}, nil)
	return err
}

// Telegram is a chat of a bot.
type Telegram struct {
	Token  Secret `json:"token" format:"password" doc:"The bot's token."`
	ChatID string `json:"chat_id" maxLength:"64" doc:"A number, or @channel."`
	Thread int64  `json:"thread_id,omitempty" minimum:"0" doc:"The topic in a group that has some."`
}

// To is the chat.
func (t *Telegram) To() string   { return t.ChatID }
func (*Telegram) origin() string { return "api.telegram.org" }

func (t *Telegram) judge(j *judge) {
	j.secret("token", t.Token, true)
	if strings.ContainsAny(t.Token.Reveal(), "/?#% ") {
		j.add("token", CodeInvalidText, "this is no token of a bot")
	}
	j.text("chat_id", t.ChatID, 64, true)
	if t.Thread < 0 {
		j.add("thread_id", CodeInvalidValue, "want a topic's number, or leave it out")
	}
}

func (t *Telegram) send(c *call, m Message) error {
	body := map[string]any{"chat_id": t.ChatID, "text": cut(m.title()+"\n"+m.text(), 4096), "link_preview_options": map[string]any{"is_disabled": true}}
	if t.Thread != 0 {
		body["message_thread_id"] = t.Thread
	}
	answer, err := c.postJSON(c.endpoint("telegram", "https://api.telegram.org")+"/bot"+t.Token.Reveal()+"/sendMessage", body, nil)
	if f, failed := err.(*Failure); failed && f.Status == http.StatusTooManyRequests && f.After == 0 { //nolint:errorlint // post says that it is one
		var said struct {
			Parameters struct {
				RetryAfter int `json:"retry_after"`
			} `json:"parameters"`
		}
		if json.Unmarshal(answer, &said) == nil && said.Parameters.RetryAfter > 0 {
			f.After = time.Duration(said.Parameters.RetryAfter) * time.Second
		}
	}
	return err
}

// Teams is a workflow of Microsoft Teams that posts what a webhook receives.
type Teams struct {
	URL Secret `json:"url" format:"password" doc:"The address of the workflow “When a Teams webhook request is received”."`
}

// To is the host.
func (t *Teams) To() string     { return hostOf(t.URL.Reveal()) }
func (t *Teams) origin() string { return t.To() }
func (t *Teams) judge(j *judge) { j.url("url", t.URL.Reveal(), "https") }

func (t *Teams) send(c *call, m Message) error {
	type fact struct {
		Title string `json:"title"`
		Value string `json:"value"`
	}
	var facts []fact
	for _, f := range m.facts() {
		facts = append(facts, fact{f.name, f.value})
	}
	color := map[bool]string{true: "good", false: "attention"}[m.over()]
	_, err := c.postJSON(t.URL.Reveal(), map[string]any{"type": "message", "attachments": []any{map[string]any{
		"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": nil,
		"content": map[string]any{
			"$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4",
			"body": []any{
				map[string]any{"type": "TextBlock", "text": m.title(), "weight": "Bolder", "size": "Medium", "wrap": true, "color": color},
				map[string]any{"type": "FactSet", "facts": facts},
			},
			"actions": []any{map[string]any{"type": "Action.OpenUrl", "title": "More", "url": m.link()}},
		},
	}}}, nil)
	return err
}
