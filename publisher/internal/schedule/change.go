package schedule

import (
	"cmp"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// Change is one adopted version of a target's schedule.
type Change struct {
	Seq       int64
	Effective int64 // the first whole second it plans
	Schedule  uptime.Schedule
	Deleted   bool
	Spec      *Spec // nil keeps the specification known so far
}

// RegionChange is one adopted version of the set of regions.
type RegionChange struct {
	Seq       int64
	Effective int64
	Region    string
	Active    bool
}

// Spec is what a prober needs to run a check of a target.
type Spec struct {
	Version int64
	Kind    uptime.Kind
	URL     string
	Timeout time.Duration
	Text    uptime.SpecText
}

// SpecOf takes the specification out of a target.
func SpecOf(t uptime.Target) *Spec {
	return &Spec{Version: t.SpecVersion, Kind: t.Kind, URL: t.URL, Timeout: t.Timeout, Text: t.Spec.Text()}
}

// waiting is a change whose second has not come. Exactly one of the two is set.
type waiting struct {
	effective, seq int64
	target         *Change
	region         *RegionChange
}

func (a waiting) compare(b waiting) int {
	return cmp.Or(cmp.Compare(a.effective, b.effective), cmp.Compare(a.seq, b.seq))
}

// EffectiveSecond is the first whole second at or after t.
func EffectiveSecond(t time.Time) int64 {
	second := t.Unix()
	if t.Nanosecond() > 0 {
		second++
	}
	return second
}
