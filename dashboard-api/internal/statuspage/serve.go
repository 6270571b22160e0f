package statuspage

import (
	"embed"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/probefleet/probefleet/internal/pagestore"
)

const (
	prefix    = "/s/"
	documents = "api/v2/" // those that programs look for at the root of a page's own host
)

//go:embed assets templates locales
var files embed.FS

// request is what is asked of a page.
type request struct {
	page      pagestore.Page
	written   written
	writtenAt time.Time
	fine      bool
	rest      string // after the slug, such as feed.atom; "": the page itself
	document  string // of another program; "": what is asked for is ours
	base      string // path of the page
	lang      string
	fixed     bool // for a copy that needs no server
}

// ServeHTTP answers what is asked of pages, and hands the rest on.
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, ours := strings.CutPrefix(r.URL.Path, prefix)
	slug, rest, _ := strings.Cut(path, "/") // on a page's own host what it is asked for follows the first slash
	if ours && slug == "-" {
		if what, token, is := strings.Cut(rest, "/"); is && (what == "confirm" || what == "unsubscribe") {
			p.linked(w, r, what, token)
			return
		}
		p.asset(w, r, rest)
		return
	}
	document := ""
	if !ours {
		if slug, document, ours = foreign(r.URL.Path); ours {
			rest = r.URL.Path // what nobody asks for below a page's path
		}
	}
	all, at, fine := p.written.get(r.Context())
	p.prune(all, at)
	host := p.host(r, all)
	own := slices.IndexFunc(all.pages, func(page pagestore.Page) bool { return host != "" && page.Host == host })
	switch {
	case own < 0 && host != "": // of a page that is not published
		p.notFound(w, r, stranger(r))
		return
	case !ours && own < 0:
		p.Next.ServeHTTP(w, r)
		return
	case at.IsZero():
		p.unavailable(w, r, stranger(r))
		return
	case !ours && rest != "" && !strings.HasPrefix(rest, documents): // nothing but its page is on a page's own host
		p.notFound(w, r, stranger(r))
		return
	}
	found := own
	if ours {
		found = slices.IndexFunc(all.pages, func(page pagestore.Page) bool { return page.Slug == slug })
	}
	if found < 0 || ours && own >= 0 && own != found {
		p.notFound(w, r, stranger(r))
		return
	}
	page := all.pages[found]
	q := request{page: page, written: all, writtenAt: at, fine: fine, rest: rest, document: document, base: prefix + page.Slug, lang: languageOf(r, page.Terms.Language)}
	if !p.admit(w, r, q) {
		return
	}
	if q.rest == "subscribe" {
		p.subscribe(w, r, q)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		p.notAllowed(w, r, q, "GET, HEAD")
		return
	}
	if q.rest == "live" || q.rest == "events" {
		p.live(w, r, q)
		return
	}
	kind, render := p.render(q)
	if q.document != "" {
		kind, render = q.document, p.renderForeign(r.Context(), q)
	}
	if render == nil {
		p.notFound(w, r, q)
		return
	}
	p.send(w, r, q, p.answer(r.Context(), page, all, at, fine, kind, render))
}

// host is the own host of a page that a request is for; "": none, or the dashboard's, whatever a page says.
func (p *Pages) host(r *http.Request, all written) string {
	host := hostOf(r)
	if !slices.Contains(all.hosts, host) || JudgeHost(host, p.PublicURL) != nil {
		return ""
	}
	return host
}

// Owns says whether a request of the API's is for documents of a page at its own host, where programs
// that read those of Atlassian Statuspage look for them.
func (p *Pages) Owns(r *http.Request) bool {
	if !strings.HasPrefix(r.URL.Path, "/"+documents) {
		return false
	}
	all, _, _ := p.written.get(r.Context())
	return p.host(r, all) != ""
}

// secure are the headers of every answer.
func secure(h http.Header, policy string) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
}

const nothing = "default-src 'none'; frame-ancestors 'none'"

func (p *Pages) send(w http.ResponseWriter, r *http.Request, q request, c *copied) {
	h := w.Header()
	h.Add("Vary", "Accept-Encoding, Accept-Language, Cookie")
	t := q.page.Terms
	switch {
	case t.PasswordHash != "" || len(t.Allow) > 0:
		h.Set("Cache-Control", "private, no-cache")
	default:
		h.Set("Cache-Control", "public, max-age=2")
		if c.policy == nothing { // feeds and badges are for other sites, too
			h.Set("Access-Control-Allow-Origin", "*")
		}
	}
	hand(w, r, c)
}

// hand gives a copy in the form that its reader takes, or says that they have it. It is given as a whole:
// who asks for a range gets all of it, as none of it is long.
func hand(w http.ResponseWriter, r *http.Request, c *copied) {
	h := w.Header()
	secure(h, c.policy)
	h.Set("Content-Type", c.media)
	body, tag := c.body, `"`+c.tag+`"`
	if acceptsGzip(r.Header.Get("Accept-Encoding")) {
		h.Set("Content-Encoding", "gzip")
		body, tag = c.small, `"`+c.tag+`-g"`
	}
	h.Set("ETag", tag)
	for _, known := range strings.Split(r.Header.Get("If-None-Match"), ",") {
		if known = strings.TrimPrefix(strings.TrimSpace(known), "W/"); known == tag || known == "*" { // compared weakly (RFC 9110 §13.1.2)
			h.Del("Content-Encoding")
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(body)
	}
}

func acceptsGzip(header string) bool {
	for _, part := range strings.Split(header, ",") {
		name, q, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.EqualFold(name, "gzip") {
			return strings.Trim(strings.TrimPrefix(strings.TrimSpace(q), "q="), "0.") != "" || q == ""
		}
	}
	return false
}

// assets are the files that pages load, by their names.
var assets = sync.OnceValue(func() map[string]*copied { //nolint:gochecknoglobals // constants in all but name: embedded files, compressed once
	all := map[string]*copied{}
	for name, media := range map[string]string{"page.css": "text/css; charset=utf-8", "page.js": mediaJS, "reader.js": mediaJS} {
		content, _ := files.ReadFile("assets/" + name) // embedded: cannot fail
		all[name] = copyOf(rendered{media, content, nothing})
	}
	for _, state := range states() { // an open page needs the icons of all states, not only of its own
		all["icon-"+state+".svg"] = copyOf(rendered{mediaSVG, iconOf(state), nothing})
	}
	return all
})

// asset serves the files that pages load.
func (p *Pages) asset(w http.ResponseWriter, r *http.Request, name string) {
	c := assets()[name]
	if c == nil {
		p.notFound(w, r, stranger(r))
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		p.notAllowed(w, r, stranger(r), "GET, HEAD")
		return
	}
	w.Header().Set("Vary", "Accept-Encoding")
	w.Header().Set("Cache-Control", "no-cache")
	if r.URL.RawQuery != "" { // its hash
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	hand(w, r, c)
}
