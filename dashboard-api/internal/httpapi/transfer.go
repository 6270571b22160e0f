package httpapi

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	transferPath = "/api/v1/targets:export"
	importPath   = "/api/v1/targets:import"
	// transferFormat names the document that an export is and an import takes.
	transferFormat = "probefleet-targets-1"
	transferPage   = 500
	secretsNote    = "left out: each stands as [secret], and is to be written before a target is made of it elsewhere"
)

type transferInput struct {
	Format string `query:"format" enum:"json,csv" default:"json" doc:"json has all settings, csv those that are one word or a list"`
}

// exportTargets streams the settings of all targets, as POST /targets:import takes them.
func (a *api) exportTargets(ctx context.Context, in *transferInput) (*huma.StreamResponse, error) {
	if !a.exporting.TryAcquire(1) {
		return nil, problem(http.StatusServiceUnavailable, codeUnavailable, "too many exports are under way: try again").retryAfter(retryWhenDown)
	}
	page, err := a.Targets.List(ctx, targetstore.Filter{Limit: transferPage}) // an outage is still an answer of its own here
	if err != nil {
		a.exporting.Release(1)
		return nil, err
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		defer a.exporting.Release(1)
		r, w := humago.Unwrap(hc)
		e := &exportWriter{control: http.NewResponseController(w), sum: sha256.New(), lines: bufio.NewWriterSize(w, 64<<10)}
		if takesGzip(r.Header) {
			e.compress(w.Header())
		}
		media := "application/json"
		if in.Format == "csv" {
			media = mediaCSV + "; charset=utf-8"
		}
		w.Header().Set("Content-Type", media)
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Add("Vary", "Accept-Encoding")
		w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="probefleet-targets-%s.%s"`, a.Now().UTC().Format("20060102T150405Z"), in.Format))
		if err := a.exportPages(r.Context(), e, a.transferWriter(e, in.Format == "csv"), page); err != nil {
			a.Log.Warn("export of targets broken off", "request_id", requestID(r.Context()), "error", err)
			panic(http.ErrAbortHandler) // cuts the connection: nobody may take a part for the whole
		}
	}}, nil
}

// transferWriter writes targets in a format.
func (a *api) transferWriter(e *exportWriter, table bool) transferFile {
	var out io.Writer = e.lines
	if e.pack != nil {
		out = e.pack
	}
	if table {
		return &transferTable{out: out, csv: csv.NewWriter(out)}
	}
	return &transferDocument{out: out, at: instant(a.Now().UTC())}
}

func (a *api) exportPages(ctx context.Context, e *exportWriter, file transferFile, page []uptime.Target) error {
	if err := file.begin(); err != nil {
		return err
	}
	for {
		parents, err := a.parentNames(ctx, page)
		if err != nil {
			return err
		}
		for _, target := range page {
			if err := file.target(transferOf(target, parents[target.ParentID])); err != nil {
				return err
			}
		}
		if len(page) < transferPage {
			break
		}
		if err := e.flush(); err != nil {
			return err
		}
		if err := a.Sessions.StillAllowed(ctx, requestOf(ctx)); err != nil {
			return err
		}
		if page, err = a.Targets.List(ctx, targetstore.Filter{AfterID: page[len(page)-1].ID, Limit: transferPage}); err != nil {
			return err
		}
	}
	if err := file.end(); err != nil {
		return err
	}
	if e.pack != nil {
		if err := e.pack.Close(); err != nil {
			return err
		}
	}
	return e.send()
}

// parentNames are the names of those that targets depend on, by id.
func (a *api) parentNames(ctx context.Context, page []uptime.Target) (map[int64]string, error) {
	var ids []int64
	for _, target := range page {
		if target.ParentID != 0 {
			ids = append(ids, target.ParentID)
		}
	}
	found, err := a.Targets.ByIDs(ctx, ids)
	names := map[int64]string{}
	for _, parent := range found {
		names[parent.ID] = parent.Name
	}
	return names, err
}

// transferFile is an export as it is written.
type transferFile interface {
	begin() error
	target(transferTarget) error
	end() error // says that it is whole
}

// transferDocument is one JSON object. Its last member says how many targets are in it.
type transferDocument struct {
	out  io.Writer
	at   instant
	rows int
}

func (d *transferDocument) begin() error {
	at, _ := d.at.MarshalJSON() // cannot fail
	_, err := fmt.Fprintf(d.out, "{\"format\":%q,\"exported_at\":%s,\"secrets\":%q,\"targets\":[", transferFormat, at, secretsNote)
	return err
}

func (d *transferDocument) target(t transferTarget) error {
	line, err := json.Marshal(t)
	if err != nil {
		return err
	}
	between := ",\n"
	if d.rows++; d.rows == 1 {
		between = "\n"
	}
	_, err = d.out.Write(append([]byte(between), line...))
	return err
}

func (d *transferDocument) end() error {
	_, err := fmt.Fprintf(d.out, "\n],\"count\":%d}\n", d.rows)
	return err
}

// transferTable is CSV. Its last line, a comment, says how many targets are in it.
type transferTable struct {
	out  io.Writer
	csv  *csv.Writer
	rows int
}

func transferColumns() []string {
	return []string{"url", "name", "kind", "interval_s", "timeout_ms", "regions", "tags", "active", "family", "parent"}
}

func (d *transferTable) begin() error { return d.csv.Write(transferColumns()) }

func (d *transferTable) target(t transferTarget) error {
	d.rows++
	number := func(n *int64) string {
		if n == nil {
			return ""
		}
		return strconv.FormatInt(*n, 10)
	}
	family := deref(t.Family.value)
	if t.Unreadable != "" {
		family = codeUnreadable // which no import takes
	}
	return d.csv.Write([]string{
		harmless(t.URL), harmless(t.Name), t.Kind, number(t.IntervalS), number(t.TimeoutMS), strings.Join(t.Regions, " "), harmless(strings.Join(t.Tags, " ")),
		strconv.FormatBool(t.Active), family, harmless(deref(t.Parent.value)),
	})
}

func (d *transferTable) end() error {
	d.csv.Flush()
	if err := d.csv.Error(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(d.out, "# complete rows=%d\n", d.rows)
	return err
}
