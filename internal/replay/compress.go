package replay

import (
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// Compressor makes runs of a target's results, one by one: so what is in memory goes with
// the changes. Results are in the order of their slots within each region.
type Compressor struct {
	interval  time.Duration
	latencies []int
	runs      []Run
	newest    map[string]int
}

// NewCompressor makes one for policies that have these latencies among their rules, in ms.
func NewCompressor(interval time.Duration, latencies ...int) *Compressor {
	return &Compressor{interval: interval, latencies: latencies, newest: map[string]int{}}
}

// Add takes the next result of its region. What is no evidence is passed over.
func (c *Compressor) Add(r *uptime.Result) {
	if !r.Status.Measured() || r.Late {
		return
	}
	one := Run{Region: r.Region, First: r.ScheduledAt.UTC(), Every: c.interval, Count: 1, Status: r.Status, Failure: r.Failure, HTTPStatus: r.HTTPStatus, TotalUS: r.TotalUS, CertNotAfter: r.CertNotAfter, Lag: lag(r)}
	if at, found := c.newest[r.Region]; found && c.runs[at].goesOn(&one, c.latencies) {
		c.runs[at].Count++
		return
	}
	c.newest[r.Region] = len(c.runs)
	c.runs = append(c.runs, one)
}

// Runs are those of what was added.
func (c *Compressor) Runs() []Run { return c.runs }

// lag is from a slot until its result was known: when it was written down or, where that is
// not known, when the visit ended.
func lag(r *uptime.Result) time.Duration {
	known := r.IngestedAt
	if known.IsZero() {
		known = r.CheckedAt.Add(time.Duration(r.TotalUS) * time.Microsecond)
	}
	return (max(0, known.Sub(r.ScheduledAt)) + time.Second - 1).Truncate(time.Second)
}

// Compress makes runs of results that are at hand.
func Compress(results []uptime.Result, interval time.Duration, latencies ...int) []Run {
	c := NewCompressor(interval, latencies...)
	for i := range results {
		c.Add(&results[i])
	}
	return c.Runs()
}
