package statuspage

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/live"
	"github.com/probefleet/probefleet/dashboard-api/internal/session"
	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/maintenancestore"
	"github.com/probefleet/probefleet/internal/pagestore"
)

// Store gives the pages that are public.
type Store interface {
	Published(ctx context.Context, since time.Time) ([]pagestore.Page, map[int64][]pagestore.Post, error)
	Hosts(ctx context.Context) ([]string, error) // of all pages, published or not
}

// Incidents gives those of targets.
type Incidents interface {
	List(context.Context, incidentstore.Filter) ([]incidentstore.Incident, error)
}

// Windows gives maintenance windows that know which targets carry their tags from an instant on.
type Windows interface {
	Holding(ctx context.Context, since time.Time) ([]maintenancestore.Window, error)
}

// Live knows how targets are now.
type Live interface {
	States(ids []int64) map[int64]live.State
	Heard() map[string]bool     // slugs of channels that somebody reads, of pages that there are or not
	Page(slug string, item any) // tells the readers of the channel page:<slug>; nil: it is gone
	Subscribe(channel string, from *live.Position) (*live.Subscription, live.Position, bool, error)
	Changed() <-chan struct{}
}

// Options are what pages stand on.
type Options struct {
	Store     Store
	Incidents Incidents
	Windows   Windows
	Live      Live
	// Daily sums up targets as a whole over periods.
	Daily func(ctx context.Context, ids []int64, window availability.Span, periods []availability.Period) (map[int64]*availability.Account, error)
	// Behind is until when every slot due has its row, if that is longer ago than usual; zero, or
	// no function: it is not.
	Behind      func(now time.Time) time.Time
	Fingerprint func(text string) string // keyed; the same on every node
	Secure      func(r *http.Request) bool
	TrustProxy  bool
	// Socket serves websockets of anybody that read one channel, as long as allowed says so, and
	// calls gone when one has ended.
	Socket func(channel string, allowed func(context.Context, *http.Request) error, gone func()) http.Handler
	// MostOfAddress is how many live connections one address may have; of IPv6, one /64. 0: 50.
	MostOfAddress int
	// Patience is how long a reader waits for something newer than what there is. 0: 400 ms.
	Patience time.Duration
	Hasher   *session.Hasher // of the passwords of pages; nil: NewHasher's

	PublicURL string // where people reach this installation

	Subscribers Subscribers // nil: nobody can subscribe
	MailReady   bool        // there is a server that takes mails
	Asked       func()      // somebody wants to subscribe; must not block; nil: nobody listens

	Next http.Handler
	Now  func() time.Time
	Log  *slog.Logger
}

// Pages answers for all status pages, and hands every other request on.
type Pages struct {
	Options
	writer   *writer
	written  *source[written]
	hasher   *session.Hasher
	throttle *session.Throttle // of passwords
	asking   *session.Throttle // of subscriptions
	changes  atomic.Uint64     // on this node

	stopped chan struct{}
	stop    func() // closes stopped

	mu        sync.Mutex
	byID      map[int64]*shelf
	listening map[string]int // live connections of anybody, by their addresses
	streams   int            // of events, among them
	loaded    time.Time      // of the written that byID was last pruned by
}

// copyFresh is how old a copy is at most when it is handed out, while everything answers.
const copyFresh = 2 * time.Second

// shelf is what is kept of a page.
type shelf struct {
	version int64
	zone    string  // of the days
	targets []int64 // that days are of: those that carry a tag come and go between versions
	days    *source[history]
	last    *source[lastDay] // of the same targets

	mu      sync.Mutex
	view    *View
	made    time.Time
	changes uint64
	news    int                // how often a view was another one than that before
	copies  map[string]*copied // of the view, by what they are
}

// copied is a rendered answer, in both forms that it is sent in.
type copied struct {
	media       string
	body, small []byte // small: gzipped
	tag         string
	policy      string // of what it may load
}

// New makes the pages.
func New(o Options) *Pages {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Behind == nil {
		o.Behind = func(time.Time) time.Time { return time.Time{} }
	}
	if o.MostOfAddress == 0 {
		o.MostOfAddress = mostOfOne
	}
	p := &Pages{Options: o, writer: newWriter(), hasher: cmp.Or(o.Hasher, session.NewHasher()), throttle: session.NewThrottle(o.Now), asking: session.NewThrottle(o.Now), byID: map[int64]*shelf{}, listening: map[string]int{}, stopped: make(chan struct{})}
	p.stop = sync.OnceFunc(func() { close(p.stopped) })
	p.written = &source[written]{load: p.readWritten, maxAge: writtenFresh, patience: o.Patience, now: o.Now}
	return p
}

// Changed says that pages or posts were changed on this node.
func (p *Pages) Changed() {
	p.written.outdate()
	p.changes.Add(1)
}

// Written says that results, or figures made of them, were written of some targets (0: of all),
// and can be read from an instant on: days that were read before are old.
func (p *Pages) Written(readable time.Time, targets ...int64) {
	of := make(map[int64]bool, len(targets))
	for _, id := range targets {
		of[id] = true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.byID {
		if s.days != nil && (of[0] || slices.ContainsFunc(s.targets, func(id int64) bool { return of[id] })) {
			s.days.written(readable)
			s.last.written(readable)
		}
	}
}

// shelf gives what is kept of a page. What is kept of pages that are gone is dropped.
func (p *Pages) shelf(page pagestore.Page) *shelf {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.kept(page)
}

func (p *Pages) days(page pagestore.Page) *source[history] {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.kept(page).days
}

func (p *Pages) lastDay(page pagestore.Page) *source[lastDay] {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.kept(page).last
}

func (p *Pages) kept(page pagestore.Page) *shelf {
	s := p.byID[page.ID]
	if s == nil {
		s = &shelf{}
		p.byID[page.ID] = s
	}
	if targets := bound(page); s.days == nil || s.version != page.Version || !slices.Equal(s.targets, targets) {
		days := &source[history]{load: p.readHistory(page), maxAge: daysFresh, patience: p.Patience, now: p.Now}
		if s.days != nil && s.zone == page.Terms.Zone { // those of each target stay true, whatever else is edited
			days.follow(s.days)
		}
		last := &source[lastDay]{load: p.readLastDay(page), maxAge: daysFresh, patience: p.Patience, now: p.Now}
		if s.last != nil {
			last.follow(s.last)
		}
		s.version, s.zone, s.targets, s.days, s.last = page.Version, page.Terms.Zone, targets, days, last
	}
	return s
}

func (p *Pages) prune(w written, at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at.Equal(p.loaded) {
		return
	}
	p.loaded = at
	there := map[int64]bool{}
	for _, page := range w.pages {
		there[page.ID] = true
	}
	for id := range p.byID {
		if !there[id] {
			delete(p.byID, id)
		}
	}
}

// answer gives the copy of a page, made again when it is old.
func (p *Pages) answer(ctx context.Context, page pagestore.Page, w written, writtenAt time.Time, fine bool, kind string, render func(*View) rendered) *copied {
	s := p.current(ctx, page, w, writtenAt, fine)
	defer s.mu.Unlock()
	if found := s.copies[kind]; found != nil {
		return found
	}
	c := copyOf(render(s.view))
	s.copies[kind] = c
	return c
}

// copyOf compresses an answer, once for all who take it so.
func copyOf(r rendered) *copied {
	c := &copied{media: r.media, body: r.body, policy: r.policy}
	sum := sha256.Sum256(append([]byte(r.policy), r.body...))
	c.tag = hex.EncodeToString(sum[:12])
	var small bytes.Buffer
	zip, _ := gzip.NewWriterLevel(&small, gzip.BestCompression)
	_, _ = zip.Write(r.body)
	_ = zip.Close() // a bytes.Buffer does not fail
	c.small = small.Bytes()
	return c
}

// current gives what is kept of a page, locked, with a view that is no older than a copy may be.
// Days are waited for before it is locked: a store that hangs holds up nobody who has a view.
func (p *Pages) current(ctx context.Context, page pagestore.Page, w written, writtenAt time.Time, fine bool) *shelf {
	s := p.shelf(page)
	s.mu.Lock()
	if p.outdated(s, copyFresh) {
		s.mu.Unlock()
		p.days(page).get(ctx)
		s.mu.Lock()
		p.refresh(s, page, w, writtenAt, fine, copyFresh)
	}
	return s
}

// outdated says whether the view of a page is older than fresh, or of before a change.
func (p *Pages) outdated(s *shelf, fresh time.Duration) bool {
	at := p.Now()
	return s.view == nil || s.changes != p.changes.Load() || at.Sub(s.made) >= fresh || at.Before(s.made)
}

// refresh makes the view of a page again when it is outdated, of the days that are there.
func (p *Pages) refresh(s *shelf, page pagestore.Page, w written, writtenAt time.Time, fine bool, fresh time.Duration) {
	if at, changes := p.Now(), p.changes.Load(); p.outdated(s, fresh) {
		before := s.view
		s.view, s.made, s.changes, s.copies = p.view(page, w, writtenAt, fine), at, changes, map[string]*copied{}
		if before == nil || now(before).Tag != now(s.view).Tag {
			s.news++
		}
	}
}

// rendered is a body and what it is.
type rendered struct {
	media  string
	body   []byte
	policy string
}
