package statuspage

import (
	"bytes"
	"html"
	"html/template"
	"regexp"
	"strings"
	"sync"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
)

// writer turns Markdown into what may stand on a page: text, lists, code and links, and
// neither images nor classes, so that nobody who reads is led or seen elsewhere unasked.
type writer struct {
	markdown goldmark.Markdown
	policy   *bluemonday.Policy
	strip    *bluemonday.Policy

	// What was written lately, by its text: pages are made again all the time. When the newer
	// generation is full, the older one goes.
	mu           sync.Mutex
	newer, older map[string]inked
	bytes, most  int // of the newer
}

// writtenBytes is how much a generation of what was written holds.
const writtenBytes = 8 << 20

// inked is a text as pages show it.
type inked struct {
	html  template.HTML
	plain string
}

func newWriter() *writer {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "hr", "strong", "em", "del", "code", "pre", "ul", "ol", "li", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6")
	p.AllowAttrs("href").OnElements("a")
	p.AllowURLSchemes("http", "https", "mailto")
	p.RequireParseableURLs(true)
	p.RequireNoFollowOnLinks(true)
	p.RequireNoReferrerOnLinks(true)
	return &writer{markdown: goldmark.New(), policy: p, strip: bluemonday.StrictPolicy(), most: writtenBytes}
}

var blank = regexp.MustCompile(`\s+`)

// write gives the HTML, and the same as plain text.
func (w *writer) write(text string) (template.HTML, string) {
	w.mu.Lock()
	one, found := w.newer[text]
	if !found {
		one, found = w.older[text]
	}
	w.mu.Unlock()
	if !found {
		one = w.render(text) // two at once write the same
	}
	w.keep(text, one)
	return one.html, one.plain
}

func (w *writer) keep(text string, one inked) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, found := w.newer[text]; found {
		return
	}
	size := len(text) + len(one.html) + len(one.plain)
	if w.newer == nil || w.bytes+size > w.most {
		w.older, w.newer, w.bytes = w.newer, map[string]inked{}, 0
	}
	w.newer[text] = one
	w.bytes += size
}

func (w *writer) render(text string) inked {
	var out bytes.Buffer
	if err := w.markdown.Convert([]byte(text), &out); err != nil {
		out.Reset()
		out.WriteString(html.EscapeString(text)) // a bytes.Buffer does not fail: cannot happen
	}
	safe := w.policy.SanitizeBytes(out.Bytes())
	plain := html.UnescapeString(w.strip.Sanitize(string(safe)))
	return inked{template.HTML(safe), strings.TrimSpace(blank.ReplaceAllString(plain, " "))}
}
