package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	exportPath = "/api/v1/targets/{id}/export"
	// maxExports is how many exports a node serves at once: each holds a page in memory,
	// and keeps ClickHouse busy.
	maxExports = 4
	// pagePatience is how long a reader may take for a page.
	pagePatience = 30 * time.Second
)

// What is exported.
const (
	kindRaw    = "raw"
	kindHourly = "hourly"
	kindDaily  = "daily"
)

// Exports reads what is kept of a target page by page, the oldest first.
type Exports interface {
	ExportResults(context.Context, resultstore.ExportQuery) ([]uptime.Result, error)
	ExportFigures(context.Context, resultstore.Tier, resultstore.ExportQuery) ([]resultstore.Bucket, error)
}

// exportRow is a line of an export.
type exportRow interface {
	place() resultstore.Cursor
	record() []string
}

type exportInput struct {
	TargetPath
	Kind   string    `query:"kind" enum:"raw,hourly,daily" default:"raw" doc:"results, or the figures of hours or UTC days, per region and (region empty) of the target as a whole"`
	From   time.Time `query:"from" doc:"first slot, RFC 3339; by default as far as this is kept"`
	To     time.Time `query:"to" doc:"first slot that is not included; by default now"`
	Format string    `query:"format" enum:"ndjson,csv" default:"ndjson"`
	After  string    `query:"after" maxLength:"80" doc:"go on after this row: its instant, a comma and its region, such as 2026-03-01T12:00:00.000Z,eu"`
}

// export streams what is kept of a target. Its last line says that it is whole.
func (a *api) export(ctx context.Context, in *exportInput) (*huma.StreamResponse, error) {
	q := resultstore.ExportQuery{TargetID: in.ID, From: in.From, To: in.To, Limit: resultstore.MaxExportPage}
	if q.To.IsZero() {
		q.To = a.Now().UTC()
	}
	if !q.From.Before(q.To) {
		return nil, mistakes([]Mistake{{Parameter: "from", Code: codeInvalidRange, Message: "from must be before to"}})
	}
	var err error
	if q.After, err = readPlace(in.After); err != nil {
		return nil, err
	}
	if _, err := a.Targets.Get(ctx, in.ID); err != nil {
		return nil, err
	}
	if !a.exporting.TryAcquire(1) {
		return nil, problem(http.StatusServiceUnavailable, codeUnavailable, "too many exports are under way: try again").retryAfter(retryWhenDown)
	}
	page, err := a.exportPage(ctx, in.Kind, q) // an outage is still an answer of its own here
	if err != nil {
		a.exporting.Release(1)
		return nil, err
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		defer a.exporting.Release(1)
		r, w := humago.Unwrap(hc)
		e := exportOf(w, in)
		if takesGzip(r.Header) {
			e.compress(w.Header())
		}
		e.begin(w.Header(), in, q)
		if err := a.exportAll(r.Context(), e, in.Kind, q, page); err != nil {
			a.Log.Warn("export broken off", "request_id", requestID(r.Context()), "target_id", in.ID, "rows", e.rows, "error", err)
			panic(http.ErrAbortHandler) // cuts the connection: nobody may take a part for the whole
		}
	}}, nil
}

// exportAll writes page after page as they come, and the line that says it was all.
func (a *api) exportAll(ctx context.Context, e *exportWriter, kind string, q resultstore.ExportQuery, page []exportRow) (err error) {
	for {
		if err := e.page(page); err != nil {
			return err
		}
		if len(page) < q.Limit {
			if _, err := a.Targets.Get(ctx, q.TargetID); err != nil {
				return err // deleted meanwhile: rows may be gone that were to come
			}
			return e.end()
		}
		last := page[len(page)-1].place()
		q.After = &last
		if page, err = a.exportPage(ctx, kind, q); err != nil {
			return err
		}
		if err := a.Sessions.StillAllowed(ctx, requestOf(ctx)); err != nil { // it may take hours
			return err
		}
	}
}

func (a *api) exportPage(ctx context.Context, kind string, q resultstore.ExportQuery) (page []exportRow, err error) {
	if kind == kindRaw {
		results, err := a.Exports.ExportResults(ctx, q)
		for _, r := range results {
			page = append(page, rawRow(resultOf(r)))
		}
		return page, down(clickHouse, err)
	}
	tier := resultstore.TierHourly
	if kind == kindDaily {
		tier = resultstore.TierDaily
	}
	buckets, err := a.Exports.ExportFigures(ctx, tier, q)
	for _, b := range buckets {
		page = append(page, bucketOf(q.TargetID, b))
	}
	return page, down(clickHouse, err)
}

// readPlace reads where an export goes on.
func readPlace(text string) (*resultstore.Cursor, error) {
	if text == "" {
		return nil, nil
	}
	instant, region, cut := strings.Cut(text, ",")
	at, err := time.Parse(time.RFC3339, instant)
	if err != nil || !cut {
		return nil, mistakes([]Mistake{{Parameter: "after", Code: codeInvalidParameter, Message: fmt.Sprintf("%q is not an instant, a comma and a region", shorten(text, 80))}})
	}
	return &resultstore.Cursor{ScheduledAt: at.UTC(), Region: region}, nil
}
