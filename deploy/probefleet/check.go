package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/accountstore"
	"github.com/probefleet/probefleet/internal/service"
)

// Exit codes of `probefleet check`, besides 0: up, or degraded.
const (
	exitDown      = 1 // down in some region
	exitUnchecked = 2 // not down anywhere, and some region could not look
)

// checkCommand has a running installation check a URL once, and waits for it.
type checkCommand struct {
	URL     string        `arg:"" help:"What to check, such as https://example.com/health."`
	Region  []string      `help:"Where from; default every region."`
	Timeout time.Duration `help:"Of one visit; default 10s."`
	Wait    time.Duration `default:"3m" help:"How long to wait for the outcome."`
	JSON    bool          `name:"json" help:"Print JSON."`

	apiFlags `embed:""`
}

// checkJSON is what this tool reads of the API's answer.
type checkJSON struct {
	ID         string       `json:"id"`
	URL        string       `json:"url"`
	State      string       `json:"state"`
	RetryCount int          `json:"retry_count"`
	Error      string       `json:"error"`
	CreatedAt  time.Time    `json:"created_at"`
	UpdatedAt  time.Time    `json:"updated_at"`
	Results    []regionJSON `json:"results"`
}

type regionJSON struct {
	Region       string     `json:"region"`
	Status       string     `json:"status"`
	Failure      string     `json:"failure"`
	Reason       string     `json:"reason"`
	Message      string     `json:"message"`
	HTTPStatus   int        `json:"http_status"`
	TotalUS      uint32     `json:"total_us"`
	Address      string     `json:"address"`
	Protocol     string     `json:"protocol"`
	TLSVersion   string     `json:"tls_version"`
	CertNotAfter *time.Time `json:"cert_not_after"`
	Hops         []hopJSON  `json:"hops"`
}

type hopJSON struct {
	URL       string     `json:"url"`
	Address   string     `json:"address"`
	Status    int        `json:"status"`
	Phases    phasesJSON `json:"phases"`
	DNSCached bool       `json:"dns_cached"`
}

type phasesJSON struct {
	DNS      uint32 `json:"dns_us"`
	Connect  uint32 `json:"connect_us"`
	TLS      uint32 `json:"tls_us"`
	Wait     uint32 `json:"wait_us"`
	Transfer uint32 `json:"transfer_us"`
}

func (c *checkCommand) Run(ctx context.Context, to console) error {
	raw, err := c.run(ctx, to.Err)
	if ctx.Err() != nil {
		return service.Exit(exitUnchecked, errors.New("interrupted"))
	}
	var check checkJSON
	if err == nil {
		err = json.Unmarshal(raw, &check)
	}
	if err != nil {
		return service.Exit(exitUnchecked, err)
	}
	if c.JSON {
		if err := printJSON(to.Out, raw); err != nil {
			return service.Exit(exitUnchecked, err)
		}
	} else {
		printCheck(to.Out, check, time.Now())
	}
	return check.verdict()
}

// run gives the check as the API has it at its end.
func (c *checkCommand) run(ctx context.Context, progress io.Writer) (json.RawMessage, error) {
	api, err := c.connect(ctx, "check", accountstore.RoleEditor)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.Wait)
	defer cancel()
	request := map[string]any{"url": c.URL}
	if len(c.Region) > 0 {
		request["regions"] = c.Region
	}
	if c.Timeout > 0 {
		request["timeout_ms"] = c.Timeout.Milliseconds()
	}
	raw, err := api.post(ctx, "/api/v1/checks", request)
	var check checkJSON
	said := ""
	for pause := 200 * time.Millisecond; err == nil; pause = min(pause*3/2, time.Second) {
		check = checkJSON{}
		if err := json.Unmarshal(raw, &check); err != nil {
			return nil, fmt.Errorf("the API's answer: %w", err)
		}
		if check.State == "COMPLETED" || check.State == "FAILED_PERMANENT" {
			return raw, nil
		}
		if line := strings.TrimSpace(check.State + " " + check.Error); line != said {
			said = line
			_, _ = fmt.Fprintln(progress, plain(line))
		}
		if sleep(ctx, pause) {
			raw, err = api.get(ctx, "/api/v1/checks/"+check.ID)
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("no outcome within %v: it is %s; look again with GET /api/v1/checks/%s", c.Wait, plain(check.State), plain(check.ID))
		}
	}
	return nil, err
}

// verdict is the exit code: down counts for more than what could not be looked at.
func (c checkJSON) verdict() error {
	var down, unchecked []string
	for _, r := range c.Results {
		switch r.Status {
		case "up", "degraded":
		case "down":
			down = append(down, plain(r.Region))
		default:
			unchecked = append(unchecked, plain(r.Region))
		}
	}
	switch {
	case len(down) > 0:
		return service.Exit(exitDown, errors.New("down from "+strings.Join(down, ", ")))
	case len(unchecked) > 0:
		return service.Exit(exitUnchecked, errors.New("could not be checked from "+strings.Join(unchecked, ", ")))
	case len(c.Results) == 0:
		return service.Exit(exitUnchecked, errors.New("could not be checked: "+plain(c.Error)))
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
