package probe

import (
	"context"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync"

	"golang.org/x/net/publicsuffix"

	"github.com/probefleet/probefleet/internal/guard"
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
	plain  uptime.HTTPSpec // of targets that have none
	wires  sync.Pool       // of *wire
}

func newWeb(o Options, d *dialer) *web {
	agent := "Probefleet/" + strings.TrimPrefix(o.Version, "v")
	if o.Contact != "" {
		agent += " (+" + o.Contact + ")"
	}
	return &web{
		dialer: d,
		agent:  agent,
		wires:  sync.Pool{New: func() any { return newWire() }},
	}
}

// httpVisitor visits one http target.
type httpVisitor struct {
	*web
	spec      *uptime.HTTPSpec
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
		web: w, spec: &w.plain, secure: b.spec.TLS, family: b.spec.Family, agent: w.agent, method: http.MethodGet,
		redirects: maxRedirects, bodyRule: b.asserts.LooksAtBody(), limit: int64(b.asserts.BodyLimit()),
	}
	if b.spec.HTTP != nil {
		h.spec = b.spec.HTTP
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
	if err := h.query(first, b.secrets); err != nil {
		return nil, err
	}
	at, err := takeApart(first)
	if err != nil {
		return nil, fmt.Errorf("this URL cannot be visited: %w", err)
	}
	if !at.secure && (h.spec.Version == uptime.HTTP2 || h.spec.Version == uptime.HTTP3) {
		return nil, fmt.Errorf("HTTP/%s needs an https URL", h.spec.Version)
	}
	h.host = at.host
	h.first = h.requestTo(shared(first.String(), b.url), at, h.method, true, h.body, nil)
	return h, nil
}

// visit implements visitor.
func (h *httpVisitor) visit(ctx context.Context, s *sighting) trouble {
	var jar *cookiejar.Jar
	if h.spec.Cookies {
		jar, _ = cookiejar.New(&cookiejar.Options{PublicSuffixList: publicsuffix.List}) // never an error
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
			jar.SetCookies(r.where(), response.Cookies())
		}
		next, bad := redirect(response, r)
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
	return h.requestTo(next.String(), at, method, own, body, cookies), trouble{}
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
func redirect(response *http.Response, from *request) (*url.URL, trouble) {
	if !isRedirect(response) {
		return nil, trouble{}
	}
	next, err := from.where().Parse(response.Header.Get("Location"))
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
