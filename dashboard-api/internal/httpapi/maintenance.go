package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/maintenance"
	"github.com/probefleet/probefleet/internal/maintenancestore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Maintenance keeps maintenance windows, and knows when targets were maintained, as far as
// that touches [from, to).
type Maintenance interface {
	Maintenance(ctx context.Context, ids []int64, from, to time.Time) (map[int64]availability.Spans, error)
	Holding(ctx context.Context, since time.Time) ([]maintenancestore.Window, error)
	Create(ctx context.Context, name string, terms maintenance.Window, now time.Time) (maintenancestore.Window, error)
	Get(ctx context.Context, id int64) (maintenancestore.Window, error)
	List(ctx context.Context, afterID int64, limit int) ([]maintenancestore.Window, error)
	Update(ctx context.Context, id, ifVersion int64, now time.Time, change func(*maintenancestore.Window) error) (maintenancestore.Window, error)
	Remove(ctx context.Context, id, ifVersion int64, now time.Time) error
}

// WindowPath names the window in a path. (Huma passes over embedded types that are not exported.)
type WindowPath struct {
	ID int64 `path:"id" minimum:"1"`
}

// WindowInput is what may be set on a maintenance window.
type WindowInput struct {
	Name       *string  `json:"name,omitempty" maxLength:"120"`
	Everything *bool    `json:"everything,omitempty" doc:"It is for all targets. Else say target_id or tags."`
	TargetID   *int64   `json:"target_id,omitempty" doc:"It is for this target."`
	Tags       []string `json:"tags,omitempty" maxItems:"20" nullable:"true" doc:"It is for targets with one of these: from when they are given it until it is taken off."`
	StartsAt   *string  `json:"starts_at,omitempty" example:"2026-03-29T02:30:00" doc:"By the clock on the wall of the zone."`
	Zone       *string  `json:"zone,omitempty" example:"Europe/Berlin" doc:"IANA time zone. Default UTC."`
	DurationS  *int64   `json:"duration_s,omitempty" minimum:"60" maximum:"2678400" doc:"By the same clock: from 02:30 for two hours is until 04:30, also when clocks change in between."`
	RRule      *string  `json:"rrule,omitempty" maxLength:"300" example:"FREQ=WEEKLY;BYDAY=SU" doc:"When it comes again (RFC 5545), without times of day. Default once."`
}

// windowBody is a maintenance window in answers.
type windowBody struct {
	ID         int64             `json:"id"`
	Name       string            `json:"name"`
	Everything bool              `json:"everything"`
	TargetID   nullable[int64]   `json:"target_id"`
	Tags       []string          `json:"tags" nullable:"false"`
	StartsAt   string            `json:"starts_at"`
	Zone       string            `json:"zone"`
	DurationS  int               `json:"duration_s"`
	RRule      string            `json:"rrule" doc:"empty: once"`
	Active     bool              `json:"active" doc:"it holds now"`
	NextFrom   nullable[instant] `json:"next_from" doc:"when it holds next, or began to hold now; null: never again"`
	NextTo     nullable[instant] `json:"next_to"`
	Begun      bool              `json:"begun" doc:"it has held, or holds: DELETE ends it, and what it covered stays covered"`
	EndedAt    nullable[instant] `json:"ended_at" doc:"when somebody ended it"`
	CreatedAt  instant           `json:"created_at"`
	ChangedAt  nullable[instant] `json:"changed_at" doc:"since when it is as it is: what it covered before, by what it was then, stays covered; null: it was never changed"`
	Version    int64             `json:"version" doc:"rises with every change; the ETag"`
	Unreadable string            `json:"unreadable,omitempty" doc:"what of it this release cannot read, if so: by that it holds nobody, and it cannot be changed"`
}

type windowOutput struct {
	ETag string `header:"ETag" doc:"the version"`
	Body windowBody
}

func windowOf(w maintenancestore.Window, now time.Time) windowBody {
	body := windowBody{
		ID: w.ID, Name: w.Name, Everything: w.Terms.Everything, Tags: orEmpty(w.Terms.Tags), StartsAt: w.Terms.StartsAt, Zone: zoneName(w.Terms.Zone),
		DurationS: w.Terms.DurationS, RRule: w.Terms.RRule, Begun: w.Begun(now), EndedAt: maybeInstant(w.EndedAt), CreatedAt: instant(w.CreatedAt), ChangedAt: maybeInstant(w.ChangedAt), Version: w.Version,
		Unreadable: w.Unread,
	}
	if w.Terms.TargetID != 0 {
		body.TargetID = some(w.Terms.TargetID)
	}
	if next, found := w.Next(now); found {
		body.Active = !next.From.After(now)
		body.NextFrom, body.NextTo = maybeInstant(next.From), maybeInstant(next.To)
	}
	return body
}

func windowObject(id int64) string { return "maintenance-window:" + strconv.FormatInt(id, 10) }

func (a *api) listWindows(ctx context.Context, in *Page) (*listOutput[windowBody], error) {
	after, err := readIDCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	found, err := a.Maintenance.List(ctx, after, in.Limit+1)
	if err != nil {
		return nil, err
	}
	return pageOf(found, in.Limit, func(w maintenancestore.Window) windowBody { return windowOf(w, a.Now()) }, func(w maintenancestore.Window) int64 { return w.ID }), nil
}

func (a *api) createWindow(ctx context.Context, in *struct {
	Idempotent
	Body document[WindowInput]
}) (*answer[windowBody], error) {
	return once(ctx, a, in.Key, in.Body.raw, func() (*answer[windowBody], error) {
		targets, err := a.windowTargets(ctx, in.Body)
		if err != nil {
			return nil, err
		}
		var window maintenancestore.Window
		if err := mergeWindow(&window, in.Body, targets); err != nil {
			return nil, err
		}
		if all, err := a.Maintenance.List(ctx, 0, mostOfThem); err != nil || len(all) == mostOfThem {
			return nil, tooMany(err, "maintenance windows")
		}
		created, err := a.Maintenance.Create(ctx, window.Name, window.Terms, a.Now())
		if err != nil {
			return nil, err
		}
		a.audit(ctx, "maintenance-window.created", windowObject(created.ID), created.Name)
		return &answer[windowBody]{Status: http.StatusCreated, ETag: version(created.Version), Location: fmt.Sprintf("/api/v1/maintenance-windows/%d", created.ID), Body: stored[windowBody]{value: windowOf(created, a.Now())}}, nil
	})
}

// windowTargets are those of the targets that a document names that there are.
func (a *api) windowTargets(ctx context.Context, body document[WindowInput]) ([]uptime.Target, error) {
	in, _, _ := body.decode() // mistakes are told by merging
	if deref(in.TargetID) < 1 {
		return nil, nil
	}
	return a.Targets.ByIDs(ctx, []int64{*in.TargetID})
}

// mergeWindow lays a document over a window, or tells every mistake in what that would come to. One
// that was for a target that is gone may go on to be.
func mergeWindow(w *maintenancestore.Window, body document[WindowInput], targets []uptime.Target) error {
	p := read(body, func(in WindowInput, null nulls) (found []Mistake) {
		w.Name, found = givenName(in.Name, null["name"], w.Name)
		t := &w.Terms
		lay(&t.Everything, in.Everything, null["everything"])
		lay(&t.TargetID, in.TargetID, null["target_id"])
		lay(&t.StartsAt, in.StartsAt, null["starts_at"])
		lay(&t.Zone, in.Zone, null["zone"])
		lay(&t.RRule, in.RRule, null["rrule"])
		if in.DurationS != nil || null["duration_s"] {
			t.DurationS = int(deref(in.DurationS))
		}
		if in.Tags != nil || null["tags"] {
			t.Tags = in.Tags
		}
		_, problems := maintenance.New(*t)
		t.Tags, _ = uptime.ParseTags(t.Tags)
		for _, one := range problems {
			found = append(found, Mistake{Pointer: one.Pointer, Code: one.Code, Message: one.Message})
		}
		if deref(in.TargetID) > 0 && len(targets) == 0 {
			found = append(found, Mistake{Pointer: "/target_id", Code: codeNotFound, Message: "there is no such target"})
		}
		return found
	})
	if p != nil {
		return p
	}
	return nil
}

// lay puts what was given in the place of what was there; null is the zero value.
func lay[T any](into, in *T, null bool) {
	switch {
	case in != nil:
		*into = *in
	case null:
		*into = *new(T)
	}
}

func (a *api) getWindow(ctx context.Context, in *WindowPath) (*windowOutput, error) {
	w, err := a.Maintenance.Get(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return &windowOutput{version(w.Version), windowOf(w, a.Now())}, nil
}

func (a *api) patchWindow(ctx context.Context, in *struct {
	WindowPath
	IfMatch string `header:"If-Match" doc:"the ETag you read; absent: the last write wins"`
	Body    document[WindowInput]
}) (*windowOutput, error) {
	wanted, err := ifMatch(in.IfMatch)
	if err != nil {
		return nil, maintenancestore.ErrConflict
	}
	targets, err := a.windowTargets(ctx, in.Body)
	if err != nil {
		return nil, err
	}
	updated, err := a.Maintenance.Update(ctx, in.ID, wanted, a.Now(), func(w *maintenancestore.Window) error { return mergeWindow(w, in.Body, targets) })
	if err != nil {
		return nil, err
	}
	a.audit(ctx, "maintenance-window.updated", windowObject(updated.ID), updated.Name)
	return &windowOutput{version(updated.Version), windowOf(updated, a.Now())}, nil
}

func (a *api) removeWindow(ctx context.Context, in *struct {
	WindowPath
	IfMatch string `header:"If-Match" doc:"the ETag you read; absent: whatever it is now"`
}) (*noContent, error) {
	wanted, err := ifMatch(in.IfMatch)
	if err != nil {
		return nil, maintenancestore.ErrConflict
	}
	gone, err := a.Maintenance.Get(ctx, in.ID)
	if err == nil {
		err = a.Maintenance.Remove(ctx, in.ID, wanted, a.Now())
	}
	if err != nil {
		return nil, err
	}
	a.audit(ctx, "maintenance-window.removed", windowObject(in.ID), gone.Name)
	return nil, nil
}
