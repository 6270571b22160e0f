package httpapi

import (
	"context"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
)

// Fleet is what is known of probers, regions and stores.
type Fleet struct {
	StaleSince nullable[instant] `json:"stale_since,omitzero" doc:"only while Redis does not answer: queue, publisher and heartbeats are of that moment, and no prober counts as live for long"`
	Redis      struct {
		Version     string `json:"version"`
		Embedded    bool   `json:"embedded" doc:"a test server inside the process: nothing survives its restart"`
		Durable     bool   `json:"durable" doc:"keeps its data over a restart"`
		Backlog     int64  `json:"backlog" doc:"entries in the stream of checks"`
		DeadLetters int64  `json:"dead_letters" doc:"checks and rows that were given up, with their reasons"`
	} `json:"redis"`
	ClickHouse struct {
		OK        bool              `json:"ok"`
		DownSince nullable[instant] `json:"down_since" doc:"since when it does not answer; null when it does"`
	} `json:"clickhouse"`
	Database struct {
		Engine    string            `json:"engine" enum:"sqlite,postgres"`
		OK        bool              `json:"ok" doc:"the relational database answers this node"`
		DownSince nullable[instant] `json:"down_since" doc:"since when it does not answer; null when it does"`
		LatencyMS nullable[float64] `json:"latency_ms" doc:"how long it took to answer when it was asked last, which it is every second; null when it does not answer"`
	} `json:"database"`
	Publisher struct {
		Leader   nullable[string]  `json:"leader"`
		LastTick nullable[instant] `json:"last_tick" doc:"the last second whose checks are all published"`
	} `json:"publisher"`
	Regions []FleetRegion  `json:"regions" nullable:"false"`
	Outside []FleetOutside `json:"outside" nullable:"false" doc:"what came from external checkers (ext-…) and heartbeats (push) and lies on the disks of API nodes; empty when ClickHouse has it all"`
}

// FleetOutside is what waits of a region that nobody here probes.
type FleetOutside struct {
	Region string `json:"region"`
	Spool
}

// FleetRegion is a region and its probers.
type FleetRegion struct {
	Region  string  `json:"region"`
	Live    bool    `json:"live" doc:"a prober of it beats, drained or not"`
	Pending int64   `json:"pending" doc:"checks read and not settled"`
	LagS    float64 `json:"lag_s" doc:"age of the oldest check that is not settled"`

	DeadLetters int64 `json:"dead_letters" doc:"of its probers; those of a region that is not here any more are in redis.dead_letters alone"`
	Spool
	Probers []FleetProber `json:"probers" nullable:"false"`
}

// FleetProber is one prober process.
type FleetProber struct {
	Name          string            `json:"name"`
	Version       string            `json:"version"`
	State         string            `json:"state" enum:",draining,drained" doc:"draining: it finishes what it holds and takes nothing on, as somebody asked; drained: it holds nothing. Empty otherwise"`
	DrainAskedAt  nullable[instant] `json:"drain_asked_at" doc:"since when it is to drain; null: it is not, or no more, though it may not have heard of that yet"`
	DrainAskedBy  string            `json:"drain_asked_by" doc:"who asked, as the audit log names them; empty: nobody"`
	HeartbeatAt   instant           `json:"heartbeat_at"`
	AgeS          float64           `json:"age_s"`
	InFlight      int64             `json:"in_flight"`
	Waiting       int64             `json:"waiting"`
	LatenessP50MS float64           `json:"lateness_p50_ms"`
	LatenessP99MS float64           `json:"lateness_p99_ms"`
	ClickHouse    string            `json:"clickhouse" enum:"ok,down"`
	Breaker       string            `json:"breaker" doc:"of its way to ClickHouse: closed, half_open, or open: rows go to its disk. Empty when it does not say"`
	Spool
	SpoolBytes    int64               `json:"spool_bytes" doc:"what the spooled results take of its disk"`
	AllowCIDRs    []string            `json:"allow_cidrs" nullable:"false"`
	ClockOffsetMS nullable[int64]     `json:"clock_offset_ms" doc:"how far the clock of its machine is ahead of that of Redis, which all slots go by; null when it does not say"`
	Canaries      FleetCanaries       `json:"canaries"`
	StartedAt     nullable[instant]   `json:"started_at"`
	LastExit      nullable[FleetExit] `json:"last_exit" doc:"how its life before this one ended; null: this is the first, or its supervisor does not say"`
}

// FleetCanaries is whether a prober reaches what it must always be able to reach.
type FleetCanaries struct {
	State    string `json:"state" doc:"good, bad: what fails there is not believed, or off: it has none. Empty when it does not say, or has not visited them yet"`
	Answered int64  `json:"answered" doc:"how many of them answered when they were visited last"`
	All      int64  `json:"all"`
}

// FleetExit is how a life of a prober ended.
type FleetExit struct {
	Cause  string  `json:"cause" doc:"drained, watchdog, gap, spool, dependency, config, failure, unresponsive or signal"`
	Signal string  `json:"signal" doc:"KILL, SEGV, …: what ended it; empty when no signal did"`
	At     instant `json:"at"`
}

// Spool is what waits on disks for ClickHouse.
type Spool struct {
	Spooled int64             `json:"spooled" doc:"results that are safe on a disk and not in ClickHouse yet"`
	First   nullable[instant] `json:"spool_first" doc:"the oldest slot among them"`
	Last    nullable[instant] `json:"spool_last" doc:"the newest slot among them"`
}

// NewSpool shows rows of the slots from first to last; without rows there is no range.
func NewSpool(rows int64, first, last time.Time) Spool {
	if rows == 0 {
		return Spool{}
	}
	return Spool{rows, maybeInstant(first), maybeInstant(last)}
}

type fleetOutput struct {
	Age   string `header:"Age" doc:"while Redis does not answer: seconds since it did"`
	Stale string `header:"X-Probefleet-Stale" doc:"while Redis does not answer: since=INSTANT when it last did"`
	Body  Fleet
}

func (a *api) fleet(context.Context, *struct{}) (*fleetOutput, error) {
	fleet, err := a.Fleet.Fleet()
	if err != nil {
		return nil, down("Redis", err)
	}
	out := &fleetOutput{Body: fleet}
	if at := fleet.StaleSince.value; at != nil {
		out.Age, out.Stale = staleness(time.Time(*at), a.Now())
	}
	return out, nil
}

// Stale marks the fleet as known at an instant, and not since.
func (f *Fleet) Stale(at time.Time) { f.StaleSince = maybeInstant(at) }

// HistoryDown states since when ClickHouse does not answer; zero: it does.
func (f *Fleet) HistoryDown(since time.Time) {
	f.ClickHouse.OK, f.ClickHouse.DownSince = since.IsZero(), maybeInstant(since)
}

// DatabaseIs states since when the relational database does not answer, zero: it does, and how long its
// last answer took.
func (f *Fleet) DatabaseIs(engine string, since time.Time, took time.Duration) {
	d := &f.Database
	d.Engine, d.OK, d.DownSince = engine, since.IsZero(), maybeInstant(since)
	if d.OK {
		d.LatencyMS = some(float64(took.Round(time.Microsecond)) / float64(time.Millisecond))
	}
}

// NewFleet starts one with the publisher's part; a zero tick and no leader are null.
func NewFleet(lastTick time.Time, leader string) Fleet {
	fleet := Fleet{Regions: []FleetRegion{}, Outside: []FleetOutside{}}
	fleet.Publisher.LastTick = maybeInstant(lastTick)
	if leader != "" {
		fleet.Publisher.Leader = some(leader)
	}
	return fleet
}

// NewFleetProber shows a heartbeat.
func NewFleetProber(h checkstream.Heartbeat) FleetProber {
	shown := FleetProber{
		Name: h.Name, Version: h.Version, State: h.Phase(), HeartbeatAt: instant(h.At), AgeS: h.Age.Seconds(), InFlight: h.InFlight, Waiting: h.Waiting,
		LatenessP50MS: h.LatenessP50MS, LatenessP99MS: h.LatenessP99MS, ClickHouse: h.ClickHouse, Breaker: h.Breaker, Spool: NewSpool(h.Spooled, h.SpoolFirst, h.SpoolLast), AllowCIDRs: orEmpty(h.AllowCIDRs),
		SpoolBytes: h.SpoolBytes, Canaries: FleetCanaries{h.Canaries, h.CanariesAnswered, h.CanariesAll},
	}
	if h.Drain != nil {
		shown.DrainAskedAt, shown.DrainAskedBy = some(instant(h.Drain.At)), h.Drain.By
	}
	if h.StartedAt.UnixMilli() > 0 { // one that cannot be read started at no time
		shown.StartedAt = maybeInstant(h.StartedAt)
	}
	if h.ClockOffset != nil {
		shown.ClockOffsetMS = some(h.ClockOffset.Milliseconds())
	}
	if h.LastExit != nil {
		shown.LastExit = some(FleetExit{h.LastExit.Cause, h.LastExit.Signal, instant(h.LastExit.At)})
	}
	return shown
}
