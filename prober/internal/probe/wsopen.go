package probe

import (
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // what RFC 6455 §1.3 wants; it proves that the server read the key, and secures nothing
	"encoding/base64"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/probefleet/probefleet/internal/uptime"
)

// wsAsked tells http.ReadResponse what was asked.
var wsAsked = &http.Request{Method: http.MethodGet}

// newWSKey gives 16 random bytes in base64 (RFC 6455 §4.1).
func newWSKey() string {
	var key [16]byte
	_, _ = rand.Read(key[:]) // never an error
	return base64.StdEncoding.EncodeToString(key[:])
}

// wsAccept is what a server makes of a key (RFC 6455 §4.2.2).
func wsAccept(key string) string {
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")) //nolint:gosec // as above
	return base64.StdEncoding.EncodeToString(sum[:])
}

// open makes the opening handshake.
func (v *wsVisitor) open(w *wire, key string, s *sighting, hop *uptime.Hop, mark *time.Time) trouble {
	w.budget, w.spent = maxHeaders, errHeadersTooLarge
	w.reader.Reset(w)
	_, err := w.conn.Write(slices.Concat(v.head, []byte(key), v.tail))
	if err == nil || isReset(err) { // a server may have answered already
		_, err = w.reader.Peek(1)
	}
	lap(&hop.Phases.Wait, mark)
	if err != nil {
		return answerTrouble(err, "waiting for an answer")
	}
	defer lap(&hop.Phases.Transfer, mark)
	response, err := w.response(wsAsked) //nolint:bodyclose // the connection is closed as a whole
	if err != nil {
		return answerTrouble(err, "reading the headers")
	}
	s.answered(response)
	hop.Status, hop.Protocol = response.StatusCode, response.Proto
	if response.StatusCode != http.StatusSwitchingProtocols {
		return failed(uptime.FailureStatusCode, answeredWith(response.StatusCode)+", expected 101 Switching Protocols")
	}
	return v.agreed(response.Header, key, s)
}

// agreed checks the server's side of the handshake (RFC 6455 §4.1).
func (v *wsVisitor) agreed(h http.Header, key string, s *sighting) trouble {
	refuse := func(what string) trouble { return failed(uptime.FailureProtocol, "the upgrade went wrong: "+what) }
	accept := h.Values("Sec-WebSocket-Accept")
	protocol := h.Values("Sec-WebSocket-Protocol")
	switch {
	case !strings.EqualFold(h.Get("Upgrade"), "websocket"):
		return refuse("the server does not say that it upgrades to websocket")
	case !httpguts.HeaderValuesContainsToken(h["Connection"], "upgrade"):
		return refuse("the server does not say that it upgrades the connection")
	case len(accept) == 0:
		return refuse("Sec-WebSocket-Accept is missing")
	case len(accept) > 1 || strings.TrimSpace(accept[0]) != wsAccept(key):
		return refuse("Sec-WebSocket-Accept is for another key")
	case strings.Join(h.Values("Sec-WebSocket-Extensions"), "") != "":
		return refuse("the server uses an extension that was not asked for")
	case len(protocol) > 1 || len(protocol) == 1 && !slices.Contains(v.spec.Subprotocols, protocol[0]):
		return refuse("the server chose a subprotocol that was not asked for: " + strconv.Quote(s.text(strings.Join(protocol, ", "), maxShownWord)))
	}
	return trouble{}
}
