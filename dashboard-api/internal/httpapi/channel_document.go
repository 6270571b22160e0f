package httpapi

import (
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/probefleet/probefleet/dashboard-api/internal/notify"
	"github.com/probefleet/probefleet/internal/incidentstore"
)

// ChannelInput is what may be set on a channel: its settings are the member named as its kind.
type ChannelInput struct {
	Name    *string `json:"name,omitempty" maxLength:"120" doc:"Unique."`
	Kind    *string `json:"kind,omitempty" doc:"That of the settings: it can be left out, and must not contradict. It does not change."`
	Enabled *bool   `json:"enabled,omitempty" doc:"False: nothing is told here, and what waits is dropped. Default true."`

	Webhook   *notify.Webhook   `json:"webhook,omitempty"`
	Email     *notify.Email     `json:"email,omitempty"`
	Slack     *notify.Slack     `json:"slack,omitempty"`
	Discord   *notify.Discord   `json:"discord,omitempty"`
	Telegram  *notify.Telegram  `json:"telegram,omitempty"`
	Teams     *notify.Teams     `json:"teams,omitempty"`
	PagerDuty *notify.PagerDuty `json:"pagerduty,omitempty"`
	Opsgenie  *notify.Opsgenie  `json:"opsgenie,omitempty"`
	Ntfy      *notify.Ntfy      `json:"ntfy,omitempty"`
	Gotify    *notify.Gotify    `json:"gotify,omitempty"`
	Pushover  *notify.Pushover  `json:"pushover,omitempty"`
	Shoutrrr  *notify.Shoutrrr  `json:"shoutrrr,omitempty"`
}

// channelBody is a channel in answers.
type channelBody struct {
	ID        int64   `json:"id"`
	Name      string  `json:"name"`
	Kind      string  `json:"kind"`
	To        string  `json:"to" doc:"who is reached, without secrets"`
	Enabled   bool    `json:"enabled"`
	Readable  bool    `json:"readable" doc:"false: it was sealed with another SECRET_KEY; write its settings again"`
	Version   int64   `json:"version" doc:"rises with every change; the ETag"`
	CreatedAt instant `json:"created_at"`
	UpdatedAt instant `json:"updated_at"`

	Webhook   *notify.Webhook   `json:"webhook,omitempty" doc:"the settings, like those of the other kinds; secrets are shown as [secret]"`
	Email     *notify.Email     `json:"email,omitempty"`
	Slack     *notify.Slack     `json:"slack,omitempty"`
	Discord   *notify.Discord   `json:"discord,omitempty"`
	Telegram  *notify.Telegram  `json:"telegram,omitempty"`
	Teams     *notify.Teams     `json:"teams,omitempty"`
	PagerDuty *notify.PagerDuty `json:"pagerduty,omitempty"`
	Opsgenie  *notify.Opsgenie  `json:"opsgenie,omitempty"`
	Ntfy      *notify.Ntfy      `json:"ntfy,omitempty"`
	Gotify    *notify.Gotify    `json:"gotify,omitempty"`
	Pushover  *notify.Pushover  `json:"pushover,omitempty"`
	Shoutrrr  *notify.Shoutrrr  `json:"shoutrrr,omitempty"`
}

// settings are the members of a document that hold settings, by name.
func settings(document any) map[string]reflect.Value {
	all := map[string]reflect.Value{}
	value := reflect.ValueOf(document).Elem()
	for i := range value.NumField() {
		if _, is := value.Field(i).Interface().(notify.Config); is {
			name, _, _ := strings.Cut(value.Type().Field(i).Tag.Get("json"), ",")
			all[name] = value.Field(i)
		}
	}
	return all
}

func (a *api) channelOf(c incidentstore.Channel) channelBody {
	body := channelBody{ID: c.ID, Name: c.Name, Kind: c.Kind, Enabled: c.Enabled, Version: c.Version, CreatedAt: instant(c.CreatedAt), UpdatedAt: instant(c.UpdatedAt)}
	if config, err := notify.Open(a.Box, c.Kind, c.Config); err == nil {
		body.To, body.Readable = config.To(), true
		settings(&body)[c.Kind].Set(reflect.ValueOf(config))
	}
	return body
}

// mergeChannel lays an input over a channel, and answers every mistake; with one or more of
// them the channel must not be used.
func (a *api) mergeChannel(c *incidentstore.Channel, in ChannelInput, null nulls) (found []Mistake) {
	mistake := func(pointer, code, message string) {
		found = append(found, Mistake{Pointer: pointer, Code: code, Message: message})
	}
	name, bad := givenName(in.Name, null["name"], c.Name)
	c.Name, found = name, append(found, bad...)
	if in.Enabled != nil || null["enabled"] {
		c.Enabled = in.Enabled == nil || *in.Enabled
	}
	var kinds []string
	parts := settings(&in)
	for kind, part := range parts {
		if !part.IsNil() {
			kinds = append(kinds, kind)
		}
	}
	slices.Sort(kinds)
	was := c.Kind
	switch {
	case len(kinds) > 1:
		mistake("/"+kinds[1], codeKindMismatch, "a channel has the settings of one kind: here are those of "+strings.Join(kinds, " and "))
		return found
	case len(kinds) == 1:
		c.Kind = kinds[0]
	case in.Kind != nil && !slices.Contains(notify.Kinds(), *in.Kind):
		mistake("/kind", codeUnknownKind, "the kind is one of: "+strings.Join(notify.Kinds(), ", "))
		return found
	case was == "":
		pointer := "/kind"
		if in.Kind != nil {
			pointer = "/" + *in.Kind
		}
		mistake(pointer, codeRequired, "a channel needs settings: a member named as its kind, one of: "+strings.Join(notify.Kinds(), ", "))
		return found
	}
	if was != "" && c.Kind != was || in.Kind != nil && *in.Kind != c.Kind {
		mistake("/kind", codeKindMismatch, "this is a channel of kind "+c.Kind+": make another channel for another kind")
		return found
	}
	if len(kinds) == 0 {
		return found
	}
	config, _ := parts[c.Kind].Interface().(notify.Config)
	before, err := notify.Open(a.Box, c.Kind, c.Config)
	if err != nil {
		before = nil
	}
	for _, p := range notify.Judge(config, before) {
		mistake("/"+c.Kind+"/"+p.Field, p.Code, p.Message)
	}
	if len(found) == 0 {
		if c.Config, err = notify.Seal(a.Box, config); err != nil {
			mistake("/"+c.Kind, codeInvalidText, "this cannot be stored")
		}
	}
	return found
}

// givenName judges a name that must be there.
func givenName(in *string, null bool, before string) (name string, found []Mistake) {
	if in == nil && !null && before != "" {
		return before, nil
	}
	switch name = strings.TrimSpace(deref(in)); {
	case name == "":
		found = append(found, needed("/name"))
	case utf8.RuneCountInString(name) > maxName:
		found = append(found, Mistake{Pointer: "/name", Code: codeTooLong, Message: "a name has at most 120 characters"})
	case strings.ContainsFunc(name, unicode.IsControl):
		found = append(found, Mistake{Pointer: "/name", Code: codeInvalidText, Message: "a name has no control characters in it"})
	}
	return name, found
}
