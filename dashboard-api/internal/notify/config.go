package notify

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/probefleet/probefleet/internal/redact"
	"github.com/probefleet/probefleet/internal/seal"
	"github.com/probefleet/probefleet/internal/secret"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Secret is a secret of a channel. It is read in clear, or as the mark that says that the
// stored one stays, and prints and is written as the mark.
type Secret struct {
	secret.Text
	kept bool // it stands for the stored one
}

// NewSecret wraps a text.
func NewSecret(text string) Secret { return Secret{Text: secret.New(text)} }

// IsZero says whether there is no secret, nor the mark of one.
func (s Secret) IsZero() bool { return s.Text.IsZero() && !s.kept }

// UnmarshalText reads a text.
func (s *Secret) UnmarshalText(text []byte) error {
	*s = Secret{Text: secret.New(string(text))}
	if string(text) == redact.Secret {
		*s = Secret{kept: true}
	}
	return nil
}

// MarshalText writes the mark.
func (Secret) MarshalText() ([]byte, error) { return []byte(redact.Secret), nil }

// Config is how one kind of channel is reached: a pointer to a struct of texts, lists of
// texts, numbers, truth values and Secrets.
type Config interface {
	// To says who is reached, without secrets.
	To() string
	// origin is the host that hears the secrets.
	origin() string
	judge(j *judge)
	send(c *call, m Message) error
}

// Problem is one thing wrong with a configuration.
type Problem struct {
	Field, Code, Message string
}

// Codes of problems: programs rely on them, so they never change.
const (
	CodeRequired     = "required"
	CodeInvalidURL   = "invalid_url"
	CodeInvalidText  = "invalid_text"
	CodeInvalidEmail = "invalid_email"
	CodeInvalidValue = "invalid_value"
	CodeNoSecret     = "no_stored_secret"
	CodeSecretOrigin = "secret_of_another_host"
)

// kinds are the configurations, by kind.
func kinds() map[string]Config {
	return map[string]Config{
		"webhook": &Webhook{}, "email": &Email{},
		"slack": &Slack{}, "discord": &Discord{}, "telegram": &Telegram{}, "teams": &Teams{},
		"pagerduty": &PagerDuty{}, "opsgenie": &Opsgenie{},
		"ntfy": &Ntfy{}, "gotify": &Gotify{}, "pushover": &Pushover{}, "shoutrrr": &Shoutrrr{},
	}
}

// Kinds lists the kinds of channels.
func Kinds() []string {
	var names []string
	for name := range kinds() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Judge says what is wrong with a configuration. Secrets that are to stay are filled in from
// the one before, which is nil for a new channel.
func Judge(config, before Config) []Problem {
	j := &judge{}
	kept := false
	old := reflect.Value{}
	if before != nil && reflect.TypeOf(before) == reflect.TypeOf(config) {
		old = reflect.ValueOf(before).Elem()
	}
	eachSecret(config, func(name string, i int, s *Secret) {
		if !s.kept {
			return
		}
		kept = true
		if old.IsValid() {
			*s, _ = old.Field(i).Interface().(Secret)
		}
		if s.Text.IsZero() {
			*s = Secret{}
			j.add(name, CodeNoSecret, "no secret is stored here that could be kept: write it")
		}
	})
	config.judge(j)
	// Who may edit a channel may not read its secrets, and so may not have them sent elsewhere.
	if kept && len(j.found) == 0 && config.origin() != before.origin() {
		eachSecret(config, func(name string, i int, s *Secret) {
			if was, _ := old.Field(i).Interface().(Secret); !s.IsZero() && *s == was {
				j.add(name, CodeSecretOrigin, "this secret was written for another host: write it again, or remove it")
			}
		})
	}
	return j.found
}

// eachSecret visits the secrets of a configuration.
func eachSecret(config Config, visit func(name string, i int, s *Secret)) {
	value := reflect.ValueOf(config).Elem()
	for i := range value.NumField() {
		if s, is := value.Field(i).Addr().Interface().(*Secret); is {
			visit(nameOf(value.Type().Field(i)), i, s)
		}
	}
}

func nameOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// Seal gives a configuration as it is stored.
func Seal(box *seal.Box, config Config) (uptime.Sealed, error) {
	value := reflect.ValueOf(config).Elem()
	members := map[string]any{}
	for i := range value.NumField() {
		member := value.Field(i).Interface()
		if s, is := member.(Secret); is {
			member = s.Reveal()
		}
		members[nameOf(value.Type().Field(i))] = member
	}
	encoded, err := json.Marshal(members)
	if err != nil {
		return "", fmt.Errorf("seal channel: %w", err)
	}
	return box.Seal(secret.New(string(encoded))), nil
}

// Open gives a stored configuration.
func Open(box *seal.Box, kind string, sealed uptime.Sealed) (Config, error) {
	config, known := kinds()[kind]
	if !known {
		return nil, fmt.Errorf("channels of kind %q are not known to this version", kind)
	}
	opened, err := box.Open(sealed)
	if err != nil {
		return nil, fmt.Errorf("open channel: %w", err)
	}
	if err := json.Unmarshal([]byte(opened.Reveal()), config); err != nil {
		return nil, fmt.Errorf("open channel: its configuration is damaged") // the error could quote it
	}
	return config, nil
}
