package statuspage

import (
	"context"
	"regexp"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/pagestore"
)

// compatible is the path below which pages answer as other programs do, for dashboards that read those.
const compatible = "/compat/"

// Documents of other programs, and the names of their copies: no path of a page has a space in it.
const (
	kumaPage      = "uptime-kuma status-page"
	kumaBeats     = "uptime-kuma heartbeat"
	gatusStatuses = "gatus statuses"
)

var (
	kumaPath  = regexp.MustCompile(`^uptime-kuma/api/status-page/(heartbeat/)?([a-z0-9-]+)$`)
	gatusPath = regexp.MustCompile(`^gatus/([a-z0-9-]+)/api/v1/endpoints/statuses$`)
)

// foreign finds which document of another program a path asks for, and of which page; ours: it is
// one of those paths, and nothing else answers there, whether there is such a document or not.
func foreign(path string) (slug, document string, ours bool) {
	path, ours = strings.CutPrefix(path, compatible)
	if found := kumaPath.FindStringSubmatch(path); ours && found != nil {
		if found[1] != "" {
			return found[2], kumaBeats, true
		}
		return found[2], kumaPage, true
	}
	if found := gatusPath.FindStringSubmatch(path); ours && found != nil {
		return found[1], gatusStatuses, true
	}
	return "", "", ours
}

// renderForeign is how to answer in the form of another program. They are in English, as the
// documents in the form of Atlassian Statuspage are.
func (p *Pages) renderForeign(ctx context.Context, q request) func(*View) rendered {
	switch q.document {
	case kumaPage:
		return jsonOf(mediaJSON, kuma{root: rootOf(q.page, p.PublicURL)}.page)
	case kumaBeats:
		k := kuma{}
		k.figures, k.figuresAt = p.dayFigures(ctx, q.page)
		return jsonOf(mediaJSON, k.beats)
	}
	return jsonOf(mediaJSON, gatus)
}

// lastDay is the 24 hours up to an instant, of the targets of a page. It is read only for those who
// ask: the page itself shows days of the calendar.
type lastDay map[int64]*availability.Account

func (p *Pages) readLastDay(page pagestore.Page) func(context.Context) (lastDay, error) {
	return func(ctx context.Context) (last lastDay, err error) {
		to := p.Now().UTC().Truncate(time.Millisecond)
		span := availability.Span{From: to.Add(-24 * time.Hour), To: to}
		if ids := bound(page); len(ids) > 0 {
			last, err = p.Daily(ctx, ids, span, []availability.Period{{Span: span}})
		}
		return last, err
	}
}

// dayFigures are the uptimes of a page's components over the last 24 hours, by their ids, of those
// of which anything was measured. at is when they were read, if that is not lately; zero: it is.
func (p *Pages) dayFigures(ctx context.Context, page pagestore.Page) (of map[int64]float64, at time.Time) {
	p.days(page).begin() // who comes first waits for both at once
	accounts, readAt, fine := p.lastDay(page).get(ctx)
	of = map[int64]float64{}
	for _, c := range page.Components() {
		var total availability.Figures
		for _, id := range c.Shown() {
			if account := accounts[id]; account != nil {
				total = total.Add(account.Total)
			}
		}
		if uptime := total.Uptime(); uptime.Known() {
			of[c.ID] = uptime.Float()
		}
	}
	if !fine {
		at = readAt
	}
	return of, at
}
