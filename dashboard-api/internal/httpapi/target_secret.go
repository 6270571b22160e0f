package httpapi

import (
	"encoding/json"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/probefleet/probefleet/internal/redact"
	"github.com/probefleet/probefleet/internal/secret"
	"github.com/probefleet/probefleet/internal/spec"
	"github.com/probefleet/probefleet/internal/uptime"
)

// secretText is a secret in a document. It is read in clear, or as the mark that says
// that the stored one stays, and only ever written as the mark.
type secretText struct {
	secret.Text      // it does not print, and so nothing does that holds it
	stored      bool // it stands for the stored one
}

// IsZero says whether there is no secret, nor the mark of one.
func (s secretText) IsZero() bool { return s.Text.IsZero() && !s.stored }

// shownSecret stands for a stored secret in answers.
func shownSecret(sealed uptime.Sealed) secretText { return secretText{stored: sealed != ""} }

// UnmarshalJSON reads a text.
func (s *secretText) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	*s = secretText{Text: secret.New(text)}
	if text == redact.Secret {
		*s = secretText{stored: true}
	}
	return nil
}

// MarshalJSON writes the mark.
func (secretText) MarshalJSON() ([]byte, error) { return json.Marshal(redact.Secret) }

// Schema describes it.
func (secretText) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "password"}
}

// secret gives what is stored of a secret: what was given, sealed; the one before; or none.
func (m *merger) secret(pointer string, in secretText, before uptime.Sealed) uptime.Sealed {
	switch {
	case in.stored && before == "":
		m.mistake(pointer, codeNoSecret, "no secret is stored here that could be kept: write it")
		return ""
	case in.stored:
		return before
	case in.IsZero():
		return ""
	}
	if bad := spec.Secret(pointer, in.Text); bad != nil {
		m.problem(*bad)
	}
	return m.around.seal(in.Text)
}

// headers gives the stored form of headers. A secret is kept by the header's name.
func (m *merger) headers(pointer string, in []headerPart, before []uptime.Header) []uptime.Header {
	if len(in) == 0 {
		return nil
	}
	list := make([]uptime.Header, len(in))
	for i, h := range in {
		list[i] = uptime.Header{Name: h.Name, Value: h.Value}
		if len(in) <= spec.MaxHeaders { // else they are refused as a whole
			list[i].Secret = m.secret(item(pointer, i)+"/secret", h.Secret, secretOf(before, h.Name))
		}
	}
	return list
}

func secretOf(headers []uptime.Header, name string) uptime.Sealed {
	for _, h := range headers {
		if strings.EqualFold(h.Name, name) && h.Secret != "" {
			return h.Secret
		}
	}
	return ""
}
