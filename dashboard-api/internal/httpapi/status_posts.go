package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/probefleet/probefleet/internal/pagestore"
	"github.com/probefleet/probefleet/internal/spec"
)

// PostPath names a post of a page in a path.
type PostPath struct {
	ID   int64 `path:"id" minimum:"1"`
	Post int64 `path:"post" minimum:"1"`
}

// PostInput is what may be set on a post. Its text and state are the first update on POST;
// later ones are added by themselves.
type PostInput struct {
	Title        *string `json:"title,omitempty" maxLength:"120"`
	Kind         *string `json:"kind,omitempty" enum:"incident,announcement" doc:"Default incident."`
	Impact       *string `json:"impact,omitempty" enum:"degraded,down,maintenance" doc:"Default none."`
	ComponentIDs []int64 `json:"component_ids,omitempty" nullable:"true" doc:"What it is about."`
	IncidentID   *int64  `json:"incident_id,omitempty" minimum:"1" doc:"The incident that it tells of, in whose timeline it then is. Readers are not told. Default none."`
	State        *string `json:"state,omitempty" enum:"investigating,identified,monitoring,resolved" doc:"On POST alone. Default investigating."`
	Text         *string `json:"text,omitempty" maxLength:"20000" doc:"Markdown. On POST alone."`
}

// UpdateInput is one more thing that is said of a post.
type UpdateInput struct {
	State *string `json:"state,omitempty" enum:"investigating,identified,monitoring,resolved" doc:"Default: as before."`
	Text  *string `json:"text,omitempty" maxLength:"20000" doc:"Markdown."`
}

const (
	maxText    = 20_000
	maxUpdates = 200
)

type postBody struct {
	ID           int64             `json:"id"`
	Title        string            `json:"title"`
	Kind         string            `json:"kind" enum:"incident,announcement"`
	Impact       nullable[string]  `json:"impact"`
	ComponentIDs []int64           `json:"component_ids" nullable:"false"`
	IncidentID   nullable[int64]   `json:"incident_id" doc:"that it tells of; null: none, or it was deleted. Readers are not told"`
	State        string            `json:"state" doc:"of its newest update"`
	Updates      []postUpdate      `json:"updates" nullable:"false" doc:"the oldest first"`
	BegunAt      instant           `json:"begun_at"`
	ResolvedAt   nullable[instant] `json:"resolved_at"`
	Version      int64             `json:"version" doc:"rises with every change; the ETag"`
}

type postUpdate struct {
	At     instant `json:"at"`
	State  string  `json:"state"`
	Text   string  `json:"text" doc:"Markdown"`
	Author string  `json:"author" doc:"empty: it was not kept. Readers are not told"`
}

type postOutput struct {
	ETag string `header:"ETag" doc:"the version"`
	Body postBody
}

func postOf(p pagestore.Post) postBody {
	body := postBody{
		ID: p.ID, Title: p.Body.Title, Kind: p.Body.Kind, Impact: maybeText(p.Body.Impact), ComponentIDs: orEmpty(p.Body.Components), State: p.State(),
		Updates: []postUpdate{}, BegunAt: instant(p.BegunAt), ResolvedAt: maybeInstant(p.ResolvedAt), Version: p.Version,
	}
	if p.IncidentID != 0 {
		body.IncidentID = some(p.IncidentID)
	}
	for _, u := range p.Body.Updates {
		body.Updates = append(body.Updates, postUpdate{instant(u.At), u.State, u.Text, u.By})
	}
	return body
}

func postStates() []string {
	return []string{pagestore.Investigating, pagestore.Identified, pagestore.Monitoring, pagestore.Resolved}
}

// judgeUpdate gives an update of what somebody said, and what is wrong with it.
func judgeUpdate(state, said *string, before, by string, now time.Time) (u pagestore.Update, found []Mistake) {
	u = pagestore.Update{At: now.UTC().Truncate(time.Millisecond), State: before, Text: strings.TrimSpace(deref(said)), By: by}
	set(&u.State, state, false, "")
	if !slices.Contains(postStates(), u.State) {
		found = append(found, Mistake{Pointer: "/state", Code: spec.CodeUnknownValue, Message: "want one of " + strings.Join(postStates(), ", ")})
	}
	switch n := utf8.RuneCountInString(u.Text); {
	case n == 0:
		found = append(found, needed("/text"))
	case n > maxText:
		found = append(found, Mistake{Pointer: "/text", Code: codeTooLong, Message: fmt.Sprintf("want at most %d characters", maxText)})
	case strings.ContainsRune(u.Text, 0):
		found = append(found, Mistake{Pointer: "/text", Code: codeInvalidText, Message: "want no NUL"})
	}
	return u, found
}

// said adds an update to a post, which is over when the update says so.
func said(p *pagestore.Post, u pagestore.Update) {
	p.Body.Updates = append(p.Body.Updates, u)
	p.ResolvedAt = time.Time{}
	if u.State == pagestore.Resolved {
		p.ResolvedAt = u.At
	}
}

// mergePost lays a document over the head of a post.
func mergePost(p *pagestore.Post, page pagestore.Page, in PostInput, null nulls) []Mistake {
	m := pageMerger{}
	set(&p.Body.Title, in.Title, null["title"], "")
	set(&p.Body.Kind, in.Kind, null["kind"], pagestore.KindIncident)
	set(&p.Body.Impact, in.Impact, null["impact"], "")
	if in.ComponentIDs != nil || null["component_ids"] {
		known := map[int64]bool{}
		for _, c := range page.Components() {
			known[c.ID] = true
		}
		p.Body.Components = nil
		for i, id := range in.ComponentIDs {
			switch {
			case !known[id]:
				m.mistake(fmt.Sprintf("/component_ids/%d", i), codeNotFound, "the page has no such component")
			case !slices.Contains(p.Body.Components, id): // at most as many as the page has
				p.Body.Components = append(p.Body.Components, id)
			}
		}
	}
	if in.IncidentID != nil || null["incident_id"] {
		p.IncidentID = deref(in.IncidentID)
	}
	if in.IncidentID != nil && *in.IncidentID < 1 { // whether any other is there, the store finds out
		m.mistake("/incident_id", codeNotFound, noIncident)
	}
	m.text("/title", p.Body.Title, maxName, true)
	if p.Body.Kind != pagestore.KindIncident && p.Body.Kind != pagestore.KindAnnouncement {
		m.mistake("/kind", spec.CodeUnknownValue, "want incident or announcement")
	}
	if !slices.Contains([]string{"", pagestore.Degraded, pagestore.Down, pagestore.Maintenance}, p.Body.Impact) {
		m.mistake("/impact", spec.CodeUnknownValue, "want degraded, down or maintenance, or nothing")
	}
	return m.found
}

const noIncident = "there is no such incident"

func (a *api) listPosts(ctx context.Context, in *struct {
	StatusPagePath
	Page
}) (*listOutput[postBody], error) {
	before, err := readIDCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	if _, err := a.StatusPages.Get(ctx, in.ID); err != nil {
		return nil, err
	}
	found, err := a.StatusPages.Posts(ctx, in.ID, before, in.Limit+1)
	if err != nil {
		return nil, err
	}
	return pageOf(found, in.Limit, postOf, func(p pagestore.Post) int64 { return p.ID }), nil
}

func (a *api) createPost(ctx context.Context, in *struct {
	StatusPagePath
	Idempotent
	Body document[PostInput]
}) (*answer[postBody], error) {
	return once(ctx, a, in.Key, in.Body.raw, func() (*answer[postBody], error) {
		page, err := a.StatusPages.Get(ctx, in.ID)
		if err != nil {
			return nil, err
		}
		p := pagestore.Post{PageID: in.ID, Body: pagestore.Body{Kind: pagestore.KindIncident}}
		if bad := read(in.Body, func(fields PostInput, null nulls) []Mistake {
			first, found := judgeUpdate(fields.State, fields.Text, pagestore.Investigating, identityOf(ctx).Actor, a.Now())
			p.BegunAt = first.At
			said(&p, first)
			return append(mergePost(&p, page, fields, null), found...)
		}); bad != nil {
			return nil, bad
		}
		created, err := a.StatusPages.CreatePost(ctx, p)
		if err != nil {
			return nil, err
		}
		a.pageChanged(ctx, "status-post.created", postObject(created), created.Body.Title)
		return &answer[postBody]{Status: http.StatusCreated, ETag: version(created.Version), Location: fmt.Sprintf("/api/v1/status-pages/%d/posts/%d", in.ID, created.ID), Body: stored[postBody]{value: postOf(created)}}, nil
	})
}

func postObject(p pagestore.Post) string {
	return pageObject(p.PageID) + "/post:" + strconv.FormatInt(p.ID, 10)
}

func (a *api) getPost(ctx context.Context, in *PostPath) (*postOutput, error) {
	p, err := a.StatusPages.Post(ctx, in.ID, in.Post)
	if err != nil {
		return nil, err
	}
	return &postOutput{version(p.Version), postOf(p)}, nil
}

func (a *api) patchPost(ctx context.Context, in *struct {
	PostPath
	IfMatch string `header:"If-Match" doc:"the ETag you read; absent: the last write wins"`
	Body    document[PostInput]
}) (*postOutput, error) {
	page, err := a.StatusPages.Get(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return a.changePost(ctx, in.PostPath, in.IfMatch, func(p *pagestore.Post) *Problem {
		return read(in.Body, func(fields PostInput, null nulls) []Mistake {
			found := mergePost(p, page, fields, null)
			for pointer, given := range map[string]bool{"/state": fields.State != nil, "/text": fields.Text != nil} {
				if given {
					found = append(found, Mistake{Pointer: pointer, Code: spec.CodeConflict, Message: "what was said stays: add an update"})
				}
			}
			return found
		})
	})
}

func (a *api) addUpdate(ctx context.Context, in *struct {
	PostPath
	Idempotent
	IfMatch string `header:"If-Match" doc:"the ETag you read; absent: the last write wins"`
	Body    document[UpdateInput]
}) (*answer[postBody], error) {
	return once(ctx, a, in.Key, in.Body.raw, func() (*answer[postBody], error) { // readers are told of each
		out, err := a.changePost(ctx, in.PostPath, in.IfMatch, func(p *pagestore.Post) *Problem {
			return read(in.Body, func(fields UpdateInput, _ nulls) []Mistake {
				u, found := judgeUpdate(fields.State, fields.Text, p.State(), identityOf(ctx).Actor, a.Now())
				if len(p.Body.Updates) >= maxUpdates {
					found = append(found, Mistake{Code: spec.CodeTooMany, Message: "a post has at most 200 updates: write another one"})
				}
				said(p, u)
				return found
			})
		})
		if err != nil {
			return nil, err
		}
		return &answer[postBody]{Status: http.StatusOK, ETag: out.ETag, Body: stored[postBody]{value: out.Body}}, nil
	})
}

func (a *api) changePost(ctx context.Context, path PostPath, match string, change func(*pagestore.Post) *Problem) (*postOutput, error) {
	wanted, err := ifMatch(match)
	if err != nil {
		return nil, pagestore.ErrConflict
	}
	updated, err := a.StatusPages.UpdatePost(ctx, path.ID, path.Post, wanted, func(p *pagestore.Post) error {
		if bad := change(p); bad != nil {
			return bad
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	a.pageChanged(ctx, "status-post.updated", postObject(updated), updated.Body.Title)
	return &postOutput{version(updated.Version), postOf(updated)}, nil
}

func (a *api) deletePost(ctx context.Context, in *struct {
	PostPath
	IfMatch string `header:"If-Match" doc:"the ETag you read; absent: whatever it is now"`
}) (*noContent, error) {
	wanted, err := ifMatch(in.IfMatch)
	if err != nil {
		return nil, pagestore.ErrConflict
	}
	gone, err := a.StatusPages.Post(ctx, in.ID, in.Post)
	if err == nil {
		err = a.StatusPages.DeletePost(ctx, in.ID, in.Post, wanted)
	}
	if err != nil {
		return nil, err
	}
	a.pageChanged(ctx, "status-post.deleted", postObject(gone), gone.Body.Title)
	return nil, nil
}
