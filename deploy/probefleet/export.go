package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/probefleet/probefleet/internal/accountstore"
	"github.com/probefleet/probefleet/internal/service"
)

const (
	exportTries = 10               // in a row that bring no row
	exportStall = time.Minute      // without a byte is a broken connection
	exportPause = 2 * time.Second  // before the next try, longer each time
	exportRest  = 30 * time.Second // the longest
)

// historyExport writes a file by way of the API. What breaks is gone on with after the last
// row that arrived, and only a whole file gets its name.
type historyExport struct {
	Target string `arg:"" help:"Target: its number, or its name."`
	Kind   string `enum:"raw,hourly,daily" default:"raw" help:"What: results (raw), or the figures of hours (hourly) or UTC days (daily)."`
	From   string `help:"First slot, such as 2026-11-01 or 2026-11-01T06:00:00Z; default: as far as this is kept."`
	To     string `help:"End, not included; default: now."`
	Format string `enum:"ndjson,csv" default:"ndjson" help:"A line of JSON (ndjson) or of CSV (csv) a row."`
	Out    string `required:"" placeholder:"FILE" help:"File to write. Until it is whole it is FILE.partial."`
	Resume bool   `help:"Go on with FILE.partial, which was left by the same export."`

	apiFlags `embed:""`
}

func (c *historyExport) Run(ctx context.Context, to console) error {
	return c.run(ctx, to, exportPause)
}

func (c *historyExport) run(ctx context.Context, to console, pause time.Duration) error {
	now := time.Now().UTC()
	from, err := instantOr(c.From, time.Time{})
	if err != nil {
		return service.Exit(service.ExitConfig, err)
	}
	until, err := instantOr(c.To, now)
	if err == nil && !from.Before(until) {
		err = errors.New("--from is not before --to")
	}
	if err != nil {
		return service.Exit(service.ExitConfig, err)
	}
	file, err := openExport(c.Out, c.Format, c.Resume)
	if err != nil {
		return service.Exit(service.ExitFailure, err)
	}
	defer file.close()
	if file.rows > 0 {
		_, _ = fmt.Fprintf(to.Err, "going on after %s, %d rows are there\n", file.last.at.Format(time.RFC3339), file.rows)
	}
	d := &download{file: file, progress: exportProgress{out: to.Err, from: from, to: until}, pause: pause}
	d.query = url.Values{"kind": {c.Kind}, "format": {c.Format}, "to": {until.Format(time.RFC3339Nano)}}
	if !from.IsZero() {
		d.query.Set("from", from.Format(time.RFC3339Nano))
	}
	if err := c.fetch(ctx, d); err != nil {
		if file.rows > 0 && !errors.Is(err, errOther) {
			_, _ = fmt.Fprintf(to.Err, "%d rows are in %s: go on with the same command and --resume\n", file.rows, file.path())
		}
		return service.Exit(service.ExitDependency, err)
	}
	if err := file.finish(); err != nil {
		return service.Exit(service.ExitFailure, err)
	}
	_, _ = fmt.Fprintf(to.Out, "%s: %d rows, %s\n", c.Out, file.rows, megabytes(file.bytes))
	return nil
}

// fetch asks for part after part until all is there.
func (c *historyExport) fetch(ctx context.Context, d *download) error {
	tries, pause := 0, d.pause
	for {
		before := d.file.rows
		whole, again, err := c.part(ctx, d)
		if whole || !again || ctx.Err() != nil {
			return err
		}
		if tries++; d.file.rows > before {
			tries, pause = 1, d.pause
		}
		if tries >= exportTries {
			return err
		}
		d.progress.say("broken off: %v; going on", err)
		if !sleep(ctx, pause) {
			return ctx.Err()
		}
		pause = min(2*pause, exportRest)
	}
}

// part asks once. It connects anew: the key that was lent may have ended.
func (c *historyExport) part(ctx context.Context, d *download) (whole, again bool, err error) {
	api, err := c.connect(ctx, "history export", accountstore.RoleViewer)
	if err != nil {
		return false, false, err
	}
	if d.target == 0 {
		if d.target, err = findTarget(ctx, api, c.Target); err != nil {
			return false, false, err
		}
	}
	if f := d.file; f.rows > 0 && (f.target != d.target || f.figures != (c.Kind != "raw")) {
		return false, false, fmt.Errorf("%s %w: remove it, or write to another file", f.path(), errOther)
	}
	return d.run(ctx, api)
}

// findTarget gives the number of a target.
func findTarget(ctx context.Context, api *apiClient, name string) (int64, error) {
	if id, err := strconv.ParseInt(name, 10, 64); err == nil && id > 0 {
		return id, nil
	}
	raw, err := api.get(ctx, "/api/v1/targets?limit=1000&search="+url.QueryEscape(name))
	if err != nil {
		return 0, err
	}
	var found struct {
		Items []struct {
			ID   int64  `json:"id"`
			Name string `json:"name"`
		} `json:"items"`
	}
	if err := json.Unmarshal(raw, &found); err != nil {
		return 0, fmt.Errorf("the API's answer: %w", err)
	}
	for _, item := range found.Items {
		if item.Name == name {
			return item.ID, nil
		}
	}
	return 0, fmt.Errorf("no target is called %q", plain(name))
}

// download is a part of an export on its way into its file.
type download struct {
	file     *exportFile
	target   int64
	query    url.Values
	progress exportProgress
	pause    time.Duration // before the second try
}

// run asks for what is missing. It says whether that was all and, if not, whether it makes
// sense to ask again.
func (d *download) run(ctx context.Context, api *apiClient) (whole, again bool, err error) {
	if d.file.rows > 0 {
		d.query.Set("after", d.file.last.at.Format(time.RFC3339Nano)+","+d.file.last.region)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stalled := time.AfterFunc(exportStall, func() { cancel(errors.New("nothing arrived for " + exportStall.String())) })
	defer stalled.Stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/api/v1/targets/%d/export?%s", api.base, d.target, d.query.Encode()), nil)
	if err != nil {
		return false, false, fmt.Errorf("--api: %w", err)
	}
	request.Header.Set("Authorization", "Bearer "+api.key)
	response, err := (&http.Client{}).Do(request) // it asks for gzip and unpacks it by itself
	if err != nil {
		return false, true, fmt.Errorf("the API does not answer: %w", orCause(ctx, err))
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(response.Body, 1<<20))
		return false, response.StatusCode >= 500 || response.StatusCode == http.StatusTooManyRequests, refusal(response.StatusCode, text)
	}
	err = d.file.take(&alive{response.Body, stalled, exportStall}, &d.progress)
	if errors.Is(err, errChanged) {
		d.file.discard()
	}
	return err == nil, !errors.Is(err, errDisk) && !errors.Is(err, errChanged), orCause(ctx, err)
}

func orCause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	return err
}

// alive has a timer run while something is waited for, and not while it is written down.
type alive struct {
	io.Reader
	timer *time.Timer
	stall time.Duration
}

func (a *alive) Read(p []byte) (int, error) {
	a.timer.Reset(a.stall)
	defer a.timer.Stop()
	return a.Reader.Read(p)
}
