package httpapi

import (
	"context"
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/pagestore"
)

const (
	maxPublicUpdates = 100   // in a timeline
	maxPublicText    = 2_000 // of each: the post has all of it
)

// publicUpdate is an update of a post, in the timeline of the incident that the post tells of.
type publicUpdate struct {
	PageID    int64   `json:"page_id"`
	Page      string  `json:"page" doc:"its title"`
	Published bool    `json:"published" doc:"false: the page is a draft now, and has no readers"`
	PostID    int64   `json:"post_id"`
	Post      string  `json:"post" doc:"its title"`
	Kind      string  `json:"kind" enum:"incident,announcement"`
	Number    int     `json:"number" doc:"of the update within its post, from 1"`
	At        instant `json:"at"`
	State     string  `json:"state" enum:"investigating,identified,monitoring,resolved"`
	Text      string  `json:"text" doc:"Markdown; at most 2,000 characters: one that is longer ends with a …"`
	Author    string  `json:"author" doc:"empty: it was not kept"`
}

func (a *api) publicUpdates(ctx context.Context, incident int64) ([]publicUpdate, error) {
	posts, on, err := a.StatusPages.Told(ctx, incident, maxPublicUpdates)
	if err != nil {
		return nil, err
	}
	all := []publicUpdate{}
	for _, p := range posts {
		all = append(all, updatesOf(p, on[p.PageID])...)
	}
	slices.SortStableFunc(all, func(x, y publicUpdate) int { return time.Time(x.At).Compare(time.Time(y.At)) })
	return all[max(0, len(all)-maxPublicUpdates):], nil
}

func updatesOf(p pagestore.Post, on pagestore.Page) (all []publicUpdate) {
	for i, u := range p.Body.Updates {
		all = append(all, publicUpdate{on.ID, on.Terms.Title, on.Published, p.ID, p.Body.Title, p.Body.Kind, i + 1, instant(u.At), u.State, shorten(u.Text, maxPublicText), u.By})
	}
	return all
}
