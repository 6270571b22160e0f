//go:build bench

package historybench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// question is what a page asks, through the store's own functions. It answers with how many
// things it got, and how many it must get at least: an answer of nothing would be fast.
type question struct {
	name     string
	p50, p95 float64 // ms, at most
	ask      func(ctx context.Context, a asking) (got, want int, err error)
	// bare are statements that read the same columns of the same rows of the same tables, at once and by
	// the same settings, and do less with them than any answer needs: they merge all states of percentiles to one and add
	// the rest up, or, where rows are the answer, take them out of the driver in any order and drop them. No
	// question can be faster on this machine. Each answers with a row at least.
	bare func(a asking) []string
}

// asking is what a question is asked about.
type asking struct {
	store   *resultstore.Store
	now     time.Time
	targets []int64 // in random order
	since   time.Time
	rolled  time.Time // rollups answer for what is before
	days    int
	series  int
}

func questions() []question {
	return []question{
		{"latest 90 of 50 targets", 25, 50, latest90, bareLatest90},
		{"24 h percentiles of a target", 8, 20, percentiles24h, bare24h},
		{"90-day daily uptime of 200 targets", 30, 60, dailyUptime, bareDailyUptime},
		{"90-day five-phase series of a target", 20, 50, phases90d, barePhases90d},
		{"current status of all series", 5, 15, current, bareCurrent},
	}
}

// latestSince is from when on the API reads for the newest 90.
func (a asking) latestSince() time.Time { return a.now.Add(-90*interval - uptime.Expiry(interval)) }

// firstDay is where 90 days begin.
func (a asking) firstDay() time.Time {
	return a.now.Truncate(day).Add(-time.Duration(a.days-1) * day)
}

// What questions read: of a bar of the newest, of a cell, of a step of a series.
const (
	barRow    = `target_id, region, scheduled_at, checked_at, status, failure, reason, http_status, total_us`
	cellRow   = `target_id, bucket, up, degraded, down, unknown, missed`
	cellSum   = `sum(toUInt64(up) + degraded + down + unknown + missed)`
	stepSum   = `sum(toUInt64(toUInt8(status)) + total_us + dns_us + connect_us + tls_us + wait_us + transfer_us)`
	rolledSum = `sum(toUInt64(up) + degraded + down + unknown + missed + dns_us_sum + connect_us_sum + tls_us_sum + wait_us_sum + transfer_us_sum + toUnixTimestamp(revised_at)) + arraySum(quantilesDDMerge(0.02, 0.5, 0.95, 0.99)(latency))`
)

func bareLatest90(a asking) []string {
	return []string{bareResults(barRow, a.targets[:min(50, len(a.targets))], a.latestSince())}
}

func bare24h(a asking) []string {
	return []string{bareResults(stepSum, a.targets[:1], a.now.Add(-day)) + " HAVING count() > 0"}
}

func bareDailyUptime(a asking) []string {
	ids, today := a.targets[:min(200, len(a.targets))], a.rolled.Truncate(day)
	return []string{
		bareRollups("rollup_1d", cellRow, "empty(region)", ids, a.firstDay(), today) + oneThread,
		bareRollups("rollup_1h", cellSum, "empty(region)", ids, today, a.rolled) + oneThread,
		bareResults("sum(toUInt8(status))", ids, a.rolled),
	}
}

func barePhases90d(a asking) []string {
	id, today := a.targets[:1], a.rolled.Truncate(day)
	return []string{
		bareRollups("rollup_1d", rolledSum, "NOT empty(region)", id, a.firstDay(), today) + " HAVING count() > 0" + oneThread,
		bareResults(stepSum, id, today) + oneThread,
	}
}

func bareCurrent(asking) []string {
	return []string{`SELECT ` + barRow + ` FROM results_latest FINAL` + oneThread}
}

const oneThread = ` SETTINGS max_threads = 1`

func bareResults(what string, ids []int64, from time.Time) string {
	return fmt.Sprintf(`SELECT %s FROM results FINAL WHERE target_id IN (%s) AND scheduled_at >= fromUnixTimestamp64Milli(%d, 'UTC')`, what, list(ids), from.UnixMilli())
}

func bareHour(at time.Time) string {
	return fmt.Sprintf(`SELECT %s FROM results FINAL WHERE scheduled_at >= fromUnixTimestamp(%d) AND scheduled_at < fromUnixTimestamp(%d)`, stepSum, at.Unix(), at.Add(time.Hour).Unix())
}

func bareRollups(table, what, which string, ids []int64, from, to time.Time) string {
	return fmt.Sprintf(`SELECT %s FROM %s FINAL WHERE %s AND target_id IN (%s) AND bucket >= fromUnixTimestamp(%d) AND bucket < fromUnixTimestamp(%d)`, what, table, which, list(ids), from.Unix(), to.Unix())
}

func list(ids []int64) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(ids), " ", ","), "[]")
}

func latest90(ctx context.Context, a asking) (got, want int, err error) {
	ids := a.targets[:min(50, len(a.targets))]
	answer, err := a.store.LatestN(ctx, ids, 90, a.latestSince())
	for _, id := range ids {
		got += len(answer[id])
	}
	slots := min(90, int(a.now.Sub(a.since)/interval)) - 5 // of the newest, not all regions have arrived
	return got, len(ids) * slots * len(regions()), err
}

func percentiles24h(ctx context.Context, a asking) (got, want int, err error) {
	answer, err := a.store.Series(ctx, resultstore.SeriesQuery{TargetID: a.targets[0], From: a.now.Add(-day), To: a.now, Step: 5 * time.Minute})
	for _, p := range answer.P95 {
		if p > 0 {
			got++
		}
	}
	return got, int(min(day, a.now.Sub(a.since))/(5*time.Minute)) - 1, err
}

// dailyUptime is the bars of a page with many targets: of each as a whole, all regions folded.
func dailyUptime(ctx context.Context, a asking) (got, want int, err error) {
	ids := a.targets[:min(200, len(a.targets))]
	err = a.store.Cells(ctx, resultstore.CellQuery{IDs: ids, From: a.firstDay(), To: a.now, Width: day, Whole: true}, func(_ int64, _ string, c availability.Cell) error {
		if c.Counts.Planned() > 0 {
			got++
		}
		return nil
	})
	return got, len(ids) * (a.days - 1), err
}

func phases90d(ctx context.Context, a asking) (got, want int, err error) {
	answer, err := a.store.Series(ctx, resultstore.SeriesQuery{TargetID: a.targets[0], From: a.firstDay(), To: a.now, Step: day})
	for i, wait := range answer.Wait {
		if wait > 0 && answer.P99[i] > 0 {
			got++
		}
	}
	return got, a.days - 1, err
}

func current(ctx context.Context, a asking) (got, want int, err error) {
	answer, err := a.store.Current(ctx, nil)
	return len(answer), a.series, err
}

// shuffled is the targets in random order.
func shuffled(rng *rand.Rand, targets int) []int64 {
	ids := make([]int64, targets)
	for i, n := range rng.Perm(targets) {
		ids[i] = int64(n + 1)
	}
	return ids
}

func short(name string, got, want int) error {
	if got < want {
		return fmt.Errorf("%s: the answer has %d of %d", name, got, want)
	}
	return nil
}
