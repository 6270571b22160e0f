package statuspage

import (
	"bytes"
	"html"
	"html/template"
	"regexp"
	"strings"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
)

// writer turns Markdown into what may stand on a page: text, lists, code and links, and
// neither images nor classes, so that nobody who reads is led or seen elsewhere unasked.
type writer struct {
	markdown goldmark.Markdown
	policy   *bluemonday.Policy
	strip    *bluemonday.Policy
}

func newWriter() *writer {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "hr", "strong", "em", "del", "code", "pre", "ul", "ol", "li", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6")
	p.AllowAttrs("href").OnElements("a")
	p.AllowURLSchemes("http", "https", "mailto")
	p.RequireParseableURLs(true)
	p.RequireNoFollowOnLinks(true)
	p.RequireNoReferrerOnLinks(true)
	return &writer{goldmark.New(), p, bluemonday.StrictPolicy()}
}

var blank = regexp.MustCompile(`\s+`)

// write gives the HTML, and the same as plain text.
func (w *writer) write(text string) (template.HTML, string) {
	var out bytes.Buffer
	if err := w.markdown.Convert([]byte(text), &out); err != nil {
		out.Reset()
		out.WriteString(html.EscapeString(text)) // a bytes.Buffer does not fail: cannot happen
	}
	safe := w.policy.SanitizeBytes(out.Bytes())
	plain := html.UnescapeString(w.strip.Sanitize(string(safe)))
	return template.HTML(safe), strings.TrimSpace(blank.ReplaceAllString(plain, " "))
}
