package probe

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/net/http/httpguts"

	"github.com/probefleet/probefleet/internal/guard"
	"github.com/probefleet/probefleet/internal/redact"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Caps of an HTTP visit.
const (
	maxRedirects = 5
	maxHeaders   = 64 << 10 // bytes of an answer's head
	maxInterim   = 5        // 1xx answers before the real one
)

// web is what all visits of web targets share. Each hop has a fresh connection; there is
// no proxy, and nothing is kept from visit to visit.
type web struct {
	dialer *dialer
	agent  string
	wires  sync.Pool // of *wire
}

func newWeb(o Options, d *dialer) *web {
	return &web{
		dialer: d,
		agent:  "Probefleet/" + strings.TrimPrefix(o.Version, "v") + " (+https://probefleet.example/bot)",
		wires:  sync.Pool{New: func() any { return newWire() }},
	}
}

// httpVisitor visits one http target.
type httpVisitor struct {
	*web
	spec      uptime.HTTPSpec
	host      string // of the first hop
	secure    *uptime.TLSSpec
	family    uptime.Family
	method    string
	body      string
	headers   []header // the user's, and what authenticates; never sent to another origin
	agent     string   // our User-Agent, empty when the user names another
	accepts   bool     // the user says what is accepted
	encodes   bool     // … and encoded how
	redirects int      // followed at most; -1: they are answers like others
	bodyRule  bool     // an assertion looks at the body
	limit     int64    // bytes of the decoded body that are read
	first     *request // made ready
}

type header struct{ name, value string }

func (w *web) compile(b blueprint) (visitor, error) {
	first, err := parseTarget(b.url)
	if err != nil {
		return nil, fmt.Errorf("this URL cannot be visited: %w", err)
	}
	h := &httpVisitor{
		web: w, secure: b.spec.TLS, family: b.spec.Family, agent: w.agent, method: http.MethodGet,
		redirects: maxRedirects, bodyRule: b.asserts.LooksAtBody(), limit: int64(b.asserts.BodyLimit()),
	}
	if b.spec.HTTP != nil {
		h.spec = *b.spec.HTTP
	}
	if err := h.request(b.secrets); err != nil {
		return nil, err
	}
	if h.spec.Redirects != nil {
		h.redirects = min(*h.spec.Redirects, maxRedirects)
	}
	if !b.follow || h.redirects == 0 {
		h.redirects = -1
	}
	at, err := takeApart(first)
	if err != nil {
		return nil, fmt.Errorf("this URL cannot be visited: %w", err)
	}
	if !at.secure && (h.spec.Version == uptime.HTTP2 || h.spec.Version == uptime.HTTP3) {
		return nil, fmt.Errorf("HTTP/%s needs an https URL", h.spec.Version)
	}
	h.host = at.host
	h.first = h.requestTo(at, h.method, true, h.body, nil)
	return h, nil
}

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
		value, err := secrets.open(line.Secret, line.Value)
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
	return err
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
	at     address
	shown  string // its URL, for people
	own    bool   // no redirect has led elsewhere yet
	method string
	lines  []header
	body   string
	bytes  []byte        // all that is sent over HTTP/1.1
	asked  *http.Request // tells http.ReadResponse which answers have a body
	config *tls.Config   // nil: plain
}

// requestTo writes a request. own says that it goes where the user sent it: only then
// does it carry the user's headers.
func (h *httpVisitor) requestTo(at address, method string, own bool, body string, cookies []*http.Cookie) *request {
	r := &request{at: at, shown: redact.URL(at.url.String()), own: own, method: method, body: body, asked: &http.Request{Method: method}}
	r.lines = h.lines(own, cookies)
	out := append(make([]byte, 0, 512+len(at.uri)), method...)
	out = append(append(out, ' '), at.uri...)
	out = append(append(out, " HTTP/1.1\r\nHost: "...), at.header...)
	for _, line := range r.lines {
		out = append(append(append(append(out, "\r\n"...), line.name...), ": "...), line.value...)
	}
	if body != "" || method == http.MethodPost || method == http.MethodPut || method == http.MethodPatch {
		out = strconv.AppendInt(append(out, "\r\nContent-Length: "...), int64(len(body)), 10)
	}
	r.bytes = append(append(out, "\r\nConnection: close\r\n\r\n"...), body...)
	if at.secure {
		r.config = h.tlsFor(at.host)
	}
	return r
}

// lines are the headers of a request, but for those that depend on the protocol.
func (h *httpVisitor) lines(own bool, cookies []*http.Cookie) []header {
	var lines []header
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

// visit implements visitor.
func (h *httpVisitor) visit(ctx context.Context, s *sighting) trouble {
	var jar *cookiejar.Jar
	if h.spec.Cookies {
		jar, _ = cookiejar.New(nil) // never an error
	}
	w := h.wires.Get().(*wire)
	defer h.wires.Put(w)
	r := h.first
	for redirects := 0; ; redirects++ {
		response, bad := h.hop(ctx, w, r, s) //nolint:bodyclose // see wire.exchange
		if !bad.none() {
			return atRedirect(bad, redirects)
		}
		if jar != nil {
			jar.SetCookies(r.at.url, response.Cookies())
		}
		next, bad := redirect(response, r.at.url)
		if next != nil {
			s.Redirect = next.String()
		}
		if next == nil || h.redirects < 0 {
			return bad
		}
		if redirects == h.redirects {
			return failed(uptime.FailureRedirectLimit, fmt.Sprintf("more than %d redirects", h.redirects))
		}
		if r, bad = h.follow(r, next, response.StatusCode, jar); !bad.none() {
			return bad
		}
	}
}

// follow makes the request that a redirect asks for: the same again after 307 and 308,
// else a GET without a body, as RFC 9110 §15.4 lets clients do and browsers do.
func (h *httpVisitor) follow(from *request, next *url.URL, status int, jar *cookiejar.Jar) (*request, trouble) {
	if err := checkScheme(next); err != nil {
		return nil, unknown(uptime.ReasonRedirectBlocked, "redirect to a scheme other than http and https")
	}
	at, err := takeApart(next)
	if err != nil {
		return nil, failed(uptime.FailureProtocol, "redirect to a URL that cannot be visited: "+err.Error())
	}
	method, body := from.method, from.body
	if status != http.StatusTemporaryRedirect && status != http.StatusPermanentRedirect && method != http.MethodGet && method != http.MethodHead {
		method, body = http.MethodGet, ""
	}
	own := from.own && sameOrigin(at, h.first.at)
	if !own {
		body = "" // it may hold secrets
	}
	var cookies []*http.Cookie
	if jar != nil {
		cookies = jar.Cookies(next)
	}
	return h.requestTo(at, method, own, body, cookies), trouble{}
}

func sameOrigin(a, b address) bool {
	return a.secure == b.secure && a.port == b.port && strings.EqualFold(a.host, b.host)
}

func isRedirect(response *http.Response) bool {
	switch response.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return response.Header.Get("Location") != ""
	}
	return false
}

// redirect gives where an answer points, if it is a redirect.
func redirect(response *http.Response, from *url.URL) (*url.URL, trouble) {
	if !isRedirect(response) {
		return nil, trouble{}
	}
	next, err := from.Parse(response.Header.Get("Location"))
	if err != nil {
		return nil, failed(uptime.FailureProtocol, "the Location header is malformed")
	}
	next.Fragment, next.User = "", nil
	return next, trouble{}
}

// atRedirect renames a blocked address that a redirect led to.
func atRedirect(bad trouble, redirects int) trouble {
	if bad.reason == uptime.ReasonBlockedAddress && redirects > 0 {
		return unknown(uptime.ReasonRedirectBlocked, "redirect to a host whose "+guard.ErrBlocked.Error())
	}
	return bad
}

// command implements visitor.
func (h *httpVisitor) command() string {
	words := []string{"curl", "-sS", "-i"}
	if h.method != http.MethodGet {
		words = append(words, "-X", h.method)
	}
	for _, line := range h.headers {
		value := line.value
		if redact.Name(line.name) || slices.ContainsFunc(h.spec.Headers, func(l uptime.Header) bool { return l.Name == line.name && l.Secret != "" }) {
			value = "…"
		}
		words = append(words, "-H", quoted(line.name+": "+value))
	}
	if h.body != "" {
		body := h.body
		if h.spec.BodySecret != "" {
			body = "…"
		}
		words = append(words, "--data-binary", quoted(body))
	}
	if h.redirects > 0 {
		words = append(words, "-L", "--max-redirs", strconv.Itoa(h.redirects))
	}
	if h.family != uptime.FamilyAny {
		words = append(words, "-"+string(h.family))
	}
	return strings.Join(append(words, quoted(h.first.shown)), " ")
}

// quoted makes one word for a POSIX shell of any text.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
