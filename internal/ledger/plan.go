package ledger

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/schedulestore"
)

// VersionSource gives the versions in ascending order of seq, pending ones included.
type VersionSource interface {
	EachVersion(ctx context.Context, afterSeq int64, fn func(schedulestore.Version) error) error
	RegionVersions(ctx context.Context, afterSeq int64) ([]schedulestore.RegionVersion, error)
}

// Plan is what was due within a window.
type Plan struct {
	window  span
	targets []target // ascending id once sealed
	index   map[int64]int32
	sets    []wantedSet
	setAt   map[string]uint32
	Regions []string // every region that was active within the window, sorted
	active  [][]span // per region: when
}

type target struct {
	id     int64
	phases []phase
	gone   bool // the newest version is a deletion
}

// wantedSet is one list of wanted regions; serves is per index of Plan.Regions.
type wantedSet struct {
	regions []string
	serves  []bool
}

// Load builds the plan of [from, to).
func Load(ctx context.Context, versions VersionSource, from, to time.Time) (*Plan, error) {
	regions, err := versions.RegionVersions(ctx, 0)
	if err != nil {
		return nil, fmt.Errorf("plan slots: %w", err)
	}
	p := newPlan(from, to)
	for _, v := range regions {
		p.addRegion(v)
	}
	err = versions.EachVersion(ctx, 0, func(v schedulestore.Version) error {
		p.add(v)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("plan slots: %w", err)
	}
	p.seal()
	return p, nil
}

func newPlan(from, to time.Time) *Plan {
	return &Plan{window: window(from, to), index: map[int64]int32{}, setAt: map[string]uint32{}}
}

// add takes the next version: ascending seq, so it outranks all before it.
func (p *Plan) add(v schedulestore.Version) {
	id := v.Schedule.TargetID
	at, found := p.index[id]
	if !found {
		at = int32(len(p.targets))
		p.index[id] = at
		p.targets = append(p.targets, target{id: id})
	}
	t := &p.targets[at]
	if v.Deleted {
		t.gone, t.phases = true, nil
		return
	}
	t.gone = false
	if v.EffectiveFrom.IsZero() {
		return
	}
	from := ceilMilli(v.EffectiveFrom)
	t.phases = cutAt(t.phases, from)
	fresh := phase{span: span{from, never}.within(p.window), seq: v.Seq, interval: v.Schedule.Interval.Milliseconds()}
	if v.Schedule.Active && !fresh.empty() && fresh.interval > 0 {
		fresh.wanted = p.set(v.Schedule.Regions)
		t.phases = append(t.phases, fresh)
	}
}

func (p *Plan) set(regions []string) uint32 {
	key := strings.Join(regions, ",")
	at, found := p.setAt[key]
	if !found {
		at = uint32(len(p.sets))
		p.setAt[key] = at
		p.sets = append(p.sets, wantedSet{regions: slices.Clone(regions)})
	}
	return at
}

func (p *Plan) addRegion(v schedulestore.RegionVersion) {
	if v.EffectiveFrom.IsZero() {
		return
	}
	at, found := slices.BinarySearch(p.Regions, v.Region)
	if !found {
		p.Regions = slices.Insert(p.Regions, at, v.Region)
		p.active = slices.Insert(p.active, at, []span(nil))
	}
	from := ceilMilli(v.EffectiveFrom)
	kept := p.active[at][:0]
	for _, s := range p.active[at] {
		if s.to = min(s.to, from); !s.empty() {
			kept = append(kept, s)
		}
	}
	if fresh := (span{from, never}).within(p.window); v.Active && !fresh.empty() {
		kept = append(kept, fresh)
	}
	p.active[at] = kept
}

// seal drops what the window does not touch and resolves the wanted regions.
func (p *Plan) seal() {
	for i := len(p.Regions) - 1; i >= 0; i-- {
		if len(p.active[i]) == 0 {
			p.Regions, p.active = slices.Delete(p.Regions, i, i+1), slices.Delete(p.active, i, i+1)
		}
	}
	for i := range p.sets {
		set := &p.sets[i]
		set.serves = make([]bool, len(p.Regions))
		for r, name := range p.Regions {
			set.serves[r] = len(set.regions) == 0 || slices.Contains(set.regions, name)
		}
	}
	p.targets = slices.DeleteFunc(p.targets, func(t target) bool { return t.gone })
	slices.SortFunc(p.targets, func(a, b target) int { return cmp.Compare(a.id, b.id) })
	clear(p.index)
	for i := range p.targets {
		p.index[p.targets[i].id] = int32(i)
	}
}

// each walks the stretches within in where one phase of a target is served by a
// region. They do not overlap.
func (p *Plan) each(t *target, region int, in span, fn func(phase, span)) {
	for _, ph := range t.phases {
		if !p.sets[ph.wanted].serves[region] {
			continue
		}
		for _, active := range p.active[region] {
			if s := in.within(active).within(ph.span); !s.empty() {
				fn(ph, s)
			}
		}
	}
}

// count is the number of planned slots of a target in a region within a stretch.
func (p *Plan) count(t *target, region int, in span) (n int64) {
	p.each(t, region, in, func(ph phase, s span) { n += ph.count(t.id, s) })
	return n
}

// SlotIn gives the planned slot of a target and region within a whole second (unix)
// of the window, and the sequence of the version that planned it.
func (p *Plan) SlotIn(id int64, region string, second int64) (at time.Time, seq int64, planned bool) {
	i, known := p.index[id]
	r, active := slices.BinarySearch(p.Regions, region)
	if !known || !active {
		return time.Time{}, 0, false
	}
	p.each(&p.targets[i], r, span{second * 1000, (second + 1) * 1000}.within(p.window), func(ph phase, s span) {
		ph.slots(id, s, func(ms int64) { at, seq, planned = time.UnixMilli(ms).UTC(), ph.seq, true })
	})
	return at, seq, planned
}

// Planned is the number of slots of the whole window, per region.
func (p *Plan) Planned() map[string]int64 {
	planned := map[string]int64{}
	for r, name := range p.Regions {
		for i := range p.targets {
			planned[name] += p.count(&p.targets[i], r, p.window)
		}
	}
	return planned
}
