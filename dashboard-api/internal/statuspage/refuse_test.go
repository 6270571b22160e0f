package statuspage_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/probefleet/probefleet/dashboard-api/internal/statuspage"
	"github.com/probefleet/probefleet/internal/pagestore"
	"github.com/probefleet/probefleet/internal/testbackend"
)

const browser = "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"

// refusals is pages in several languages that refuse in every way there is.
func refusals(t *testing.T) *rig {
	r := newRig(t, testbackend.SQLite(t))
	options := r.pages.Options
	options.MostOfAddress = -1 // nobody may listen
	r.pages = statuspage.New(options)
	hash, err := cheap.Hash(t.Context(), "open sesame")
	if err != nil {
		t.Fatal(err)
	}
	r.page(pagestore.Page{Slug: "main", Host: "status.example.com", Terms: pagestore.Terms{Title: "Acme", Language: "de", Theme: pagestore.ThemeDark}})
	r.page(pagestore.Page{Slug: "locked", Terms: pagestore.Terms{Title: "Locked", Language: "fr", PasswordHash: hash}})
	r.page(pagestore.Page{Slug: "office", Terms: pagestore.Terms{Title: "Office", Language: "es", Theme: pagestore.ThemeDark, Allow: []string{"198.51.100.0/24"}}})
	if _, err := r.store.Create(t.Context(), pagestore.Page{Slug: "draft", Host: "draft.example.com", Terms: pagestore.Terms{Title: "Draft", Language: "pl"}}, noon); err != nil {
		t.Fatal(err)
	}
	return r
}

func method(name string) option { return func(r *http.Request) { r.Method = name } }

// Who is refused reads why: in the language that was asked for, else that of the page, if it is one they
// may know of, else in English.
func TestRefusalsInTheReadersLanguage(t *testing.T) {
	t.Parallel()
	r := refusals(t)
	for _, c := range []struct {
		path, accept string
		code         int
		lang, words  string
		others       []string // of a page
		options      []option
	}{
		{"/s/nobody", "", 404, "en", "There is no such page", []string{`data-theme="auto"`, "!<a "}, nil},
		{"/s/nobody", "tlh", 404, "en", "There is no such page", nil, nil},
		{"/s/nobody", "sv, ja;q=0.5", 404, "ja", "このページはありません", nil, nil},
		{"/s/nobody?lang=he", "ja", 404, "he", "אין עמוד כזה", []string{`dir="rtl"`}, nil},
		{"/s/-/nothing", "nl", 404, "nl", "Deze pagina bestaat niet", nil, nil},
		{"/nothing", "zh-TW", 404, "zh", "没有此页面", nil, []option{host("status.example.com")}},
		{"/s/main", "pt-BR", 404, "pt", "Esta página não existe", nil, []option{host("draft.example.com")}},
		{"/s/draft", "", 404, "en", "There is no such page", []string{"!Draft"}, nil},
		{"/s/main/nothing", "", 404, "de", "Diese Seite gibt es nicht", []string{`data-theme="dark"`, `<a href="/s/main?lang=de">Zurück zur Seite</a>`}, nil},
		{"/s/main/nothing", "ar", 404, "ar", "لا توجد صفحة كهذه", []string{`dir="rtl"`}, nil},
		{"/s/main/subscribe", "", 404, "de", "Diese Seite gibt es nicht", nil, nil},
		{"/s/main", "", 405, "de", "Das geht hier nicht", nil, []option{method(http.MethodPost)}},
		{"/s/-/page.css?0123", "", 405, "en", "That cannot be done here", []string{`data-theme="auto"`}, []option{method(http.MethodPost)}},
		{"/s/-/reader.js", "it", 405, "it", "Qui non si può fare", nil, []option{method(http.MethodPut)}},
		{"/s/-/nothing", "", 404, "en", "There is no such page", nil, []option{method(http.MethodPost)}},
		{"/s/main/events", "", 429, "de", "Von Ihrer Adresse sind zu viele Live-Verbindungen offen: Fragen Sie stattdessen state.json ab", nil, nil},
		{"/s/locked/feed.atom", "", 401, "fr", "Cette page est protégée", []string{"!/s/locked", "!Locked"}, nil},
		{"/s/office", "", 403, "en", "This page is not for your address", []string{`data-theme="auto"`, "!/s/office", "!Office"}, nil},
		{"/s/office/feed.rss", "it", 403, "it", "Questa pagina non è aperta al tuo indirizzo", nil, nil},
	} {
		asked := append(c.options, header("Accept-Language", c.accept))
		page := r.get(c.path, append(asked, header("Accept", browser))...)
		contains(t, page.Body.String(), append(c.others, `<html lang="`+c.lang+`"`, "<title>"+c.words+"</title>", "<h1>"+c.words+"</h1>")...)
		line := r.get(c.path, append(asked, header("Accept", "*/*"))...)
		if line.Body.String() != c.words+"\n" {
			t.Errorf("%s: programs are told %q", c.path, line.Body)
		}
		for media, got := range map[string]*httptest.ResponseRecorder{"text/html": page, "text/plain": line} {
			h := got.Header()
			if got.Code != c.code || h.Get("Content-Type") != media+"; charset=utf-8" || h.Get("Content-Language") != c.lang || h.Get("Cache-Control") != "no-store" || h.Get("Vary") != "Accept, Accept-Language" || h.Get("ETag") != "" {
				t.Errorf("%s: %d %v, want %d", c.path, got.Code, h, c.code)
			}
			contains(t, h.Get("Content-Security-Policy"), "default-src 'none'", "frame-ancestors 'none'", "script-src 'self'", "!connect-src", "!unsafe")
		}
		if c.code == 405 && page.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: %v", c.path, page.Header())
		}
	}
	try := func(path, password string) *httptest.ResponseRecorder {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(url.Values{"password": {password}}.Encode()))
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		got := httptest.NewRecorder()
		r.pages.ServeHTTP(got, request)
		return got
	}
	if got := try("/s/locked?lang=ja", "open sesame").Header().Get("Location"); got != "/s/locked?lang=ja" {
		t.Errorf("who has given the password in Japanese is led to %q", got)
	}
	for range 40 {
		got := try("/s/locked", "guess")
		if got.Code == http.StatusUnauthorized {
			contains(t, got.Body.String(), `<html lang="fr"`, `role="alert">Ce n’est pas le bon mot de passe.`)
			continue
		}
		contains(t, got.Body.String(), `<html lang="fr"`, `role="alert">Trop d’essais. Patientez un moment.`, `type="password"`)
		if got.Code != http.StatusTooManyRequests || got.Header().Get("Retry-After") == "" || got.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%d %v", got.Code, got.Header())
		}
		return
	}
	t.Error("guessing is free")
}

// A draft is refused as a page that is not there is, in every language.
func TestRefusalsTellNothingOfDrafts(t *testing.T) {
	t.Parallel()
	r := refusals(t)
	for _, accept := range append(statuspage.Languages(), "", "tlh") {
		for _, media := range []string{browser, "*/*"} {
			asked := []option{header("Accept-Language", accept), header("Accept", media)}
			nobody, draft := r.get("/s/nobody", asked...), r.get("/s/draft", asked...)
			own := r.get("/s/draft", append(asked, host("draft.example.com"))...)
			for _, got := range []*httptest.ResponseRecorder{draft, own} {
				if got.Code != nobody.Code || got.Body.String() != nobody.Body.String() || fmt.Sprint(got.Header()) != fmt.Sprint(nobody.Header()) {
					t.Errorf("%q: %d %v %s", accept, got.Code, got.Header(), got.Body)
				}
			}
		}
	}
}

// What cannot be read, as the database was never reached, says so to everybody.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	r := newRig(t, testbackend.SQLite(t))
	if err := r.db.Close(); err != nil {
		t.Fatal(err)
	}
	got := r.get("/s/main", header("Accept", browser), header("Accept-Language", "es"))
	contains(t, got.Body.String(), `<html lang="es"`, "<h1>Esta página no se puede leer en este momento</h1>") //nolint:misspell // Spanish
	if got.Code != http.StatusServiceUnavailable || got.Header().Get("Retry-After") != "5" || got.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v", got.Code, got.Header())
	}
}
