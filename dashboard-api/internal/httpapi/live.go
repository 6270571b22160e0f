package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/probefleet/probefleet/dashboard-api/internal/answercache"
	"github.com/probefleet/probefleet/dashboard-api/internal/live"
)

// snapshotOutput may be kept by nobody who would show it again by himself: a browser that asks whether
// its copy is good would hand a page the now of long ago, by which evidence is judged.
type snapshotOutput struct {
	Status       int
	ETag         string `header:"ETag" doc:"of what is known, whenever: with If-None-Match the answer is 304 while that is the same"`
	Now          string `header:"X-Probefleet-Now" doc:"now, as in the body; of a 304: until when nothing has changed"`
	CacheControl string `header:"Cache-Control"`
	Body         snapshotBody
}

// snapshotBody is a snapshot whose items are written already.
type snapshotBody struct {
	live.Snapshot
	Items json.RawMessage `json:"items"`
}

// Schema describes the snapshot.
func (snapshotBody) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(typeOf[live.Snapshot](), true, "")
}

func (a *api) snapshot(ctx context.Context, in *struct {
	Ticks int `query:"ticks" minimum:"0" maximum:"100000" default:"10000" doc:"at most so many ticks altogether, the newest of each target, but at least one slot of each"`
}) (*snapshotOutput, error) {
	if err := a.showTurn(ctx); err != nil {
		return nil, err
	}
	defer a.showing.Release(1)
	s := a.Hub.Brief(in.Ticks)
	items, err := json.Marshal(s.Items)
	if err != nil {
		return nil, err
	}
	tag := snapshotTag(s, items)
	out := &snapshotOutput{Status: http.StatusOK, ETag: "W/" + tag, Now: s.Now.Format("2006-01-02T15:04:05.000Z07:00"), CacheControl: "private, no-store"}
	if knows(requestOf(ctx).Header.Get("If-None-Match"), tag) {
		out.Status = http.StatusNotModified
		return out, nil
	}
	out.Body = snapshotBody{s, items}
	return out, nil
}

const (
	// maxSnapshots is how many a node makes at once: each is a look at every target, and megabytes.
	// Others wait for their turn, but not longer than snapshotPatience.
	maxSnapshots     = 2
	snapshotPatience = 5 * time.Second
)

// showTurn waits until a snapshot may be made; whoever got it gives it back.
func (a *api) showTurn(ctx context.Context) error {
	within, cancel := context.WithTimeout(ctx, snapshotPatience)
	defer cancel()
	if a.showing.Acquire(within, 1) == nil {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return problem(http.StatusServiceUnavailable, codeUnavailable, "too many snapshots are asked for at once: try again").retryAfter(retryWhenDown)
}

// snapshotTag names what is known, by its content: much of it changes with time alone, and without a
// sequence. When it is asked for is no part of it, nor are the place in the stream of results, from
// which an older one goes on as well, and the last heartbeat of a region that is there: nobody is shown
// that, and it is another one all the time.
func snapshotTag(s live.Snapshot, items []byte) string {
	s.Now, s.Mark, s.Items = time.Time{}, "", nil
	s.Regions = slices.Clone(s.Regions)
	for i := range s.Regions {
		if s.Regions[i].Live {
			s.Regions[i].HeartbeatAt = nil
		}
	}
	rest, _ := json.Marshal(s) // plain structs: cannot fail
	return answercache.Tag(slices.Concat(rest, items))
}

type overviewOutput struct{ Body live.Overview }

func (a *api) overview(_ context.Context, in *struct {
	First int `query:"first" minimum:"0" maximum:"200" default:"40" doc:"show so many targets"`
}) (*overviewOutput, error) {
	return &overviewOutput{a.Hub.Overview(in.First)}, nil
}

func (a *api) socket(w http.ResponseWriter, r *http.Request) { a.Socket.ServeHTTP(w, r) }
func (a *api) stream(w http.ResponseWriter, r *http.Request) { a.Stream.ServeHTTP(w, r) }

// description serves the OpenAPI document, made once when it is first asked for:
// by then every route is registered.
func (a *api) description(r *router) http.Handler {
	return a.document(func() ([]byte, error) { return r.api.OpenAPI().MarshalJSON() })
}

// liveDescription serves the AsyncAPI document.
func (a *api) liveDescription() http.Handler {
	return a.document(func() ([]byte, error) { return asyncAPI(a.Version) })
}

// document serves JSON that is made once, when it is first asked for.
func (a *api) document(build func() ([]byte, error)) http.Handler {
	document := sync.OnceValues(build)
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := document()
		if err != nil {
			a.logged(req.Context(), problemOf(err)).write(w, req)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = bytes.NewReader(body).WriteTo(w)
	})
}
