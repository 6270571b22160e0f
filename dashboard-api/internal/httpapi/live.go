package httpapi

import (
	"bytes"
	"context"
	"net/http"
	"sync"

	"github.com/probefleet/probefleet/dashboard-api/internal/live"
)

type snapshotOutput struct{ Body live.Snapshot }

func (a *api) snapshot(_ context.Context, in *struct {
	Ticks int `query:"ticks" minimum:"0" maximum:"1000000" default:"1000000" doc:"at most so many ticks altogether, the newest of each target, but at least one slot of each"`
}) (*snapshotOutput, error) {
	return &snapshotOutput{a.Hub.Brief(in.Ticks)}, nil
}

type overviewOutput struct{ Body live.Overview }

func (a *api) overview(_ context.Context, in *struct {
	First int `query:"first" minimum:"0" maximum:"200" default:"40" doc:"show so many targets"`
}) (*overviewOutput, error) {
	return &overviewOutput{a.Hub.Overview(in.First)}, nil
}

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
