package statuspage

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/pagestore"
)

// pageData is what the template of a page is given.
type pageData struct {
	*View
	Base, Lang, Dir, Scheme string
	Banner, Age, ZoneName   string
	Notes                   []string
	Style                   template.HTML
	CSS, JS, Icons, Tag     string
	Reader                  string // the hash of reader.js
	Legend                  []string
	Langs                   []languageName
	Fixed                   bool   // a copy that needs no server
	Policy                  string // of that: there is no header to say it
}

type languageName struct{ Code, Name string }

// functions are those of the templates, in a language and zone.
func functions(lang string, zone *time.Location) template.FuncMap {
	iso := func(at time.Time) string { return at.UTC().Format(time.RFC3339) }
	// An instant is an element, which a reader's browser can write in another zone. Its numbers stay in
	// order where the words around run from right to left.
	when := func(at time.Time) template.HTML {
		return template.HTML(fmt.Sprintf(`<time datetime="%s" dir="ltr">%s</time>`, iso(at), at.In(zone).Format("2006-01-02 15:04")))
	}
	return template.FuncMap{
		"t":    func(key string, values ...any) string { return say(lang, key, values...) },
		"n":    func(key string, n int) string { return count(lang, key, n) },
		"when": when, "iso": iso,
		"times": func(key string, all ...time.Time) template.HTML { // a word about instants
			var values []any
			for _, at := range all {
				values = append(values, when(at))
			}
			return template.HTML(say(lang, key, values...)) // catalogues are ours
		},
		"exact": func(at time.Time) string { return at.In(zone).Format("2006-01-02 15:04:05") },
		"join":  func(names []string) string { return strings.Join(names, ", ") },
		"title": func(e Event) string { return titleOf(lang, e) },
		"ticks": func(c ComponentView) template.HTML { return ticks(lang, c) }, "legend": legend, "odd": odd,
		"apart":   func(text string) string { return apart(lang, text) },
		"minutes": func(m float64) string { return strconv.FormatFloat(m, 'f', -1, 64) },
	}
}

// titleOf names an event; an automatic one by what it is about.
func titleOf(lang string, e Event) string {
	if e.Title != "" {
		return e.Title
	}
	return say(lang, "auto."+e.Impact, strings.Join(e.Components, ", "))
}

// age says how old the newest evidence is.
func age(lang string, v *View) string {
	if v.EvidenceAt.IsZero() {
		if v.ByHand() {
			return say(lang, "by_hand")
		}
		return say(lang, "never")
	}
	seconds := max(0, int(v.MadeAt.Sub(v.EvidenceAt)/time.Second))
	if seconds < 120 {
		return count(lang, "updated", seconds)
	}
	return count(lang, "updated_min", seconds/60)
}

// copyAge says of when a copy is: it goes on saying so when it is old.
func copyAge(lang string, v *View) string {
	at := func(t time.Time) string { return apart(lang, t.In(v.Zone).Format("2006-01-02 15:04:05 MST")) }
	newest := say(lang, "never")
	if !v.EvidenceAt.IsZero() {
		newest = at(v.EvidenceAt)
	}
	return say(lang, "copy", at(v.MadeAt), newest)
}

func notes(lang string, v *View) (all []string) {
	at := func(t time.Time) string { return apart(lang, t.In(v.Zone).Format("2006-01-02 15:04:05 MST")) }
	if !v.WrittenAt.IsZero() {
		all = append(all, say(lang, "stale_written", at(v.WrittenAt)))
	}
	switch {
	case v.NoHistory:
		all = append(all, say(lang, "no_history"))
	case !v.HistoryAt.IsZero():
		all = append(all, say(lang, "stale_history", at(v.HistoryAt)))
	}
	if v.IncidentsCut {
		all = append(all, say(lang, "incidents_cut"))
	}
	return all
}

// fileHash names a file's content, so that it can be kept for good.
func fileHash(name string) string {
	content, _ := files.ReadFile("assets/" + name) // embedded: cannot fail
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:6])
}

// style sets the page's own colours: validated when they were saved, and allowed by their hash.
func style(v *View) (element template.HTML, source string) {
	var css strings.Builder
	if v.Accent != "" {
		fmt.Fprintf(&css, `html[data-theme]{--accent:%s}`, v.Accent)
	}
	if v.AccentDark != "" {
		fmt.Fprintf(&css, `html[data-theme=dark]{--accent:%[1]s}@media (prefers-color-scheme:dark){html[data-theme=auto]{--accent:%[1]s}}`, v.AccentDark)
	} else if v.Accent != "" {
		css.WriteString(`html[data-theme=dark]{--accent:#8ab4f8}@media (prefers-color-scheme:dark){html[data-theme=auto]{--accent:#8ab4f8}}`)
	}
	if css.Len() == 0 {
		return "", ""
	}
	sum := sha256.Sum256([]byte(css.String()))
	return template.HTML("<style>" + css.String() + "</style>"), " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func (p *Pages) html(q request) func(*View) rendered {
	return func(v *View) rendered {
		element, source := style(v)
		data := pageData{
			View: v, Base: q.base, Lang: q.lang, Dir: direction(q.lang), Scheme: map[string]string{pagestore.ThemeDark: "dark", pagestore.ThemeLight: "light"}[v.Theme], Banner: "banner." + v.State,
			Age: age(q.lang, v), Notes: notes(q.lang, v), ZoneName: v.Zone.String(), Style: element, CSS: fileHash("page.css"), JS: fileHash("page.js"), Reader: fileHash("reader.js"), Icons: iconsHash(), Tag: now(v).Tag, Legend: states(),
		}
		if data.Scheme == "" {
			data.Scheme = "light dark"
		}
		policy := "default-src 'none'; style-src 'self'" + source + "; img-src 'self'; script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
		if q.fixed {
			data.Base, data.Fixed, data.Age = ".", true, copyAge(q.lang, v)
			data.Policy = "default-src 'none'; style-src 'self' file:" + source + "; img-src 'self' file:; base-uri 'none'; form-action 'none'"
		}
		for _, code := range Languages() {
			data.Langs = append(data.Langs, languageName{code, say(code, "name")})
		}
		return rendered{"text/html; charset=utf-8", p.execute("page.html", q.lang, v.Zone, data), policy}
	}
}

func (p *Pages) execute(name, lang string, zone *time.Location, data any) []byte {
	var out bytes.Buffer
	t, err := template.New(name).Funcs(functions(lang, zone)).ParseFS(files, "templates/"+name)
	if err == nil {
		err = t.Execute(&out, data)
	}
	if err != nil {
		p.Log.Error("status page not rendered", "template", name, "error", err) // the templates are ours: a test renders them
	}
	return out.Bytes()
}

// shell is what forms and refusals are given.
type shell struct {
	Lang, Dir, Theme string
	CSS, Reader      string // hashes of files: reader.js gives them the theme that was chosen on the page
}

// shellOf has the theme of a page; of none, the system's.
func shellOf(lang, theme string) shell {
	return shell{lang, direction(lang), cmp.Or(theme, pagestore.ThemeAuto), fileHash("page.css"), fileHash("reader.js")}
}

func (p *Pages) askPassword(w http.ResponseWriter, q request, status int, problem string) {
	body := p.execute("password.html", q.lang, time.UTC, struct {
		shell
		Problem string // a word; "": there is none
	}{shellOf(q.lang, q.page.Terms.Theme), problem})
	secure(w.Header(), formPolicy)
	w.Header().Set("Referrer-Policy", "same-origin")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
