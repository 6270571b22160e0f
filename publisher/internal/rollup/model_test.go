package rollup

import (
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// model is what the figures have to be, kept in memory by other means than SQL.
type model struct {
	slots       map[uptime.Slot]uptime.Result
	tokens      map[string]bool
	hourly      map[cell]row // as last computed
	daily       map[cell]row
	corrections []correction // in the order they were made
}

// cell is a row's key; region "" is the target as a whole.
type cell struct {
	target int64
	region string
	bucket time.Time
}

// row is what a rollup says of a cell.
type row struct {
	quarters [4][5]uint32 // of days: all in the first
	sums     [6]uint64    // dns, connect, tls, wait, transfer, total
	least    uint32
	most     uint32
	revised  bool
}

type correction struct {
	cell
	was, is           resultstore.Uptime
	wasTotal, isTotal uint64
}

func newModel() *model {
	return &model{slots: map[uptime.Slot]uptime.Result{}, tokens: map[string]bool{}, hourly: map[cell]row{}, daily: map[cell]row{}}
}

// insert is what a batch changes.
func (m *model) insert(b resultstore.Batch) {
	if m.tokens[b.Token] {
		return
	}
	m.tokens[b.Token] = true
	for _, r := range b.Rows {
		if have, there := m.slots[r.Slot()]; !there || r.Revision() >= have.Revision() {
			m.slots[r.Slot()] = r
		}
	}
}

func (m *model) delete(id int64) {
	maps.DeleteFunc(m.slots, func(s uptime.Slot, _ uptime.Result) bool { return s.TargetID == id })
	maps.DeleteFunc(m.hourly, func(c cell, _ row) bool { return c.target == id })
	maps.DeleteFunc(m.daily, func(c cell, _ row) bool { return c.target == id })
	m.corrections = slices.DeleteFunc(m.corrections, func(c correction) bool { return c.target == id })
}

// latest is the newest row of each target and region.
func (m *model) latest() map[cell]uptime.Result {
	newest := map[cell]uptime.Result{}
	for s, r := range m.slots {
		c := cell{target: s.TargetID, region: s.Region}
		if have, there := newest[c]; !there || have.ScheduledAt.Before(r.ScheduledAt) {
			newest[c] = r
		}
	}
	return newest
}

// fold is the status of a target as a whole at one slot time: down when more than half of
// the regions that measured say so, else degraded when any says down or degraded, else up;
// without a measurement unknown when any region says so, else missed.
func fold(statuses []uptime.Status) uptime.Status {
	var n [6]int
	for _, s := range statuses {
		n[s]++
	}
	measured := n[uptime.StatusUp] + n[uptime.StatusDegraded] + n[uptime.StatusDown]
	switch {
	case measured == 0 && n[uptime.StatusUnknown] > 0:
		return uptime.StatusUnknown
	case measured == 0:
		return uptime.StatusMissed
	case n[uptime.StatusDown]*2 > measured:
		return uptime.StatusDown
	case n[uptime.StatusDown]+n[uptime.StatusDegraded] > 0:
		return uptime.StatusDegraded
	}
	return uptime.StatusUp
}

// computed is every hourly row, from the slots.
func (m *model) computed() map[cell]row {
	rows := map[cell]row{}
	together := map[uptime.Slot][]uptime.Status{}
	for s, r := range m.slots {
		c := cell{s.TargetID, s.Region, s.ScheduledAt.Truncate(hour)}
		one := rows[c]
		one.count(s.ScheduledAt, r.Status)
		if r.Status == uptime.StatusUp || r.Status == uptime.StatusDegraded {
			for i, us := range []uint32{r.Phases.DNS, r.Phases.Connect, r.Phases.TLS, r.Phases.Wait, r.Phases.Transfer, r.TotalUS} {
				one.sums[i] += uint64(us)
			}
			if one.least == 0 || r.TotalUS < one.least {
				one.least = r.TotalUS
			}
			one.most = max(one.most, r.TotalUS)
		}
		rows[c] = one
		s.Region = ""
		together[s] = append(together[s], r.Status)
	}
	for s, statuses := range together {
		c := cell{s.TargetID, "", s.ScheduledAt.Truncate(hour)}
		one := rows[c]
		one.count(s.ScheduledAt, fold(statuses))
		rows[c] = one
	}
	return rows
}

func (r *row) count(at time.Time, s uptime.Status) {
	r.quarters[at.Minute()/15][s-1]++
}

func (r row) counts() resultstore.Uptime {
	var n [5]uint64
	for _, q := range r.quarters {
		for i, c := range q {
			n[i] += uint64(c)
		}
	}
	return resultstore.Uptime{Up: n[0], Degraded: n[1], Down: n[2], Unknown: n[3], Missed: n[4]}
}

// run is what a run of the job changes, when the one before began at an instant (zero:
// there was none) and it began at another, and some hours cannot be computed.
func (m *model) run(succeeded, started time.Time, bad ...time.Time) {
	for c, now := range m.computed() {
		if slices.ContainsFunc(bad, c.bucket.Equal) || c.bucket.Before(resultstore.OldestHour(started, resultstore.Retention)) {
			continue
		}
		was := m.hourly[c]
		closed := !succeeded.IsZero() && !c.bucket.Add(hour+resultstore.CloseAfter).After(succeeded)
		now.revised = was.revised
		if closed && (now.quarters != was.quarters || now.sums[5] != was.sums[5]) {
			now.revised = true
			m.corrections = append(m.corrections, correction{c, was.counts(), now.counts(), was.sums[5], now.sums[5]})
		}
		m.hourly[c] = now
	}
	m.sumDays(func(d time.Time) bool { return !d.Add(day + resultstore.CloseAfter).After(started) })
}

// sumDays adds up the hours of some days, as last computed.
func (m *model) sumDays(which func(time.Time) bool) {
	maps.DeleteFunc(m.daily, func(c cell, _ row) bool { return which(c.bucket) })
	for c, h := range m.hourly {
		if c.bucket = c.bucket.Truncate(day); !which(c.bucket) {
			continue
		}
		d := m.daily[c]
		for _, q := range h.quarters {
			for i, n := range q {
				d.quarters[0][i] += n
			}
		}
		for i, sum := range h.sums {
			d.sums[i] += sum
		}
		if h.least > 0 && (d.least == 0 || h.least < d.least) {
			d.least = h.least
		}
		d.most, d.revised = max(d.most, h.most), d.revised || h.revised
		m.daily[c] = d
	}
}

// maker makes results that rank as they are told to.
type maker struct {
	rng    *rand.Rand
	ingest time.Time // rises, so that no two rows rank the same
}

func (k *maker) result(target int64, region string, slot time.Time, status uptime.Status) uptime.Result {
	k.ingest = k.ingest.Add(time.Millisecond)
	r := uptime.Result{TargetID: target, Region: region, ScheduledAt: slot, Status: status, Attempt: 1, Prober: "p", SpecVersion: 1, IngestedAt: k.ingest}
	if !status.Measured() {
		r.Reason = uptime.ReasonLost
		if status == uptime.StatusUnknown {
			r.Reason = uptime.ReasonProbeBlind
		}
		return r
	}
	us := func(most uint32) uint32 { return 1 + k.rng.Uint32N(most) }
	r.CheckedAt, r.HTTPStatus = slot.Add(time.Millisecond), 200
	r.Phases = uptime.Phases{DNS: us(900), Connect: us(9000), TLS: us(20_000), Wait: us(90_000), Transfer: us(2000)}
	r.TotalUS = r.Phases.DNS + r.Phases.Connect + r.Phases.TLS + r.Phases.Wait + r.Phases.Transfer
	if status == uptime.StatusDown {
		r.Failure = uptime.FailureTimeout
	}
	return r
}
