package resultstore

import (
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// Every question for a series answers: region, step since the epoch, the five counts, three
// quantiles, the sums of the five phases, and when it was last corrected (Unix seconds).
// What is read from results does not know its corrections: those are a question of their own.
const (
	// exactSteps folds results alone.
	exactSteps = `SELECT %s AS series, intDiv(toUnixTimestamp64Milli(scheduled_at), {step:Int64}) AS at,
 countIf(status = 'up'), countIf(status = 'degraded'), countIf(status = 'down'), countIf(status = 'unknown'), countIf(status = 'missed'),
 quantilesExactIf(0.5, 0.95, 0.99)(toFloat64(total_us), status <= 'degraded'),
 sumIf(dns_us, status <= 'degraded'), sumIf(connect_us, status <= 'degraded'), sumIf(tls_us, status <= 'degraded'),
 sumIf(wait_us, status <= 'degraded'), sumIf(transfer_us, status <= 'degraded'), toUInt32(0)
FROM results FINAL WHERE ` + seriesOf + slotsFrom + ` GROUP BY series, at`

	// mergedSteps folds what parts of several tables say.
	mergedSteps = `SELECT %s AS series, at, sum(ups), sum(degradeds), sum(downs), sum(unknowns), sum(misseds),
 arrayMap(q -> toFloat64(q), quantilesDDMerge(0.02, 0.5, 0.95, 0.99)(latencies)), sum(dns), sum(connect), sum(tls), sum(wait), sum(transfer), max(revised)
FROM (%s) GROUP BY series, at` + oneThread

	rolledPart = `SELECT region, intDiv(toInt64(toUnixTimestamp(bucket)) * 1000, {step:Int64}) AS at, up AS ups, degraded AS degradeds, down AS downs, unknown AS unknowns, missed AS misseds,
 latency AS latencies, dns_us_sum AS dns, connect_us_sum AS connect, tls_us_sum AS tls, wait_us_sum AS wait, transfer_us_sum AS transfer, toUnixTimestamp(revised_at) AS revised
FROM %[1]s FINAL WHERE ` + seriesOf + ` AND empty(region) = 0 AND bucket >= fromUnixTimestamp64Milli({%[2]s_from:Int64}, 'UTC') AND bucket < fromUnixTimestamp64Milli({%[2]s_to:Int64}, 'UTC')`

	resultsPart = `SELECT region, intDiv(toUnixTimestamp64Milli(scheduled_at), {step:Int64}) AS at,
 countIf(status = 'up') AS ups, countIf(status = 'degraded') AS degradeds, countIf(status = 'down') AS downs, countIf(status = 'unknown') AS unknowns, countIf(status = 'missed') AS misseds,
 quantilesDDStateIf(0.02, 0.5, 0.95, 0.99)(total_us, status <= 'degraded') AS latencies,
 sumIf(dns_us, status <= 'degraded') AS dns, sumIf(connect_us, status <= 'degraded') AS connect, sumIf(tls_us, status <= 'degraded') AS tls,
 sumIf(wait_us, status <= 'degraded') AS wait, sumIf(transfer_us, status <= 'degraded') AS transfer, toUInt32(0) AS revised
FROM results FINAL WHERE ` + seriesOf + slotsFrom + ` GROUP BY region, at`

	// revisedHours answers: region, the hour in ms, and when it was last corrected.
	revisedHours = `SELECT %s AS series, toInt64(toUnixTimestamp(bucket)) * 1000 AS at, toUnixTimestamp(max(revised_at))
FROM corrections WHERE ` + seriesOf + ` AND region != '' AND bucket >= toStartOfHour(fromUnixTimestamp64Milli({raw_from:Int64}, 'UTC')) AND bucket < fromUnixTimestamp64Milli({raw_to:Int64}, 'UTC')
GROUP BY series, at`

	seriesOf  = `target_id = {id:UInt64} AND ({region:String} = '' OR region = {region:String})`
	slotsFrom = ` AND scheduled_at >= fromUnixTimestamp64Milli({raw_from:Int64}, 'UTC') AND scheduled_at < fromUnixTimestamp64Milli({raw_to:Int64}, 'UTC')`
)

// rollups is the table that holds those of a tier.
func (t Tier) rollups() string {
	if t == TierDaily {
		return "rollup_1d"
	}
	return "rollup_1h"
}

// question is the plan as one statement: a series a region, or one of all as region "". What
// it reads from results was corrected as revisions, of the same arguments, says; "" if nothing is.
func (p seriesPlan) question(q SeriesQuery, byRegion bool) (sql, revisions string, args []any) {
	name := "''"
	if byRegion {
		name = "toString(region)"
	}
	args = []any{clickhouse.Named("id", uint64(q.TargetID)), clickhouse.Named("region", q.Region), clickhouse.Named("step", p.step.Milliseconds())}
	var parts []string
	for _, part := range p.parts {
		args = append(args, millis(string(part.tier)+"_from", part.from), millis(string(part.tier)+"_to", part.to))
		if part.tier == TierRaw {
			parts = append(parts, resultsPart)
		} else {
			parts = append(parts, fmt.Sprintf(rolledPart, part.tier.rollups(), part.tier))
		}
	}
	sql = fmt.Sprintf(exactSteps, name)
	if p.tier != TierRaw {
		sql = fmt.Sprintf(mergedSteps, name, strings.Join(parts, " UNION ALL "))
	}
	if p.parts[len(p.parts)-1].tier == TierRaw {
		revisions = fmt.Sprintf(revisedHours, name)
	}
	return sql, revisions, args
}

// keeps says how far history goes, as far as is known.
func (s *Store) keeps() keeps {
	now := s.now()
	have := keeps{raw: now.Add(-s.RawKept()), hourly: now.Add(-hourlyRetention)}
	if d := s.hourly.Load(); d != 0 {
		have.hourly = now.Add(-time.Duration(d))
	}
	have.rolled = later(ceilTo(have.raw, hour), s.rolled())
	return have
}
