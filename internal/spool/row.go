package spool

import (
	"net/netip"
	"time"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// batch and row are the payload. They have no rules of their own: whatever was
// appended comes back, or one odd row would cost its whole batch. Fields may be
// added; a reader ignores those it does not know.
type batch struct {
	Token   string `json:"token"`
	Prober  string `json:"prober"`
	Region  string `json:"region"`
	Attempt int    `json:"attempt,omitempty"`
	Rows    []row  `json:"rows"`
}

type row struct {
	TargetID     int64     `json:"target_id"`
	Region       string    `json:"region"`
	ScheduledAt  instant   `json:"scheduled_at"`
	CheckedAt    instant   `json:"checked_at"`
	Status       uint8     `json:"status"`
	Failure      string    `json:"failure,omitempty"`
	Reason       string    `json:"reason,omitempty"`
	HTTPStatus   int       `json:"http_status,omitempty"`
	Phases       [5]uint32 `json:"phases_us"` // dns, connect, tls, wait, transfer
	TotalUS      uint32    `json:"total_us,omitempty"`
	Message      string    `json:"message,omitempty"`
	Address      string    `json:"address,omitempty"`
	CertNotAfter instant   `json:"cert_not_after"`
	Attempt      uint8     `json:"attempt,omitempty"`
	Prober       string    `json:"prober,omitempty"`
	SpecVersion  int64     `json:"spec_version,omitempty"`
	Late         bool      `json:"late,omitempty"`
	IngestedAt   instant   `json:"ingested_at"`

	Seen     uptime.Seen      `json:"seen,omitzero"`
	Evidence *uptime.Evidence `json:"evidence,omitempty"`
	Print    *uptime.Print    `json:"print,omitempty"`
}

// instant is unix seconds and nanoseconds: exact for every time, the zero one too.
type instant [2]int64

func toInstant(t time.Time) instant { return instant{t.Unix(), int64(t.Nanosecond())} }

func (i instant) time() time.Time { return time.Unix(i[0], i[1]).UTC() }

func toBatch(b resultstore.Batch) batch {
	out := batch{Token: b.Token, Prober: b.Prober, Region: b.Region, Attempt: b.Attempt, Rows: make([]row, len(b.Rows))}
	for i, r := range b.Rows {
		out.Rows[i] = toRow(r)
	}
	return out
}

func (b batch) batch() resultstore.Batch {
	out := resultstore.Batch{Token: b.Token, Prober: b.Prober, Region: b.Region, Attempt: b.Attempt, Rows: make([]uptime.Result, len(b.Rows))}
	for i, r := range b.Rows {
		out.Rows[i] = r.result()
	}
	return out
}

func toRow(r uptime.Result) row {
	address := ""
	if r.Address.IsValid() {
		address = r.Address.String()
	}
	return row{
		TargetID:     r.TargetID,
		Region:       r.Region,
		ScheduledAt:  toInstant(r.ScheduledAt),
		CheckedAt:    toInstant(r.CheckedAt),
		Status:       uint8(r.Status),
		Failure:      string(r.Failure),
		Reason:       string(r.Reason),
		HTTPStatus:   r.HTTPStatus,
		Phases:       [5]uint32{r.Phases.DNS, r.Phases.Connect, r.Phases.TLS, r.Phases.Wait, r.Phases.Transfer},
		TotalUS:      r.TotalUS,
		Message:      r.Message,
		Address:      address,
		CertNotAfter: toInstant(r.CertNotAfter),
		Attempt:      r.Attempt,
		Prober:       r.Prober,
		SpecVersion:  r.SpecVersion,
		Late:         r.Late,
		IngestedAt:   toInstant(r.IngestedAt),
		Seen:         r.Seen,
		Evidence:     r.Evidence,
		Print:        r.Print,
	}
}

func (r row) result() uptime.Result {
	address, _ := netip.ParseAddr(r.Address) // better without its address than not at all
	return uptime.Result{
		TargetID:     r.TargetID,
		Region:       r.Region,
		ScheduledAt:  r.ScheduledAt.time(),
		CheckedAt:    r.CheckedAt.time(),
		Status:       uptime.Status(r.Status),
		Failure:      uptime.Failure(r.Failure),
		Reason:       uptime.Reason(r.Reason),
		HTTPStatus:   r.HTTPStatus,
		Phases:       uptime.Phases{DNS: r.Phases[0], Connect: r.Phases[1], TLS: r.Phases[2], Wait: r.Phases[3], Transfer: r.Phases[4]},
		TotalUS:      r.TotalUS,
		Message:      r.Message,
		Address:      address,
		CertNotAfter: r.CertNotAfter.time(),
		Attempt:      r.Attempt,
		Prober:       r.Prober,
		SpecVersion:  r.SpecVersion,
		Late:         r.Late,
		IngestedAt:   r.IngestedAt.time(),
		Seen:         r.Seen,
		Evidence:     r.Evidence,
		Print:        r.Print,
	}
}
