package httpapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/pagestore"
)

// readersBench is a bench with an incident of a shop, and a page with a draft of a page beside it.
type readersBench struct {
	*bench
	shop, incident int64
	page, draft    string
}

func newTold(t *testing.T) *readersBench {
	t.Helper()
	b := &readersBench{bench: newBench(t)}
	b.shop = b.create(`{"url":"https://shop.example/","name":"shop"}`).ID
	b.incident = b.openIncident(incidentstore.Opening{TargetID: b.shop, FirstSlot: testNow.Add(-time.Minute), Severity: incidentstore.Down, At: testNow, Subject: incidentstore.Subject{Name: "shop", Kind: "http"}})
	b.page = b.do("POST", "/api/v1/status-pages", `{"slug":"acme","title":"Acme","published":true}`, as(editorKey)).Header().Get("Location")
	b.draft = b.do("POST", "/api/v1/status-pages", `{"slug":"draft","title":"Draft"}`, as(editorKey)).Header().Get("Location")
	return b
}

// write posts about an incident, and gives where the post is.
func (b *readersBench) write(page, fields string, key string) string {
	b.Helper()
	got := b.do("POST", page+"/posts", fmt.Sprintf(`{"title":"Shop: down","incident_id":%d,%s}`, b.incident, fields), as(key))
	if got.Code != http.StatusCreated || !strings.Contains(got.text, fmt.Sprintf(`"incident_id":%d`, b.incident)) {
		b.Fatalf("%d %s", got.Code, got.text)
	}
	return got.Header().Get("Location")
}

// updates are those in the incident's timeline, as a viewer reads it.
func (b *readersBench) updates() (all []publicUpdateRead) {
	b.Helper()
	var read struct {
		All []publicUpdateRead `json:"public_updates"`
	}
	got := b.do("GET", fmt.Sprintf("/api/v1/incidents/%d", b.incident), "", as(viewerKey))
	got.into(b.T, &read)
	if read.All == nil {
		b.Fatalf("%d %s", got.Code, got.text)
	}
	return read.All
}

type publicUpdateRead struct {
	PageID    int64 `json:"page_id"`
	Page      string
	Published bool
	PostID    int64 `json:"post_id"`
	Post      string
	Kind      string
	Number    int
	At        string
	State     string
	Text      string
	Author    string
}

// Whoever may read an incident reads what was told of it, on which page and by whom.
func TestWhatReadersWereTold(t *testing.T) {
	t.Parallel()
	b := newTold(t)
	if got := b.updates(); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	post := b.write(b.page, `"text":"We **look**."`, editorKey)
	b.do("POST", b.page+"/posts", `{"title":"Another thing","text":"Not about it."}`, as(editorKey))
	b.now = b.now.Add(time.Minute)
	b.write(b.draft, `"kind":"announcement","text":"Nobody sees it."`, editorKey)
	b.now = b.now.Add(time.Minute)
	if got := b.do("POST", post+"/updates", `{"state":"identified","text":"A disk."}`, as(ownerKey)); got.Code != http.StatusOK || !strings.Contains(got.text, `"text":"A disk.","author":"key:`) {
		t.Fatalf("%d %s", got.Code, got.text)
	}
	got := b.updates()
	if len(got) != 3 || got[0].Author == "" || got[0].Author != got[1].Author || got[2].Author == got[0].Author {
		t.Fatalf("who told it: %+v", got)
	}
	for i := range got {
		got[i].Author = ""
	}
	want := []publicUpdateRead{
		{1, "Acme", true, 1, "Shop: down", "incident", 1, "2026-03-01T12:00:00.000Z", "investigating", "We **look**.", ""},
		{2, "Draft", false, 3, "Shop: down", "announcement", 1, "2026-03-01T12:01:00.000Z", "investigating", "Nobody sees it.", ""},
		{1, "Acme", true, 1, "Shop: down", "incident", 2, "2026-03-01T12:02:00.000Z", "identified", "A disk.", ""},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := b.do("PATCH", post, `{"title":"Shop"}`, as(editorKey)); got.Code != http.StatusOK || len(b.updates()) != 3 {
		t.Errorf("a post forgot its incident: %s", got.text)
	}
	if got := b.do("PATCH", post, `{"incident_id":null}`, as(editorKey)); got.Code != http.StatusOK || !strings.Contains(got.text, `"incident_id":null`) || len(b.updates()) != 1 {
		t.Errorf("%d %s", got.Code, got.text)
	}
	again := fmt.Sprintf(`{"incident_id":%d}`, b.incident)
	if got := b.do("PATCH", post, again, as(viewerKey)); got.Code != http.StatusForbidden || len(b.updates()) != 1 {
		t.Errorf("a viewer: %d %s", got.Code, got.text)
	}
	if got := b.do("PATCH", post, again, as(editorKey)); got.Code != http.StatusOK || len(b.updates()) != 3 {
		t.Errorf("a post that was there already: %d %s", got.Code, got.text)
	}
}

func TestPostsOfNoIncident(t *testing.T) {
	t.Parallel()
	b := newTold(t)
	post := b.write(b.page, `"text":"We look."`, editorKey)
	for body, code := range map[string]string{`"incident_id":4711`: codeNotFound, `"incident_id":0`: codeNotFound, `"incident_id":-1`: codeNotFound, `"incident_id":"1"`: "invalid_type"} {
		for _, got := range []reply{
			b.do("POST", b.page+"/posts", `{"title":"x","text":"y",`+body+`}`, as(editorKey)), b.do("PATCH", post, `{`+body+`}`, as(editorKey)),
		} {
			p := got.problem(t)
			if got.Code != http.StatusUnprocessableEntity || !slices.ContainsFunc(p.Errors, func(m Mistake) bool { return m.Pointer == "/incident_id" && m.Code == code }) {
				t.Errorf("%s: %d %+v", body, got.Code, p)
			}
		}
	}
	if got := b.updates(); len(got) != 1 {
		t.Errorf("%+v", got)
	}
	// What was told outlives the incident, which goes with its target.
	if got := b.do("DELETE", fmt.Sprintf("/api/v1/targets/%d", b.shop), "", as(editorKey)); got.Code != http.StatusNoContent {
		t.Fatalf("%d %s", got.Code, got.text)
	}
	if got := b.do("GET", post, "", as(viewerKey)); got.Code != http.StatusOK || !strings.Contains(got.text, `"incident_id":null`) || !strings.Contains(got.text, "We look.") {
		t.Errorf("%d %s", got.Code, got.text)
	}
}

// A timeline is bounded, however much there was to tell.
func TestMuchWasTold(t *testing.T) {
	t.Parallel()
	b := newTold(t)
	p := pagestore.Post{PageID: 1, IncidentID: b.incident, BegunAt: testNow, Body: pagestore.Body{Title: "x", Kind: pagestore.KindIncident}}
	for i := range maxPublicUpdates + 2 {
		p.Body.Updates = append(p.Body.Updates, pagestore.Update{At: testNow.Add(time.Duration(i) * time.Second), State: pagestore.Monitoring, Text: strings.Repeat("ü", maxPublicText+i)})
	}
	if _, err := b.options.StatusPages.CreatePost(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	got := b.updates()
	if len(got) != maxPublicUpdates || got[0].Number != 3 || got[len(got)-1].Number != maxPublicUpdates+2 || got[0].Author != "" {
		t.Fatalf("%d, from %+v", len(got), got[0])
	}
	if text := []rune(got[0].Text); len(text) != maxPublicText || text[len(text)-1] != '…' {
		t.Errorf("%d characters of an update", len(text))
	}
}
