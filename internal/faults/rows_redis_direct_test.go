package faults

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
)

const checksKey = "{pf}:checks"

// direct is what an operator at the console of Redis sees and does, past every edge.
type direct struct {
	t *trial
	r *checkstream.Redis
}

// console opens one. It dials anew after every restart of Redis.
func (t *trial) console() direct {
	t.Helper()
	r, err := checkstream.Open(t.rig.redis.url())
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return direct{t, r}
}

// do gives one command; an error reply ends the trial.
func (d direct) do(args ...any) any {
	d.t.Helper()
	reply, err := d.try(args...)
	if err != nil {
		d.t.Fatalf("redis: %v: %v", args[0], err)
	}
	return reply
}

func (d direct) try(args ...any) (any, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return d.r.Commands().Do(ctx, args...).Result()
}

// info is a line of INFO, 0 where there is none: "used_memory", "errorstat_STALE".
func (d direct) info(section, name string) (value float64) {
	d.t.Helper()
	text, _ := d.do("INFO", section).(string)
	for line := range strings.Lines(text) {
		if rest, found := strings.CutPrefix(strings.TrimSpace(line), name+":"); found {
			value, _ = strconv.ParseFloat(strings.TrimPrefix(rest, "count="), 64)
		}
	}
	return value
}

// stream is how many checks were ever published, and the newest id.
func (d direct) stream() (added int64, newest string) {
	d.t.Helper()
	info, err := d.r.Commands().XInfoStream(context.Background(), checksKey).Result()
	if err != nil {
		d.t.Fatalf("redis: %v", err)
	}
	return info.EntriesAdded, info.LastGeneratedID
}

// pending is how many checks the regions have taken on and not settled.
func (d direct) pending() (n int64) {
	d.t.Helper()
	groups, err := d.r.Commands().XInfoGroups(context.Background(), checksKey).Result()
	if err != nil {
		d.t.Fatalf("redis: %v", err)
	}
	for _, group := range groups {
		n += group.Pending
	}
	return n
}

// atOrAfter compares two stream ids.
func atOrAfter(a, b string) bool {
	ams, aseq := idParts(a)
	bms, bseq := idParts(b)
	return ams > bms || ams == bms && aseq >= bseq
}

func idParts(id string) (ms, seq uint64) {
	left, right, _ := strings.Cut(id, "-")
	ms, _ = strconv.ParseUint(left, 10, 64)
	seq, _ = strconv.ParseUint(right, 10, 64)
	return ms, seq
}

// rowsOf counts the visible rows of the trial that fulfil a condition.
func (t *trial) rowsOf(condition string) int {
	t.Helper()
	return int(t.count(fmt.Sprintf("SELECT count() FROM results FINAL WHERE scheduled_at >= fromUnixTimestamp64Milli(%d) AND (%s)", t.from.UnixMilli(), condition)))
}

// slotsIn is the condition that a row belongs to one of some stream ids.
func slotsIn(ids []string) string {
	if len(ids) == 0 {
		return "0"
	}
	var set strings.Builder
	for _, id := range ids {
		ms, target := idParts(id)
		fmt.Fprintf(&set, "(%d,%d),", target, ms/1000)
	}
	return "(target_id, toUnixTimestamp(scheduled_at)) IN (" + strings.TrimSuffix(set.String(), ",") + ")"
}

// brink is how long a visit may take from what its row says to its arrival, or the other
// way round as the counters are read one after another.
const brink = time.Second

// countVisits begins to count visits to the fleet's own targets. What it returns is
// called when the damage is over: it gives the visits so far, and how many of them are
// more than the rows of their target, each a check that ran twice. What is visited
// within a brink of the beginning or the end may be counted on one side only: it excuses
// a visit to its own target and to no other.
func (t *trial) countVisits() (finish func(limit time.Duration) (visits, again int)) {
	t.Helper()
	created := t.rig.ids[1:] // the first is of no path of its own
	counters := func() []int64 {
		n := make([]int64, len(created))
		for i := range n {
			n[i] = t.rig.lab.RequestsTo(fmt.Sprintf("/n/%d", i)) // see rig.create
		}
		return n
	}
	from, before := time.Now(), counters()
	return func(limit time.Duration) (visits, again int) {
		t.Helper()
		after, to := counters(), time.Now()
		t.awaitEveryRow(to.Add(brink), limit)
		var each []string
		for i, id := range created {
			visits += int(after[i] - before[i])
			each = append(each, fmt.Sprintf("(%d,%d)", id, after[i]-before[i]))
		}
		// By the time of the visit: a publisher that is late has older slots visited.
		rows := fmt.Sprintf("SELECT target_id, count() AS n FROM results FINAL WHERE status <= 3 AND checked_at >= fromUnixTimestamp64Milli(%d) AND checked_at < fromUnixTimestamp64Milli(%d) GROUP BY target_id",
			from.Add(-brink).UnixMilli(), to.Add(brink).UnixMilli())
		return visits, int(t.count(fmt.Sprintf("SELECT sum(greatest(0, tupleElement(t, 2) - toInt64(n))) FROM (SELECT arrayJoin([%s]) AS t) AS v LEFT JOIN (%s) AS r ON tupleElement(t, 1) = r.target_id",
			strings.Join(each, ","), rows)))
	}
}

// count reads one number from ClickHouse.
func (t *trial) count(question string) float64 {
	t.Helper()
	n, err := t.rig.audit.Query(t.Context(), question)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return n
}
