package statuspage

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/live"
	"github.com/probefleet/probefleet/internal/pagestore"
)

const (
	tellEvery   = time.Second
	breathEvery = 15 * time.Second // of a stream with nothing to say
	judgeEvery  = 2 * time.Second  // whether its reader may still read
	mostStreams = 2000             // of events, of one node: sockets take less, and are bounded by who serves them
	mostOfOne   = 50               // live connections of one address, where Options says nothing
)

// Who may not read any more is let go within five seconds: with more this does not compile.
const _ = uint64(5*time.Second - judgeEvery - writtenFresh)

// Now is what the live channel of a page says: an allow-list, too.
type Now struct {
	State      string         `json:"state"`
	ByHand     bool           `json:"by_hand,omitempty" doc:"somebody says how everything is: nothing measures it"`
	EvidenceAt *time.Time     `json:"evidence_at"`
	Tag        string         `json:"tag"` // another one: there is more to see than states
	Components []ComponentNow `json:"components" nullable:"false"`
}

// ComponentNow is how a component is.
type ComponentNow struct {
	ID     int64  `json:"id"`
	State  string `json:"state"`
	ByHand bool   `json:"by_hand,omitempty" doc:"somebody says so: nothing measures it"`
}

func now(v *View) Now {
	n := Now{State: v.State, ByHand: v.ByHand(), Components: []ComponentNow{}}
	if !v.EvidenceAt.IsZero() {
		at := v.EvidenceAt.UTC()
		n.EvidenceAt = &at
	}
	for _, c := range v.Components() {
		n.Components = append(n.Components, ComponentNow{c.ID, c.State, c.Manual})
	}
	text, _ := json.Marshal([]any{v.Title, v.Description, v.Groups, v.Events, v.Windows, v.WrittenAt.IsZero(), v.HistoryAt.IsZero(), v.NoHistory, v.IncidentsCut}) // plain structs: cannot fail
	sum := sha256.Sum256(text)
	n.Tag = hex.EncodeToString(sum[:8])
	return n
}

// Run tells the readers of live channels what changes, until ctx ends.
func (p *Pages) Run(ctx context.Context) error {
	ticker := time.NewTicker(tellEvery)
	defer ticker.Stop()
	told := map[string]string{}
	for {
		select {
		case <-ticker.C:
			p.tell(ctx, told)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// tell looks at the pages that somebody reads, by the page's own channel or with an account by the
// API's. told is what was said last of each. A channel is of what is published: that of a draft, or
// of no page at all, says nothing, and that of a page that is withdrawn says so.
func (p *Pages) tell(ctx context.Context, told map[string]string) {
	heard := p.Live.Heard()
	maps.DeleteFunc(told, func(slug, _ string) bool { return !heard[slug] })
	if len(heard) == 0 {
		return
	}
	w, at, fine := p.written.get(ctx)
	for slug := range told {
		if !slices.ContainsFunc(w.pages, func(page pagestore.Page) bool { return page.Slug == slug }) {
			delete(told, slug)
			p.Live.Page(slug, nil)
		}
	}
	for _, page := range w.pages {
		if !heard[page.Slug] {
			continue
		}
		item, news := p.present(page, w, at, fine)
		text, _ := json.Marshal(item)
		if said := fmt.Sprint(news, string(text)); told[page.Slug] != said { // who loaded the page between two that are the same is told, too
			told[page.Slug] = said
			p.Live.Page(page.Slug, item)
		}
	}
}

// present is how a page is now, and how often it was another one than before. Its days are read, but
// not waited for: the readers of other pages are next.
func (p *Pages) present(page pagestore.Page, w written, at time.Time, fine bool) (item Now, news int) {
	s := p.shelf(page)
	p.days(page).begin()
	s.mu.Lock()
	defer s.mu.Unlock()
	p.refresh(s, page, w, at, fine, tellEvery)
	return now(s.view), s.news
}

// listen counts a live connection of anybody in, by its address: one alone must not take the
// places of all. Who gets none asks instead. A socket takes no place of a stream.
func (p *Pages) listen(address string, streams int) (done func(), refusal int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.listening[address] >= p.MostOfAddress:
		return nil, http.StatusTooManyRequests
	case streams > 0 && p.streams+streams > mostStreams:
		return nil, http.StatusServiceUnavailable
	}
	p.listening[address]++
	p.streams += streams
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.listening[address]--; p.listening[address] == 0 {
			delete(p.listening, address)
		}
		p.streams -= streams
	}, 0
}

// LetGo ends all streams: those who read them come back, to another node.
func (p *Pages) LetGo() { p.stop() }

var errNotAllowed = errors.New("the page is not to be seen any more")

// live serves the channel of a page: by a websocket, or as a stream of events.
func (p *Pages) live(w http.ResponseWriter, r *http.Request, q request) {
	streams := 1
	if q.rest == "live" {
		streams = 0
	}
	done, refusal := p.listen(throttled(reader(r, p.TrustProxy)), streams)
	switch refusal {
	case http.StatusServiceUnavailable:
		p.unavailable(w, r, q)
		return
	case http.StatusTooManyRequests:
		w.Header().Set("Retry-After", "60")
		p.refuse(w, r, q, refusal, "too_many_open")
		return
	}
	channel := "page:" + q.page.Slug
	if q.rest == "live" {
		p.Socket(channel, func(ctx context.Context, r *http.Request) error { return p.still(ctx, r, q.page) }, done).ServeHTTP(w, r)
		return
	}
	defer done()
	p.stream(w, r, q, channel)
}

// still says whether who asked for a page might ask for it again, at the same address: the
// channel goes by that.
func (p *Pages) still(ctx context.Context, r *http.Request, asked pagestore.Page) error {
	all, _, _ := p.written.get(ctx)
	for _, page := range all.pages {
		if q := (request{page: page}); page.ID == asked.ID && page.Slug == asked.Slug && allowed(page.Terms.Allow, reader(r, p.TrustProxy)) && (page.Terms.PasswordHash == "" || p.signed(r, q)) {
			return nil
		}
	}
	return errNotAllowed
}

// breath is a message, and no comment: a page that hears nothing says that nothing is known.
const breath = `data: {"t":"ping"}` + "\n\n"

// begins is the first event of who cannot go on from where they come, or comes from nowhere: how the
// page is. It is looked at when the subscription is there, so what it does not say yet follows.
func (p *Pages) begins(q request, channel string, at live.Position) string {
	item, _ := p.present(q.page, q.written, q.writtenAt, q.fine)
	text, _ := json.Marshal(live.Delta[live.Op[string, Now]]{T: "delta", Ch: channel, FromSeq: at.Seq, Seq: at.Seq, Ops: []live.Op[string, Now]{{Op: "upsert", ID: q.page.Slug, Item: &item}}}) // plain structs: cannot fail
	return event(at, text)
}

func event(at live.Position, message []byte) string {
	return fmt.Sprintf("id: %s\ndata: %s\n\n", at, message)
}

// stream tells a reader all that changes from where they were: by Last-Event-ID, or as the page's own
// script says it, which makes its pauses itself and so opens another stream each time.
func (p *Pages) stream(w http.ResponseWriter, r *http.Request, q request, channel string) {
	last := cmp.Or(r.Header.Get("Last-Event-ID"), r.URL.Query().Get("from")) // a browser that comes back by itself says the newer one
	sub, at, recovered, err := p.Live.Subscribe(channel, live.ParsePosition(last))
	if err != nil {
		p.notFound(w, r, q)
		return
	}
	defer sub.End()
	secure(w.Header(), nothing)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no")
	control := http.NewResponseController(w)
	say := func(text string) bool {
		_ = control.SetWriteDeadline(time.Now().Add(breathEvery)) // a recorder has none
		if _, err := fmt.Fprint(w, text); err != nil {
			return false
		}
		return control.Flush() == nil
	}
	quiet, judged := time.NewTicker(breathEvery), time.NewTicker(judgeEvery)
	defer quiet.Stop()
	defer judged.Stop()
	going := say("retry: 3000\n\n")
	if !recovered {
		going = going && say(p.begins(q, channel, at))
	}
	for going {
		changed := p.Live.Changed()
		if message := sub.Poll(); message != nil {
			if !say(event(sub.At(), message)) {
				return
			}
		}
		select {
		case <-changed:
		case <-judged.C:
			going = p.still(r.Context(), r, q.page) == nil
		case <-quiet.C:
			going = say(breath)
		case <-p.stopped:
			return
		case <-r.Context().Done():
			return
		}
	}
}
