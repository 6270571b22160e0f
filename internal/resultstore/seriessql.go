package resultstore

import (
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// Every question for a series but exactSteps answers: region, step since the epoch, the five counts, three
// quantiles, the sums of the five phases, and when it was last corrected (Unix seconds).
// What is read from results does not know its corrections: those are a question of their own.
const (
	// exactSteps folds results alone. A step is a row for each status, with up and degraded in one: to add up
	// without conditions, and few columns, take less time than more rows cost. It answers: region, step, status, how
	// many there are, how many of them degraded, three quantiles, and the sums of the five phases.
	exactSteps = `SELECT %s AS series, intDiv(toUnixTimestamp64Milli(scheduled_at), {step:Int64}) AS at, if(status = 'degraded', 1, toUInt8(status)) AS came,
 count(), countIf(status = 'degraded'), quantilesExact(0.5, 0.95, 0.99)(toFloat64(total_us)), sum(dns_us), sum(connect_us), sum(tls_us), sum(wait_us), sum(transfer_us)
FROM results FINAL WHERE ` + seriesOf + slotsFrom + ` GROUP BY series, at, came`

	// mergedSteps folds what parts of several tables say.
	mergedSteps = `SELECT %s AS series, at, sum(ups), sum(degradeds), sum(downs), sum(unknowns), sum(misseds),
 arrayMap(q -> toFloat64(q), quantilesDDMerge(0.02, 0.5, 0.95, 0.99)(latencies)), sum(dns), sum(connect), sum(tls), sum(wait), sum(transfer), max(revised)
FROM (%s) GROUP BY series, at` + oneThread

	// rolledSteps folds rollups alone.
	rolledSteps = `SELECT %[3]s AS series, intDiv(toInt64(toUnixTimestamp(bucket)) * 1000, {step:Int64}) AS at, sum(up), sum(degraded), sum(down), sum(unknown), sum(missed),
 arrayMap(q -> toFloat64(q), quantilesDDMerge(0.02, 0.5, 0.95, 0.99)(latency)), sum(dns_us_sum), sum(connect_us_sum), sum(tls_us_sum), sum(wait_us_sum), sum(transfer_us_sum), toUnixTimestamp(max(revised_at))
` + fromRolled + ` GROUP BY series, at` + oneThread

	rolledPart = `SELECT region, intDiv(toInt64(toUnixTimestamp(bucket)) * 1000, {step:Int64}) AS at, up AS ups, degraded AS degradeds, down AS downs, unknown AS unknowns, missed AS misseds,
 latency AS latencies, dns_us_sum AS dns, connect_us_sum AS connect, tls_us_sum AS tls, wait_us_sum AS wait, transfer_us_sum AS transfer, toUnixTimestamp(revised_at) AS revised
` + fromRolled

	fromRolled = `FROM %[1]s FINAL WHERE ` + seriesOf + ` AND empty(region) = 0 AND bucket >= fromUnixTimestamp64Milli({%[2]s_from:Int64}, 'UTC') AND bucket < fromUnixTimestamp64Milli({%[2]s_to:Int64}, 'UTC')`

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

	seriesOf  = `target_id = {id:UInt64}` + ofRegion
	ofRegion  = ` AND region = {region:String}` // left out where all are asked for
	slotsFrom = ` AND scheduled_at >= fromUnixTimestamp64Milli({raw_from:Int64}, 'UTC') AND scheduled_at < fromUnixTimestamp64Milli({raw_to:Int64}, 'UTC')`
)

// rollups is the table that holds those of a tier.
func (t Tier) rollups() string {
	if t == TierDaily {
		return "rollup_1d"
	}
	return "rollup_1h"
}

// ask is a statement with its arguments.
type ask struct {
	sql  string
	args []any
	scan func(driver.Rows) (step, error)
}

// questions are the plan as statements that have no step in common: a series a region, or one
// of all as region "". What they read from results was corrected as revisions says; nil if nothing is.
func (p seriesPlan) questions(q SeriesQuery, byRegion bool) (questions []ask, revisions *ask) {
	name := "''"
	if byRegion {
		name = "toString(region)"
	}
	asked := func(sql string, parts ...seriesPart) ask {
		if q.Region == "" {
			sql = strings.ReplaceAll(sql, ofRegion, "")
		}
		args := []any{clickhouse.Named("id", uint64(q.TargetID)), clickhouse.Named("region", q.Region), clickhouse.Named("step", p.step.Milliseconds())}
		for _, part := range parts {
			args = append(args, millis(string(part.tier)+"_from", part.from), millis(string(part.tier)+"_to", part.to))
		}
		return ask{sql, args, scanStep}
	}
	if last := p.parts[len(p.parts)-1]; last.tier == TierRaw && last.from.Before(p.corrected) {
		last.to = earlier(last.to, p.corrected)
		revised := asked(fmt.Sprintf(revisedHours, name), last)
		revisions = &revised
	}
	for _, parts := range p.apart() {
		first, sql, exact := parts[0], "", false
		switch {
		case len(parts) > 1:
			var texts []string
			for _, part := range parts {
				if part.tier == TierRaw {
					texts = append(texts, resultsPart)
				} else {
					texts = append(texts, fmt.Sprintf(rolledPart, part.tier.rollups(), part.tier))
				}
			}
			sql = fmt.Sprintf(mergedSteps, name, strings.Join(texts, " UNION ALL "))
		case first.tier == TierRaw:
			sql, exact = fmt.Sprintf(exactSteps, name), true
			if p.tier != TierRaw {
				sql += oneThread // others are asked at once
			}
		default:
			sql = fmt.Sprintf(rolledSteps, first.tier.rollups(), first.tier, name)
		}
		question := asked(sql, parts...)
		if exact {
			question.scan = scanExact
		}
		questions = append(questions, question)
	}
	return questions, revisions
}

// apart divides the parts where a step begins, so that most of the first, which is of nearly
// all the time, is asked for by itself: to merge it with the others takes longer than all else.
func (p seriesPlan) apart() [][]seriesPart {
	first := p.parts[0]
	if len(p.parts) == 1 {
		return [][]seriesPart{p.parts}
	}
	step := p.step.Milliseconds()
	edge := time.UnixMilli(floorDiv(p.parts[1].from.UnixMilli(), step) * step)
	if !edge.After(first.from) {
		return [][]seriesPart{p.parts}
	}
	rest := p.parts[1:]
	if edge.Before(first.to) {
		rest = append([]seriesPart{{first.tier, edge, first.to}}, rest...)
	}
	return [][]seriesPart{{{first.tier, first.from, edge}}, rest}
}

// keeps says how far history goes, as far as is known.
func (s *Store) keeps() keeps {
	now := s.now()
	kept := s.LastKept()
	have := keeps{raw: now.Add(-kept.Raw), hourly: now.Add(-kept.Hourly)}
	have.rolled = later(ceilTo(have.raw, hour), s.rolled())
	have.corrected = now
	if run, known := s.lastRun(); known {
		have.corrected = run.Add(-CloseAfter).Truncate(hour)
	}
	return have
}
