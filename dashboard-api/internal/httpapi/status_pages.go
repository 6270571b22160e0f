package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/pagestore"
)

// StatusPages keeps public status pages and their posts.
type StatusPages interface {
	Create(ctx context.Context, p pagestore.Page, now time.Time) (pagestore.Page, error)
	Update(ctx context.Context, id int64, now time.Time, fits func(pagestore.Page) bool, change func(*pagestore.Page) error) (pagestore.Page, error)
	Delete(ctx context.Context, id int64, fits func(pagestore.Page) bool) error
	Get(ctx context.Context, id int64) (pagestore.Page, error)
	KnownAt(ctx context.Context, id int64, at time.Time) (pagestore.Page, error)
	List(ctx context.Context, afterID int64, limit int) ([]pagestore.Page, error)

	CreatePost(ctx context.Context, p pagestore.Post) (pagestore.Post, error)
	UpdatePost(ctx context.Context, pageID, id, ifVersion int64, change func(*pagestore.Post) error) (pagestore.Post, error)
	DeletePost(ctx context.Context, pageID, id, ifVersion int64) error
	Post(ctx context.Context, pageID, id int64) (pagestore.Post, error)
	Posts(ctx context.Context, pageID, beforeID int64, limit int) ([]pagestore.Post, error)
	Told(ctx context.Context, incidentID int64, limit int) ([]pagestore.Post, map[int64]pagestore.Page, error)
}

// StatusPagePath names the page in a path. (Huma passes over embedded types that are not exported.)
type StatusPagePath struct {
	ID int64 `path:"id" minimum:"1"`
}

type pageOutput struct {
	Status int
	ETag   string `header:"ETag"`
	Body   pageBody
}

func pageObject(id int64) string { return "status-page:" + strconv.FormatInt(id, 10) }

// pageTag names what a page says: between two versions its targets may only have become fewer.
// Who carries a tag is no part of it: nobody's change of a page is in the way of that.
func pageTag(p pagestore.Page) string { return fmt.Sprintf(`"%d.%d"`, p.Version, p.Targets()) }

// pageFits is what If-Match asks of a page; nil: nothing.
func pageFits(header string) func(pagestore.Page) bool {
	header = strings.TrimSpace(header)
	if header == "" || header == "*" {
		return nil
	}
	return func(p pagestore.Page) bool { return header == pageTag(p) }
}

// pageChanged tells the pages of this node, and the audit log.
func (a *api) pageChanged(ctx context.Context, action, object, detail string) {
	if a.PagesChanged != nil {
		a.PagesChanged()
	}
	a.audit(ctx, action, object, detail)
}

func (a *api) listPages(ctx context.Context, in *Page) (*listOutput[pageBody], error) {
	after, err := readIDCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	found, err := a.StatusPages.List(ctx, after, in.Limit+1)
	if err != nil {
		return nil, err
	}
	return pageOf(found, in.Limit, a.pageBody, func(p pagestore.Page) int64 { return p.ID }), nil
}

// mergePage lays a document over a page. The hash of its password is made by the caller.
func (a *api) mergePage(p *pagestore.Page, body document[PageInput], hash string) error {
	if bad := read(body, func(in PageInput, null nulls) []Mistake {
		return (&pageMerger{page: p, dashboard: a.PublicURL}).merge(in, null)
	}); bad != nil {
		return bad
	}
	if hash != "" {
		p.Terms.PasswordHash = hash
	}
	return nil
}

// passwordHash is that of the password a document sets; "" when it sets none.
func (a *api) passwordHash(ctx context.Context, body document[PageInput]) (string, error) {
	in, _, _ := body.decode() // mistakes are told by merging
	if n := len(deref(in.Password)); n < minPagePassword || n > 4*maxPagePassword {
		return "", nil
	}
	return a.hasher().Hash(ctx, *in.Password)
}

// pageProblem puts what a write of a page can clash on at its place.
func pageProblem(err error) error {
	switch {
	case errors.Is(err, pagestore.ErrTaken):
		return mistakes([]Mistake{{Pointer: "/slug", Code: codeDuplicateName, Message: "another status page has this slug, or this host"}})
	case errors.Is(err, pagestore.ErrTargetGone):
		return mistakes([]Mistake{{Pointer: "/groups", Code: codeNotFound, Message: "one of these targets does not exist"}})
	}
	return err
}

func (a *api) createPage(ctx context.Context, in *struct {
	Idempotent
	Body document[PageInput]
}) (*answer[pageBody], error) {
	return once(ctx, a, in.Key, in.Body.raw, func() (*answer[pageBody], error) {
		hash, err := a.passwordHash(ctx, in.Body)
		if err != nil {
			return nil, err
		}
		p := pagestore.Page{Terms: pagestore.Terms{Theme: pagestore.ThemeAuto, Language: "en", Zone: "UTC"}}
		if err := a.mergePage(&p, in.Body, hash); err != nil {
			return nil, err
		}
		if all, err := a.StatusPages.List(ctx, 0, mostOfThem); err != nil || len(all) == mostOfThem {
			return nil, tooMany(err, "status pages")
		}
		created, err := a.StatusPages.Create(ctx, p, a.Now())
		if err != nil {
			return nil, pageProblem(err)
		}
		a.pageChanged(ctx, "status-page.created", pageObject(created.ID), created.Slug)
		return &answer[pageBody]{Status: http.StatusCreated, ETag: pageTag(created), Location: fmt.Sprintf("/api/v1/status-pages/%d", created.ID), Body: stored[pageBody]{value: a.pageBody(created)}}, nil
	})
}

func (a *api) getPage(ctx context.Context, in *struct {
	StatusPagePath
	IfNoneMatch string `header:"If-None-Match"`
}) (*pageOutput, error) {
	p, err := a.StatusPages.Get(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	out := &pageOutput{http.StatusOK, pageTag(p), a.pageBody(p)}
	if knows(in.IfNoneMatch, out.ETag) {
		out.Status = http.StatusNotModified
	}
	return out, nil
}

func (a *api) patchPage(ctx context.Context, in *struct {
	StatusPagePath
	IfMatch string `header:"If-Match" doc:"the ETag you read; absent: the last write wins"`
	Body    document[PageInput]
}) (*pageOutput, error) {
	hash, err := a.passwordHash(ctx, in.Body)
	if err != nil {
		return nil, err
	}
	updated, err := a.StatusPages.Update(ctx, in.ID, a.Now(), pageFits(in.IfMatch), func(p *pagestore.Page) error { return a.mergePage(p, in.Body, hash) })
	if err != nil {
		return nil, pageProblem(err)
	}
	a.pageChanged(ctx, "status-page.updated", pageObject(updated.ID), updated.Slug)
	return &pageOutput{http.StatusOK, pageTag(updated), a.pageBody(updated)}, nil
}

func (a *api) deletePage(ctx context.Context, in *struct {
	StatusPagePath
	IfMatch string `header:"If-Match" doc:"the ETag you read; absent: whatever it is now"`
}) (*noContent, error) {
	gone, err := a.StatusPages.Get(ctx, in.ID)
	if err == nil {
		err = a.StatusPages.Delete(ctx, in.ID, pageFits(in.IfMatch))
	}
	if err != nil {
		return nil, err
	}
	a.pageChanged(ctx, "status-page.deleted", pageObject(in.ID), gone.Slug)
	return nil, nil
}
