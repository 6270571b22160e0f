package live

import (
	"context"
	"crypto/rand"
	"maps"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdict"
)

// frameEvery is how long results are gathered before they are sent. What changes a state is what
// somebody waits for: it does not wait for the others, but for a moment in which more may change.
// Where very much changes such frames come twice as often as others, not more, and none of them has
// a target that was in one less than frameEvery ago: what changes all the time is told ten times a
// second, and a change after a while of quiet is told at once, whatever else goes on.
const (
	frameEvery = 100 * time.Millisecond
	frameSoon  = 20 * time.Millisecond
	frameApart = 50 * time.Millisecond
)

// Results of targets the hub has not met yet wait this long, and no more than
// this many targets; removed targets are remembered for goneAge.
const (
	orphanAge  = time.Minute
	orphanMost = 5000
	goneAge    = 15 * time.Minute
)

// Region is the live state of a region.
type Region struct {
	Region      string     `json:"region"`
	Probers     int        `json:"probers"`
	Live        bool       `json:"live"`
	HeartbeatAt *time.Time `json:"heartbeat_at"`
}

// Snapshot is the whole state at a sequence.
type Snapshot struct {
	Epoch   string    `json:"epoch"`
	Seq     uint64    `json:"seq"`
	Mark    Mark      `json:"mark,omitempty" doc:"where another node goes on"`
	Now     time.Time `json:"now"`
	Items   []Target  `json:"items" nullable:"false"`
	Regions []Region  `json:"regions" nullable:"false"`
}

// Options of a hub.
type Options struct {
	Now     func() time.Time // the store's clock; nil means the machine's
	Metrics *Metrics         // nil means none
	// Removed is called whenever a target is said to be gone: by this node, by another one,
	// by the comparison with the database, and minutes later once more by whoever removes its
	// rows. What else this process keeps of it, such as answers, is to be dropped there. It
	// must not block. Nil means that nothing is.
	Removed func(id int64)
}

// Hub holds the state. All methods are safe for concurrent use and never block on readers.
type Hub struct {
	epoch   string
	now     func() time.Time
	metrics *Metrics
	removed func(id int64)

	mu                            sync.Mutex
	entries                       map[int64]*entry
	gone                          map[int64]time.Time // removed lately: stragglers must not bring them back
	orphans                       map[int64][]orphan  // results that came before their target
	dirty                         []*entry            // in order of arrival
	active                        []string            // adopted regions
	regions                       []Region            // as last heard
	names                         names
	blind                         []verdict.Blindness // when regions could not be believed
	maintained                    Maintained          // when targets are maintained; nil: never
	targets, fleet, checks, pages feed                // the channels of these names
	incidents                     feed
	heard                         map[string]int // readers of channels of pages, by slug
	changed                       chan struct{}  // closed and replaced when a feed grew
	marks                         marks
	reached                       chan struct{} // closed and replaced when the stream was read further
	soon                          chan struct{} // a token when a state has changed
}

type orphan struct {
	result uptime.Result
	mark   mark
	at     time.Time
}

// New makes an empty hub with an epoch of its own.
func New(o Options) *Hub {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Removed == nil {
		o.Removed = func(int64) {}
	}
	h := &Hub{epoch: rand.Text()[:12], now: o.Now, metrics: o.Metrics, removed: o.Removed, entries: map[int64]*entry{}, names: byName(), gone: map[int64]time.Time{}, orphans: map[int64][]orphan{}, heard: map[string]int{}, changed: make(chan struct{}), reached: make(chan struct{}), soon: make(chan struct{}, 1)}
	h.targets.seq = 1 // 0 is where nobody is: see Subscribe
	return h
}

// Run sends frames and lets evidence go stale until ctx ends.
func (h *Hub) Run(ctx context.Context) error {
	frames, stale := time.NewTicker(frameEvery), time.NewTicker(time.Second)
	defer frames.Stop()
	defer stale.Stop()
	var due <-chan time.Time // of a frame that is sent before its time; nil: there is none
	var dueAt time.Time      // when that is
	var sent time.Time       // when the last one was
	within := func(wait time.Duration) {
		if at := time.Now().Add(wait); due == nil || at.Before(dueAt) {
			due, dueAt = time.After(wait), at
		}
	}
	for {
		select {
		case <-frames.C:
			due = nil
			// A ticker is late at times: the one after that is no reason to leave anything out.
			if held := h.flush(frameEvery - frameSoon); held > 0 {
				within(max(frameApart, held))
			}
		case <-h.soon:
			within(max(frameSoon, frameApart-time.Since(sent)))
		case <-due:
			held := h.flush(frameEvery)
			frames.Reset(frameEvery)
			due, sent = nil, time.Now()
			if held > 0 {
				within(max(frameApart, held))
			}
		case <-stale.C:
			h.Refold()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Load takes the state of the stores in at start.
func (h *Hub) Load(targets []uptime.Target, measured []uptime.Result, activeRegions []string) {
	h.SetRegions(activeRegions, nil)
	for _, target := range targets {
		h.Upsert(target)
	}
	h.Apply(measured)
}

// Upsert takes a new or edited target in.
func (h *Hub) Upsert(target uptime.Target) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e, found := h.entries[target.ID]
	if found && e.target.SpecVersion > target.SpecVersion {
		return // an older read overtook a newer one
	}
	if !found {
		if _, gone := h.gone[target.ID]; gone {
			return // ids are never used again: a straggler
		}
		e = &entry{}
		h.entries[target.ID] = e
	}
	now := h.now()
	switch {
	case target.Active:
		e.paused = time.Time{}
	case found && e.target.Active, !found && target.UpdatedAt.Equal(target.CreatedAt):
		e.paused = target.UpdatedAt
	}
	if !found || e.target.Name != target.Name {
		e.place = h.names.place(target.Name)
	}
	e.target = target
	e.surround(h)
	e.judgeBy(h.active, now)
	for _, waiting := range h.orphans[target.ID] {
		e.apply(waiting.result, waiting.mark, now)
	}
	delete(h.orphans, target.ID)
	e.fold(now)
	h.mark(e)
}

// Has says whether the hub knows a target as it was with this spec version, or as it became later.
func (h *Hub) Has(id, version int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	e, found := h.entries[id]
	return found && e.target.SpecVersion >= version
}

// Remove forgets a target. Once it has returned, readers are handed nothing of the
// target any more but its removal, however late its results come and however far
// behind a reader is.
func (h *Hub) Remove(id int64) {
	defer h.removed(id)
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	if e, found := h.entries[id]; found {
		e.removed.Store(true)
		delete(h.entries, id)
		h.targets.append(now, []op{{id: strconv.FormatInt(id, 10), body: encodeOp("remove", id, nil)}})
		h.wake()
	}
	h.gone[id] = now
	delete(h.orphans, id)
}

// IDs lists the targets the hub knows with their spec versions, for reconciling with the store.
func (h *Hub) IDs() map[int64]int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	ids := make(map[int64]int64, len(h.entries))
	for id, e := range h.entries {
		ids[id] = e.target.SpecVersion
	}
	return ids
}

// Apply takes results in, in any order; replays change nothing.
func (h *Hub) Apply(results []uptime.Result) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.apply(results, 0)
}

// apply takes results in that stand at a mark of the stream; 0: they did not come by it.
func (h *Hub) apply(results []uptime.Result, at mark) {
	now := h.now()
	for _, r := range results {
		e, found := h.entries[r.TargetID]
		if !found {
			h.keepOrphan(r, at, now)
			continue
		}
		if e.apply(r, at, now) {
			if was := e.verdict.State; e.fold(now) && e.verdict.State != was {
				h.hasten()
			}
			h.queue(e)
		}
	}
	h.metrics.results(len(results))
}

// Confirm takes in what a region saw that was asked to look again. It is evidence like a
// result, but no tick: no slot is its own. What it was to confirm was seen of a slot.
func (h *Hub) Confirm(targetID int64, slot time.Time, look *uptime.Look) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e, found := h.entries[targetID]
	if !found || e.rules.Former(slot) {
		return
	}
	now := h.now()
	e.take(verdict.Confirmed(look), now)
	e.fold(now)
	h.mark(e)
}

// keepOrphan holds results of a target created a moment ago on another node.
func (h *Hub) keepOrphan(r uptime.Result, at mark, now time.Time) {
	if _, gone := h.gone[r.TargetID]; gone {
		return
	}
	if len(h.orphans) >= orphanMost {
		clear(h.orphans)
	}
	h.orphans[r.TargetID] = append(h.orphans[r.TargetID], orphan{r, at, now})
}

// SetRegions states which regions are adopted and how they are.
func (h *Hub) SetRegions(active []string, regions []Region) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	var ops []op
	for _, region := range regions {
		i := slices.IndexFunc(h.regions, func(r Region) bool { return r.Region == region.Region })
		if i < 0 || h.regions[i].Live != region.Live || h.regions[i].Probers != region.Probers {
			ops = append(ops, op{id: region.Region, body: encodeOp("upsert", region.Region, region)})
		}
	}
	for _, old := range h.regions {
		if !slices.ContainsFunc(regions, func(r Region) bool { return r.Region == old.Region }) {
			ops = append(ops, op{id: old.Region, body: encodeOp("remove", old.Region, nil)})
		}
	}
	h.regions = slices.Clone(regions)
	if len(ops) > 0 {
		h.fleet.append(now, ops)
		h.wake()
	}
	active = slices.Sorted(slices.Values(active))
	if slices.Equal(active, h.active) {
		return
	}
	h.active = active
	for _, e := range h.entries {
		e.judgeBy(active, now)
		if e.fold(now) {
			h.mark(e)
		}
	}
}

// Snapshot gives the whole state. What is gathered for the next frame is in it
// already and will come again: taking an item twice is harmless.
func (h *Hub) Snapshot() Snapshot { return h.Brief(math.MaxInt) }

// Brief is a snapshot for who has many targets and shows few at a time: of the ticks there are at
// most so many altogether, the newest of each target, but never none.
func (h *Hub) Brief(ticks int) Snapshot {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	s := Snapshot{Epoch: h.epoch, Seq: h.targets.seq, Mark: h.marks.told.text(), Now: now.UTC().Truncate(time.Millisecond), Items: make([]Target, 0, len(h.entries)), Regions: orEmpty(slices.Clone(h.regions))}
	for _, id := range slices.Sorted(maps.Keys(h.entries)) {
		e := h.entries[id]
		if e.lapsed(now) && e.fold(now) {
			h.mark(e)
		}
		newest := max(ticks/len(h.entries), ticksLeast*max(1, len(e.rules.Regions)))
		s.Items = append(s.Items, e.item(now, slices.Clone(e.ticks[max(0, len(e.ticks)-newest):])))
	}
	return s
}

// mark queues an entry for the next frame: something else than a result has changed it.
func (h *Hub) mark(e *entry) {
	e.changed = h.now()
	h.queue(e)
}

// hasten has the next frame sent soon.
func (h *Hub) hasten() {
	select {
	case h.soon <- struct{}{}:
	default:
	}
}

func (h *Hub) queue(e *entry) {
	if !e.dirty {
		e.dirty = true
		h.dirty = append(h.dirty, e)
	}
}

func (h *Hub) flush(apart time.Duration) (held time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.frame(apart)
}

// frame sends what was gathered, but for targets that were in a frame less than apart ago: they stay
// for a later one, and it says how long the first of them does; 0: none is left.
func (h *Hub) frame(apart time.Duration) (held time.Duration) {
	h.marks.told = h.marks.newest
	if len(h.dirty) == 0 {
		return 0
	}
	now := h.now()
	ops := make([]op, 0, len(h.dirty))
	left := h.dirty[:0]
	for _, e := range h.dirty {
		if e.removed.Load() {
			continue
		}
		if ago := time.Since(e.framed); ago < apart {
			left = append(left, e)
			h.marks.told = min(h.marks.told, e.before())
			if wait := frameEvery - ago; held == 0 || wait < held {
				held = wait
			}
			continue
		}
		ops = append(ops, upsertOf(e.target.ID, e.item(now, e.fresh), &e.removed))
		e.dirty, e.fresh, e.framed = false, nil, time.Now()
	}
	clear(h.dirty[len(left):])
	h.dirty = left
	if len(ops) > 0 {
		h.targets.append(now, ops)
		h.wake()
	}
	return held
}

// Refold turns targets whose evidence went stale, and forgets old orphans. Run does it every second;
// whoever drives a hub by a clock of their own does it instead.
func (h *Hub) Refold() {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	counts := map[verdict.State]float64{}
	for _, e := range h.entries {
		if folded := e.fold(now); e.depend(h.entries) || folded {
			h.mark(e)
		}
		counts[e.verdict.State]++
	}
	for id, waiting := range h.orphans {
		if now.Sub(waiting[0].at) > orphanAge {
			delete(h.orphans, id)
		}
	}
	for id, at := range h.gone {
		if now.Sub(at) > goneAge {
			delete(h.gone, id)
		}
	}
	h.metrics.targets(counts)
}

func (h *Hub) wake() {
	close(h.changed)
	h.changed = make(chan struct{})
}
