package statuspage

import (
	"context"
	"time"

	"github.com/probefleet/probefleet/internal/pagestore"
)

// FixedCopy is a page as files that need no server: index.html, what it loads, feeds and
// documents. They say when they were made, and run no scripts.
type FixedCopy struct {
	MadeAt time.Time
	Files  map[string][]byte
}

// fixed are the files of a copy besides index.html and its style, by what they are copies of. There
// are no badges: they have no room to say of when they are.
func fixed() map[string]string {
	return map[string]string{
		"feed.atom": "feed.atom", "feed.rss": "feed.rss", "feed.json": "feed.json", "calendar.ics": "calendar.ics", "state.json": "state.json",
		"summary.json": "api/v2/summary.json",
	}
}

// fixedState is the state of a copy, which says of when it is.
type fixedState struct {
	Now
	MadeAt time.Time `json:"made_at"`
}

// Copy makes a copy of a published page, in the page's own language. There is none when the
// page is not published, or pages cannot be read.
func (p *Pages) Copy(ctx context.Context, id int64) (c FixedCopy, found bool) {
	all, at, fine := p.written.get(ctx)
	for _, page := range all.pages {
		if page.ID != id {
			continue
		}
		s := p.current(ctx, page, all, at, fine)
		defer s.mu.Unlock()
		q := request{page: page, base: prefix + page.Slug, lang: page.Terms.Language, fixed: true}
		c = FixedCopy{s.view.MadeAt, map[string][]byte{"index.html": p.html(q)(s.view).body, "icon.svg": iconOf(pagestore.NoData)}} // a tab shows it without the time
		c.Files["page.css"], _ = files.ReadFile("assets/page.css")                                                                  // embedded: cannot fail
		for name, rest := range fixed() {
			q.rest = rest
			if _, render := p.render(q); render != nil {
				c.Files[name] = render(s.view).body
			}
		}
		return c, true
	}
	return c, false
}
