package httpapi

import (
	"context"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
)

// Fleet is what is known of probers, regions and stores.
type Fleet struct {
	Redis struct {
		Version     string `json:"version"`
		Embedded    bool   `json:"embedded" doc:"a test server inside the process: nothing survives its restart"`
		Durable     bool   `json:"durable" doc:"keeps its data over a restart"`
		Backlog     int64  `json:"backlog" doc:"entries in the stream of checks"`
		DeadLetters int64  `json:"dead_letters"`
	} `json:"redis"`
	ClickHouse struct {
		OK bool `json:"ok"`
	} `json:"clickhouse"`
	Publisher struct {
		Leader   nullable[string]  `json:"leader"`
		LastTick nullable[instant] `json:"last_tick" doc:"the last second whose checks are all published"`
	} `json:"publisher"`
	Regions []FleetRegion `json:"regions" nullable:"false"`
}

// FleetRegion is a region and its probers.
type FleetRegion struct {
	Region  string        `json:"region"`
	Live    bool          `json:"live" doc:"a prober of it beats"`
	Pending int64         `json:"pending" doc:"checks read and not settled"`
	LagS    float64       `json:"lag_s" doc:"age of the oldest check that is not settled"`
	Probers []FleetProber `json:"probers" nullable:"false"`
}

// FleetProber is one prober process.
type FleetProber struct {
	Name          string   `json:"name"`
	Version       string   `json:"version"`
	HeartbeatAt   instant  `json:"heartbeat_at"`
	AgeS          float64  `json:"age_s"`
	InFlight      int64    `json:"in_flight"`
	Waiting       int64    `json:"waiting"`
	LatenessP50MS float64  `json:"lateness_p50_ms"`
	LatenessP99MS float64  `json:"lateness_p99_ms"`
	ClickHouse    string   `json:"clickhouse" enum:"ok,down"`
	Spooled       int64    `json:"spooled"`
	AllowCIDRs    []string `json:"allow_cidrs" nullable:"false"`
}

type fleetOutput struct{ Body Fleet }

func (a *api) fleet(context.Context, *struct{}) (*fleetOutput, error) {
	fleet, err := a.Fleet.Fleet()
	if err != nil {
		return nil, down("Redis", err)
	}
	return &fleetOutput{fleet}, nil
}

// NewFleet starts one with the publisher's part; a zero tick and no leader are null.
func NewFleet(lastTick time.Time, leader string) Fleet {
	fleet := Fleet{Regions: []FleetRegion{}}
	fleet.Publisher.LastTick = maybeInstant(lastTick)
	if leader != "" {
		fleet.Publisher.Leader = some(leader)
	}
	return fleet
}

// NewFleetProber shows a heartbeat.
func NewFleetProber(h checkstream.Heartbeat) FleetProber {
	return FleetProber{
		Name: h.Name, Version: h.Version, HeartbeatAt: instant(h.At), AgeS: h.Age.Seconds(), InFlight: h.InFlight, Waiting: h.Waiting,
		LatenessP50MS: h.LatenessP50MS, LatenessP99MS: h.LatenessP99MS, ClickHouse: h.ClickHouse, Spooled: h.Spooled, AllowCIDRs: orEmpty(h.AllowCIDRs),
	}
}
