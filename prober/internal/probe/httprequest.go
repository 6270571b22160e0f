package probe

import (
	"bytes"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/probefleet/probefleet/internal/redact"
	"github.com/probefleet/probefleet/internal/uptime"
)

// request reads what is sent besides the URL. What could change how the request itself
// is read (RFC 9112) is refused, here too.
func (h *httpVisitor) request(secrets *keyring) error {
	if h.spec.Method != "" {
		h.method = h.spec.Method
	}
	if !httpguts.ValidHeaderFieldName(h.method) || h.method == http.MethodConnect {
		return errors.New("this method cannot be sent")
	}
	for _, line := range h.spec.Headers {
		value, err := secrets.header(line)
		if err != nil {
			return err
		}
		if err := h.add(line.Name, value); err != nil {
			return err
		}
	}
	if err := h.authenticate(secrets); err != nil {
		return err
	}
	var err error
	h.body, err = secrets.open(h.spec.BodySecret, h.spec.Body)
	if h.spec.BodySecret != "" {
		secrets.noteBody(h.body)
	}
	return err
}

// query adds what of the query is secret to the URL of the first hop.
func (h *httpVisitor) query(first *url.URL, secrets *keyring) error {
	part, err := secrets.open(h.spec.QuerySecret, "")
	if err != nil || part == "" {
		return err
	}
	secrets.noteValues(part)
	if first.RawQuery != "" {
		part = first.RawQuery + "&" + part
	}
	first.RawQuery = part
	return nil
}

func (h *httpVisitor) authenticate(secrets *keyring) error {
	password, err := secrets.open(h.spec.Password, "")
	if err != nil {
		return err
	}
	token, err := secrets.open(h.spec.Token, "")
	switch {
	case err != nil:
		return err
	case h.spec.Username != "" || password != "":
		pair := base64.StdEncoding.EncodeToString([]byte(h.spec.Username + ":" + password))
		secrets.note(pair)
		return h.add("Authorization", "Basic "+pair)
	case token != "":
		return h.add("Authorization", "Bearer "+token)
	}
	return nil
}

// add takes a line of the request.
func (h *httpVisitor) add(name, value string) error {
	if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) || uptime.ReservedHeader(name) {
		return fmt.Errorf("the header %.40q cannot be sent", name)
	}
	h.headers = append(h.headers, header{name, value})
	switch http.CanonicalHeaderKey(name) {
	case "User-Agent":
		h.agent = ""
	case "Accept":
		h.accepts = true
	case "Accept-Encoding":
		h.encodes = true
	}
	return nil
}

// tlsFor is the configuration of hops to a host. A server name the user wrote is for the
// first host alone.
func (h *httpVisitor) tlsFor(host string) *tls.Config {
	spec := h.secure
	if spec != nil && spec.ServerName != "" && host != h.host {
		other := *spec
		other.ServerName = ""
		spec = &other
	}
	return h.dialer.tlsOf(spec, host, protocolsOf(h.spec.Version)...)
}

// request is one hop, made ready.
type request struct {
	at      address
	url     string
	shown   string // its URL, for people
	own     bool   // no redirect has led elsewhere yet
	method  string
	body    string
	cookies []*http.Cookie
	bytes   []byte        // all that is sent over HTTP/1.1
	asked   *http.Request // tells http.ReadResponse which answers have a body
	config  *tls.Config   // nil: plain
}

// where is its URL, taken apart: seldom needed, and large.
func (r *request) where() *url.URL {
	u, err := url.Parse(r.url)
	if err != nil { // it was a URL when the request was made
		return &url.URL{}
	}
	return u
}

// requestTo writes a request to a URL and what it comes to. own says that it goes where the
// user sent it: only then does it carry the user's headers.
func (h *httpVisitor) requestTo(link string, at address, method string, own bool, body string, cookies []*http.Cookie) *request {
	r := &request{at: at, url: link, shown: redact.URL(link), own: own, method: method, body: body, cookies: cookies, asked: asking(method)}
	out := append(make([]byte, 0, 512+len(at.uri)), method...)
	out = append(append(out, ' '), at.uri...)
	out = append(append(out, " HTTP/1.1\r\nHost: "...), at.header...)
	for _, line := range h.lines(r) {
		out = append(append(append(append(out, "\r\n"...), line.name...), ": "...), line.value...)
	}
	if body != "" || method == http.MethodPost || method == http.MethodPut || method == http.MethodPatch {
		out = strconv.AppendInt(append(out, "\r\nContent-Length: "...), int64(len(body)), 10)
	}
	r.bytes = bytes.Clone(append(append(out, "\r\nConnection: close\r\n\r\n"...), body...)) // no longer than it is: there is one for each target
	if at.secure {
		r.config = h.tlsFor(at.host)
	}
	return r
}

// asking is shared by targets: there is a request for each of them.
func asking(method string) *http.Request {
	if method == http.MethodGet {
		return askingGET
	}
	return &http.Request{Method: method}
}

var askingGET = &http.Request{Method: http.MethodGet}

// lines are the headers of a request, but for those that depend on the protocol.
func (h *httpVisitor) lines(r *request) []header {
	own, cookies := r.own, r.cookies
	lines := make([]header, 0, 4+len(h.headers))
	if !own || h.agent != "" {
		lines = append(lines, header{"User-Agent", h.web.agent})
	}
	if !own || !h.accepts {
		lines = append(lines, header{"Accept", "*/*"})
	}
	if !own || !h.encodes {
		lines = append(lines, header{"Accept-Encoding", h.encodings()})
	}
	if own {
		lines = append(lines, h.headers...)
	}
	if len(cookies) > 0 {
		pairs := make([]string, len(cookies))
		for i, cookie := range cookies {
			pairs[i] = cookie.Name + "=" + cookie.Value
			if cookie.Quoted {
				pairs[i] = cookie.Name + `="` + cookie.Value + `"`
			}
		}
		lines = append(lines, header{"Cookie", strings.Join(pairs, "; ")})
	}
	return lines
}

func (h *httpVisitor) encodings() string {
	if h.spec.Compressed {
		return "gzip, br, zstd"
	}
	return "identity"
}

// command implements visitor. What is sent is never curl's name of a file (--data-raw), nor
// is the URL a pattern (-g).
func (h *httpVisitor) command() string {
	words := []string{"curl", "-sS", "-g", "-i"}
	sends := h.body != "" || h.method == http.MethodPost
	switch {
	case h.method == http.MethodPost: // what is sent makes it one, and a GET follows a redirect
	case h.method == http.MethodHead && !sends:
		words[len(words)-1] = "-I"
	case h.method != http.MethodGet || sends:
		words = append(words, "-X", h.method)
	}
	if flag := versionFlag(h.spec.Version); flag != "" {
		words = append(words, flag)
	}
	if h.secure != nil && h.secure.SkipVerify {
		words = append(words, "-k")
	}
	typed := false
	for _, line := range h.headers {
		typed = typed || strings.EqualFold(line.name, "Content-Type")
		text := line.name + ": " + line.value
		switch {
		case redact.Name(line.name) || slices.ContainsFunc(h.spec.Headers, func(l uptime.Header) bool { return l.Name == line.name && l.Secret != "" }):
			text = line.name + ": …"
		case line.value == "": // curl takes a colon without a value for a header to leave out
			text = line.name + ";"
		}
		words = append(words, "-H", quoted(text))
	}
	if sends {
		body := shownSend(h.body)
		if h.spec.BodySecret != "" {
			body = "…"
		}
		if !typed { // curl would say that it is a form
			words = append(words, "-H", quoted("Content-Type:"))
		}
		words = append(words, "--data-raw", quoted(body))
	}
	if h.spec.Compressed {
		words = append(words, "--compressed")
	}
	if h.spec.Cookies {
		words = append(words, "-b", quoted(""))
	}
	if h.redirects > 0 {
		words = append(words, "-L", "--max-redirs", strconv.Itoa(h.redirects))
	}
	if h.family != uptime.FamilyAny {
		words = append(words, "-"+string(h.family))
	}
	return strings.Join(append(words, quoted(h.first.shown)), " ")
}

// versionFlag is how curl is told a version, which it would choose itself.
func versionFlag(version uptime.HTTPVersion) string {
	switch version {
	case uptime.HTTP1:
		return "--http1.1"
	case uptime.HTTP2:
		return "--http2"
	case uptime.HTTP3:
		return "--http3-only"
	}
	return ""
}
