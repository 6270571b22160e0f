package checkstream

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// HeartbeatTTL is the age from which a heartbeat counts as gone. Beat every 2 s.
const HeartbeatTTL = 6 * time.Second

// Heartbeat is what a prober says of itself.
type Heartbeat struct {
	Region, Name, Version string
	At                    time.Time     // by the clock of Redis
	Age                   time.Duration // when it was read, by the clock of Redis
	AllowCIDRs            []string
	InFlight, Waiting     int64
	Spooled               int64     // rows that wait on its disk
	SpoolFirst, SpoolLast time.Time // their slots; zero: none
	SpoolBytes            int64     // what they take of its disk
	StartedAt             time.Time
	LastExit              *LastExit // how its life before this one ended; nil: this is the first, or nobody keeps count
	ClickHouse            string    // ok or down
	Breaker               string    // closed, half_open or open
	Canaries              string    // good, bad or off: whether it can be believed; empty: it does not say
	CanariesAnswered      int64     // how many of Canaries answered when they were visited last
	CanariesAll           int64
	ClockOffset           *time.Duration // how far its machine's clock is ahead of that of Redis; nil: it does not say
	LatenessP50MS         float64
	LatenessP99MS         float64
	State                 string // Draining or Drained, by its own account; empty: it takes checks on
	Drain                 *Drain // what is wanted of it, whatever it has heard of that; it does not say this itself
}

// LastExit is how a life of a prober ended, as its supervisor wrote it down.
type LastExit struct {
	Cause  string    `json:"cause"`            // one of a closed set: see service.LastExit
	Signal string    `json:"signal,omitempty"` // what ended it, if a signal did
	At     time.Time `json:"at"`
}

// Live says whether the prober was heard lately.
func (h Heartbeat) Live() bool { return h.Age < HeartbeatTTL }

// beatJSON is the stored form. The script puts at_ms in front.
type beatJSON struct {
	AtMS        int64    `json:"at_ms,omitempty"`
	Version     string   `json:"version"`
	StartedAtMS int64    `json:"started_at_ms"`
	AllowCIDRs  []string `json:"allow_cidrs,omitempty"`
	InFlight    int64    `json:"in_flight"`
	Waiting     int64    `json:"waiting"`
	Spooled     int64    `json:"spooled"`
	SpoolFirst  int64    `json:"spool_first_ms,omitempty"`
	SpoolLast   int64    `json:"spool_last_ms,omitempty"`
	Breaker     string   `json:"breaker,omitempty"`
	Canaries    string   `json:"canaries,omitempty"`
	ClickHouse  string   `json:"clickhouse"`
	LatenessP50 float64  `json:"lateness_p50_ms"`
	LatenessP99 float64  `json:"lateness_p99_ms"`
	State       string   `json:"state,omitempty"`

	SpoolBytes       int64     `json:"spool_bytes,omitempty"`
	LastExit         *LastExit `json:"last_exit,omitempty"`
	CanariesAnswered int64     `json:"canaries_answered,omitempty"`
	CanariesAll      int64     `json:"canaries_all,omitempty"`
	ClockOffsetMS    *int64    `json:"clock_offset_ms,omitempty"`
}

func (h Heartbeat) encode() ([]byte, error) {
	var offset *int64
	if h.ClockOffset != nil {
		ms := h.ClockOffset.Milliseconds()
		offset = &ms
	}
	return json.Marshal(beatJSON{
		Version: h.Version, StartedAtMS: h.StartedAt.UnixMilli(), AllowCIDRs: h.AllowCIDRs,
		InFlight: h.InFlight, Waiting: h.Waiting, Spooled: h.Spooled, ClickHouse: h.ClickHouse,
		SpoolFirst: milli(h.SpoolFirst), SpoolLast: milli(h.SpoolLast), Breaker: h.Breaker, Canaries: h.Canaries,
		LatenessP50: finite(h.LatenessP50MS), LatenessP99: finite(h.LatenessP99MS), State: h.State,
		SpoolBytes: h.SpoolBytes, LastExit: h.LastExit, CanariesAnswered: h.CanariesAnswered, CanariesAll: h.CanariesAll, ClockOffsetMS: offset,
	})
}

// decodeBeat reads a heartbeat and judges its age. It accepts any input: one that
// cannot be read is old, since nobody vouches for it, and so is one from the future
// (the server's clock was wrong then), since a prober that lives beats again.
func decodeBeat(field, text string, now time.Time) Heartbeat {
	region, name, _ := strings.Cut(field, "/")
	var b beatJSON
	if err := json.Unmarshal([]byte(text), &b); err != nil {
		b = beatJSON{}
	}
	at := time.UnixMilli(b.AtMS).UTC()
	var offset *time.Duration
	if b.ClockOffsetMS != nil {
		d := time.Duration(*b.ClockOffsetMS) * time.Millisecond
		offset = &d
	}
	return Heartbeat{
		Region: region, Name: name, Version: b.Version, At: at, Age: now.Sub(at).Abs(), AllowCIDRs: b.AllowCIDRs,
		InFlight: b.InFlight, Waiting: b.Waiting, Spooled: b.Spooled, SpoolFirst: instant(b.SpoolFirst), SpoolLast: instant(b.SpoolLast),
		StartedAt: time.UnixMilli(b.StartedAtMS).UTC(), ClickHouse: b.ClickHouse, Breaker: b.Breaker, Canaries: b.Canaries,
		LatenessP50MS: b.LatenessP50, LatenessP99MS: b.LatenessP99, State: b.State,
		SpoolBytes: b.SpoolBytes, LastExit: b.LastExit, CanariesAnswered: b.CanariesAnswered, CanariesAll: b.CanariesAll, ClockOffset: offset,
	}
}

func milli(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func instant(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

func finite(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}

func regionField(region, name string) string { return region + "/" + name }

// beats reads all heartbeats, and what is wanted of whom.
func (r *Redis) beats(ctx context.Context) ([]Heartbeat, error) {
	pipe := r.commands.TxPipeline()
	all, drains, clock := pipe.HGetAll(ctx, keyRegions), pipe.HGetAll(ctx, keyDrains), pipe.Time(ctx)
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("heartbeats: %w", err)
	}
	now := clock.Val()
	out := make([]Heartbeat, 0, len(all.Val()))
	for field, text := range all.Val() {
		beat := decodeBeat(field, text, now)
		if wish, is := drains.Val()[field]; is {
			beat.Drain = decodeDrain(wish)
		}
		out = append(out, beat)
	}
	slices.SortFunc(out, func(a, b Heartbeat) int {
		return strings.Compare(regionField(a.Region, a.Name), regionField(b.Region, b.Name))
	})
	return out, nil
}

// Fleet is the reading end for people: who is there and how far behind.
type Fleet struct{ r *Redis }

// NewFleet makes the fleet's view of r.
func NewFleet(r *Redis) *Fleet { return &Fleet{r: r} }

// Probers gives every prober that ever beat and was not forgotten, by region and name.
func (f *Fleet) Probers(ctx context.Context) ([]Heartbeat, error) { return f.r.beats(ctx) }

// ForgetProber removes a prober's heartbeat, and what is wanted of it.
func (f *Fleet) ForgetProber(ctx context.Context, region, name string) error {
	pipe, field := f.r.commands.TxPipeline(), regionField(region, name)
	pipe.HDel(ctx, keyRegions, field)
	pipe.HDel(ctx, keyDrains, field)
	if _, err := pipe.Exec(ctx); err != nil {
		return fmt.Errorf("forget prober %s/%s: %w", region, name, err)
	}
	return nil
}

// GroupInfo is how far a region is.
type GroupInfo struct {
	Region    string
	Pending   int64
	Lag       time.Duration // how long ago its oldest unsettled check was due; 0: none
	Consumers int64
}

// Groups gives every region that has a group, by name.
func (f *Fleet) Groups(ctx context.Context) ([]GroupInfo, error) {
	_, _, groups, err := f.read(ctx)
	return groups, err
}

// Backlog is the number of entries in the stream.
func (f *Fleet) Backlog(ctx context.Context) (int64, error) {
	length, _, _, err := f.read(ctx)
	return length, err
}

// DeadLetters is the number of entries nobody could run.
func (f *Fleet) DeadLetters(ctx context.Context) (int64, error) {
	_, dead, _, err := f.read(ctx)
	return dead, err
}

func (f *Fleet) read(ctx context.Context) (length, dead int64, groups []GroupInfo, err error) {
	reply, err := f.r.scripts.groups.Run(ctx, f.r.commands, []string{keyChecks, keyDead}).Slice()
	if err != nil {
		return 0, 0, nil, fmt.Errorf("groups of checks: %w", err)
	}
	if len(reply) < 3 || (len(reply)-3)%4 != 0 {
		return 0, 0, nil, fmt.Errorf("groups of checks: unexpected reply of %d parts", len(reply))
	}
	text, _ := reply[0].(string)
	now, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, 0, nil, fmt.Errorf("groups of checks: %w", err)
	}
	length, _ = reply[1].(int64)
	dead, _ = reply[2].(int64)
	for row := reply[3:]; len(row) > 0; row = row[4:] {
		var group GroupInfo
		group.Region, _ = row[0].(string)
		group.Consumers, _ = row[1].(int64)
		group.Pending, _ = row[2].(int64)
		if oldest, _ := row[3].(string); oldest != "" {
			second, _, err := parseID(oldest)
			if err != nil {
				return 0, 0, nil, fmt.Errorf("groups of checks: %w", err)
			}
			group.Lag = max(time.Duration(now-second*1000)*time.Millisecond, 0)
		}
		groups = append(groups, group)
	}
	slices.SortFunc(groups, func(a, b GroupInfo) int { return strings.Compare(a.Region, b.Region) })
	return length, dead, groups, nil
}
