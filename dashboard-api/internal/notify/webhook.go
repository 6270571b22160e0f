package notify

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"

	"github.com/probefleet/probefleet/internal/incidentstore"
)

// Webhook is an address of yours that takes signed JSON.
type Webhook struct {
	URL           Secret `json:"url" format:"password" doc:"http(s)://HOST/PATH. It may hold a token, and so is not shown again."`
	Secret        Secret `json:"secret" format:"password" doc:"Key of the signature: X-Probefleet-Signature is v1= and the HMAC-SHA256, in hex, of X-Probefleet-Timestamp, a dot and the body."`
	Authorization Secret `json:"authorization,omitempty,omitzero" format:"password" doc:"The Authorization header to send, such as Bearer TOKEN. Default none."`
}

// To is the host.
func (w *Webhook) To() string     { return hostOf(w.URL.Reveal()) }
func (w *Webhook) origin() string { return w.To() }

func (w *Webhook) judge(j *judge) {
	j.url("url", w.URL.Reveal(), "https", "http")
	j.secret("secret", w.Secret, true)
	if n := len(w.Secret.Reveal()); n > 0 && n < 16 {
		j.add("secret", CodeInvalidText, "a signing key has at least 16 bytes")
	}
	j.secret("authorization", w.Authorization, false)
}

// hookBody is what a webhook gets. It is the same at every attempt.
type hookBody struct {
	ID            string                  `json:"id"`
	Title         string                  `json:"title"`
	Text          string                  `json:"text"`
	Notifications []incidentstore.Payload `json:"notifications"`
}

func (w *Webhook) send(c *call, m Message) error {
	body, err := json.Marshal(hookBody{m.Key, m.title(), m.text(), m.Items})
	if err != nil {
		return err
	}
	header := http.Header{}
	if !w.Authorization.IsZero() {
		header.Set("Authorization", w.Authorization.Reveal())
	}
	_, err = c.signed(w.URL.Reveal(), w.Secret.Reveal(), m.Key, body, header)
	return err
}

// Signature is that of a webhook's body.
func Signature(key, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	return "v1=" + hex.EncodeToString(mac.Sum(nil))
}
