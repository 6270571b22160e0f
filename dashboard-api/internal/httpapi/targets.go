package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/probefleet/probefleet/internal/livefeed"
	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Targets is what the API needs of the target store.
type Targets interface {
	Create(context.Context, uptime.Target) (uptime.Target, error)
	Update(ctx context.Context, id, ifVersion int64, change func(*uptime.Target) error) (uptime.Target, error)
	UpdateMany(ctx context.Context, asked []targetstore.Asked, dry bool, change func(*uptime.Target) error) ([]targetstore.Outcome, error)
	Rehearse(ctx context.Context, fn func(*targetstore.Rehearsal) error) error
	Delete(ctx context.Context, id, ifVersion int64) error
	Get(ctx context.Context, id int64) (uptime.Target, error)
	ByIDs(ctx context.Context, ids []int64) ([]uptime.Target, error)
	List(context.Context, targetstore.Filter) ([]uptime.Target, error)
	Each(ctx context.Context, fn func(uptime.Target) error) error
}

// Operations of a change to a target, as announced and audited.
const (
	opCreated = "created"
	opUpdated = "updated"
	opDeleted = "deleted"
)

// TargetPath names the target in a path. (Huma passes over embedded types that are not exported.)
type TargetPath struct {
	ID int64 `path:"id" minimum:"1"`
}

type targetOutput struct {
	Status   int
	ETag     string `header:"ETag" doc:"the spec_version"`
	Location string `header:"Location"`
	Body     targetBody
}

type noContent struct{}

type deletedOutput struct {
	Location string `header:"Location" doc:"where to see what is removed and what is done"`
}

// TargetChoice is which targets a list is of. (Huma passes over embedded types that are not exported.)
type TargetChoice struct {
	Search   string   `query:"search" maxLength:"200" doc:"part of the name or URL"`
	ParentID int64    `query:"parent_id" minimum:"1" doc:"only those that depend on it"`
	Tag      []string `query:"tag,explode" maxItems:"20" doc:"only those that have it; repeated: all of them"`
}

func (c TargetChoice) filter() (targetstore.Filter, error) {
	if !utf8.ValidString(c.Search) || strings.ContainsRune(c.Search, 0) { // neither is in any name, and Postgres takes neither
		return targetstore.Filter{}, mistakes([]Mistake{{Parameter: "search", Code: codeInvalidParameter, Message: "this is not a text"}})
	}
	tags, bad := uptime.ParseTags(c.Tag)
	if len(bad) > 0 {
		return targetstore.Filter{}, mistakes([]Mistake{{Parameter: "tag", Code: codeInvalidParameter, Message: uptime.TagRule}})
	}
	return targetstore.Filter{Search: c.Search, ParentID: c.ParentID, Tags: tags}, nil
}

func (a *api) listTargets(ctx context.Context, in *struct {
	Page
	TargetChoice
	Active string `query:"active" enum:"true,false" doc:"only active, or only paused ones"`
}) (*listOutput[targetBody], error) {
	after, err := readIDCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	filter, err := in.filter()
	if err != nil {
		return nil, err
	}
	filter.AfterID, filter.Limit = after, in.Limit+1
	if in.Active != "" {
		active := in.Active == "true"
		filter.Active = &active
	}
	found, err := a.Targets.List(ctx, filter)
	if err != nil {
		return nil, err
	}
	return pageOf(found, in.Limit, bodyOf, func(t uptime.Target) int64 { return t.ID }), nil
}

func (a *api) createTarget(ctx context.Context, in *struct {
	Idempotent
	Body document[TargetInput]
}) (*answer[targetBody], error) {
	return once(ctx, a, in.Key, in.Body.raw, func() (*answer[targetBody], error) {
		target, around := newTarget(), a.surroundings()
		if p := read(in.Body, func(fields TargetInput, null nulls) []Mistake { return merge(&target, fields, null, around) }); p != nil {
			return nil, p
		}
		created, err := a.Targets.Create(ctx, target)
		if err != nil {
			return nil, err
		}
		a.Hub.Upsert(created)
		a.changed(ctx, created.ID, opCreated, created.SpecVersion, created.Name, "")
		body := bodyOf(created)
		body.PreviewCheckID = a.preview(ctx, created)
		a.begin(ctx, created)
		return &answer[targetBody]{Status: http.StatusCreated, ETag: etag(created), Location: location(created.ID), Body: stored[targetBody]{value: body}}, nil
	})
}

func (a *api) getTarget(ctx context.Context, in *struct {
	TargetPath
	IfNoneMatch string `header:"If-None-Match"`
}) (*targetOutput, error) {
	target, err := a.Targets.Get(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	out := &targetOutput{Status: http.StatusOK, ETag: etag(target), Body: bodyOf(target)}
	if knows(in.IfNoneMatch, out.ETag) {
		out.Status = http.StatusNotModified // its body is not sent
	}
	return out, nil
}

func (a *api) patchTarget(ctx context.Context, in *struct {
	TargetPath
	IfMatch string `header:"If-Match" doc:"the ETag you read; absent: the last write wins"`
	Body    document[TargetInput]
}) (*targetOutput, error) {
	version, err := ifMatch(in.IfMatch)
	if err != nil {
		return nil, err
	}
	around, before := a.surroundings(), uptime.Target{}
	updated, err := a.Targets.Update(ctx, in.ID, version, func(target *uptime.Target) error {
		before = *target
		if p := read(in.Body, func(fields TargetInput, null nulls) []Mistake { return merge(target, fields, null, around) }); p != nil {
			return p
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	a.Hub.Upsert(updated)
	a.changed(ctx, updated.ID, opUpdated, updated.SpecVersion, updated.Name, revised(revisionOf(before, updated, a.parentsOf(ctx, before, updated))))
	body := bodyOf(updated)
	if !visitedAlike(before, updated) {
		body.PreviewCheckID = a.preview(ctx, updated)
	}
	return &targetOutput{Status: http.StatusOK, ETag: etag(updated), Body: body}, nil
}

func (a *api) deleteTarget(ctx context.Context, in *struct {
	TargetPath
	IfMatch string `header:"If-Match" doc:"the ETag you read; absent: whatever it is now"`
}) (*deletedOutput, error) {
	version, err := ifMatch(in.IfMatch)
	if err != nil {
		return nil, err
	}
	gone, err := a.Targets.Get(ctx, in.ID)
	if err == nil {
		err = a.Targets.Delete(ctx, in.ID, version)
	}
	if err != nil {
		return nil, err
	}
	a.Hub.Remove(in.ID)
	a.changed(ctx, in.ID, opDeleted, 0, gone.Name, "")
	return &deletedOutput{Location: fmt.Sprintf("/api/v1/deletions/%d", in.ID)}, nil
}

// changed tells the others about a stored change. It cannot fail the write: what
// is lost here, the reconciliations of publisher and API find.
func (a *api) changed(ctx context.Context, id int64, op string, seq int64, detail, changes string) {
	a.Recent.Forget(id)
	a.After.Add(livefeed.Change{TargetID: id, Op: op, Seq: seq})
	entry := a.entry(ctx, "target."+op, targetObject(id), detail)
	entry.Changes = changes
	a.note(ctx, entry)
}

// targetObject is a target in the audit log.
func targetObject(id int64) string { return "target:" + strconv.FormatInt(id, 10) }

func etag(t uptime.Target) string { return `"` + strconv.FormatInt(t.SpecVersion, 10) + `"` }

func location(id int64) string { return fmt.Sprintf("/api/v1/targets/%d", id) }

// ifMatch reads the version a write insists on; 0 means any.
func ifMatch(header string) (int64, error) {
	header = strings.TrimSpace(header)
	if header == "" || header == "*" {
		return 0, nil
	}
	version, err := strconv.ParseInt(strings.Trim(header, `"`), 10, 64)
	if err != nil || version < 1 {
		return 0, targetstore.ErrConflict // not one of our ETags, so not the current one
	}
	return version, nil
}
