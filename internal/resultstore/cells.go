package resultstore

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/errgroup"

	"github.com/probefleet/probefleet/internal/availability"
)

// CellQuery asks how many slots of targets in [From, To) came to what.
type CellQuery struct {
	IDs      []int64
	From, To time.Time
	Cuts     []time.Time   // instants that no cell may reach across, ascending
	Width    time.Duration // cells are at most this wide, from multiples of it on; 0: as wide as the cuts allow
	Whole    bool          // only of targets as a whole, not of their regions
	// Blind is when regions could not be believed: their rows count as unknown then, and a target
	// as a whole is what the others saw. What is had of rollups of such a time is unknown as a whole.
	Blind map[string]availability.Spans
}

const (
	// A window without cuts is one cut, its beginning: most are, and looking through a list is
	// a third of what folding a rollup takes.
	uncutStart = `greatest({first:Int64}, intDiv(at, {width:Int64}) * {width:Int64})`
	cellStart  = `greatest(arrayMax(arrayFilter(cut -> cut <= at, {cuts:Array(Int64)})), intDiv(at, {width:Int64}) * {width:Int64})`

	cellResults = `FROM results FINAL WHERE target_id IN {ids:Array(UInt64)}
 AND scheduled_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND scheduled_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')`
	cellCounts = `countIf(came = 1), countIf(came = 2), countIf(came = 3), countIf(came = 4), countIf(came = 5)`

	// blindResults are the same, but for what blind regions saw.
	blindResults = `FROM (SELECT target_id, region, scheduled_at,
  if(arrayExists((r, f, t) -> toString(results.region) = r AND toUnixTimestamp64Milli(results.scheduled_at) >= f AND toUnixTimestamp64Milli(results.scheduled_at) < t,
   {blind:Array(String)}, {blind_from:Array(Int64)}, {blind_to:Array(Int64)}), CAST('unknown', 'Enum8(\'up\' = 1, \'degraded\' = 2, \'down\' = 3, \'unknown\' = 4, \'missed\' = 5)'), results.status) AS status
 ` + cellResults + `)`

	allCellsSQL = `SELECT target_id, region, ` + cellStart + ` AS start, ` + cellCounts + `
FROM (SELECT target_id, at, arrayPushBack(groupArray(toString(region)), '') AS regions, arrayPushBack(groupArray(toUInt8(status)), toUInt8(` + foldedStatus + `)) AS cames
 FROM (SELECT target_id, region, status, toUnixTimestamp64Milli(scheduled_at) AS at ` + cellResults + `) GROUP BY target_id, at)
ARRAY JOIN regions AS region, cames AS came
GROUP BY target_id, region, start`
	wholeCellsSQL = `SELECT target_id, '' AS region, ` + cellStart + ` AS start, ` + cellCounts + `
FROM (SELECT target_id, toUnixTimestamp64Milli(scheduled_at) AS at, ` + foldedStatus + ` AS came ` + cellResults + ` GROUP BY target_id, at)
GROUP BY target_id, start`

	// What is little work costs less on one thread, and is there sooner when others work too.
	oneThread = ` SETTINGS max_threads = 1`

	rolledCells  = ` AND empty(region) >= {whole:UInt8} AND target_id IN {ids:Array(UInt64)}`
	rolledSums   = `SELECT target_id, region, ` + cellStart + ` AS start, sum(ups), sum(degradeds), sum(downs), sum(unknowns), sum(misseds) FROM `
	bucketCells  = `(SELECT target_id, region, toInt64(toUnixTimestamp(bucket)) * 1000 AS at, up AS ups, degraded AS degradeds, down AS downs, unknown AS unknowns, missed AS misseds`
	bucketBounds = `bucket >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND bucket < fromUnixTimestamp64Milli({to:Int64}, 'UTC')`
	bucketRange  = ` FINAL WHERE ` + bucketBounds + rolledCells + `)
GROUP BY target_id, region, start` + oneThread
	hourCellsSQL = rolledSums + bucketCells + ` FROM rollup_1h` + bucketRange
	dayCellsSQL  = rolledSums + bucketCells + ` FROM rollup_1d` + bucketRange
	// dailyCellsSQL is dayCellsSQL where each row is a cell: nothing to sum.
	dailyCellsSQL = `SELECT target_id, region, toInt64(toUnixTimestamp(bucket)) * 1000, toUInt64(up), toUInt64(degraded), toUInt64(down), toUInt64(unknown), toUInt64(missed)
FROM rollup_1d FINAL WHERE ` + bucketBounds + rolledCells + oneThread
	quarterCellsSQL = rolledSums + `(SELECT target_id, region, toInt64(toUnixTimestamp(bucket) + 900 * q) * 1000 AS at, ups, degradeds, downs, unknowns, misseds
 FROM (SELECT * FROM rollup_1h FINAL WHERE bucket >= toStartOfHour(fromUnixTimestamp64Milli({from:Int64}, 'UTC')) AND bucket < fromUnixTimestamp64Milli({to:Int64}, 'UTC')` + rolledCells + `)
 ARRAY JOIN "quarter.up" AS ups, "quarter.degraded" AS degradeds, "quarter.down" AS downs, "quarter.unknown" AS unknowns, "quarter.missed" AS misseds, [0, 1, 2, 3] AS q
 WHERE at >= {from:Int64} AND at < {to:Int64})
GROUP BY target_id, region, start`
)

// Cells hands fn the counts of each target per region and, as region "", as a whole,
// where all regions of one slot time count once (availability.Counts.Fold). Cells of
// one series do not overlap, and come in no order; where nothing is there is none.
//
// Windows of up to two days are counted from results, longer ones from rollups as far as
// those go (RolledUp): see planCells. A cut within a quarter of an hour of which no results
// are kept any more, or within a UTC day of which no hours are, is a cell that reaches across it.
func (s *Store) Cells(ctx context.Context, q CellQuery, fn func(targetID int64, region string, c availability.Cell) error) error {
	if len(q.IDs) == 0 || !q.From.Before(q.To) {
		return nil
	}
	var one sync.Mutex // at a time, of the tables' answers
	tables, ctx := errgroup.WithContext(ctx)
	tables.SetLimit(tablesAtOnce)
	for _, part := range planCells(q, s.keeps()) {
		tables.Go(func() error {
			return s.cells(ctx, part, func(targetID int64, region string, c availability.Cell) error {
				one.Lock()
				defer one.Unlock()
				return fn(targetID, region, c)
			})
		})
	}
	if err := tables.Wait(); err != nil {
		return fmt.Errorf("read cells: %w", err)
	}
	return nil
}

// tablesAtOnce is how many are asked at once for their parts of an answer: days, hours and
// results, each of which is little work.
const tablesAtOnce = 3

func (s *Store) cells(ctx context.Context, q cellPart, fn func(targetID int64, region string, c availability.Cell) error) error {
	grid := newGrid(q.CellQuery)
	from, to := q.From, q.To
	var (
		sql   string
		whole uint8
	)
	if q.Whole {
		whole = 1
	}
	switch q.tier {
	case fromResults:
		from, to = s.keptRange(from, to)
		if sql = allCellsSQL; q.Whole {
			sql = wholeCellsSQL
		}
	case fromQuarters:
		sql = quarterCellsSQL
	case fromHours:
		sql = hourCellsSQL
	case fromDays:
		if sql = dayCellsSQL; len(grid.cuts) == 1 && grid.width == day.Milliseconds() {
			sql = dailyCellsSQL
		}
	}
	blind, unsure := q.blinded(), availability.Spans(nil)
	switch {
	case len(blind.regions) == 0:
	case q.tier == fromResults:
		sql = strings.Replace(sql, cellResults, blindResults, 1)
	default:
		unsure = availability.Terms{Blind: q.Blind}.AnyBlind()
	}
	if len(grid.cuts) == 1 {
		sql = strings.Replace(sql, cellStart, uncutStart, 1)
	}
	var (
		id     uint64
		region string
		start  int64
		c      availability.Counts
	)
	return s.query(ctx, sweepBound, sql, append(blind.args(),
		clickhouse.Named("ids", unsigned(q.IDs)), millis("from", from), millis("to", to),
		clickhouse.Named("cuts", grid.cuts), clickhouse.Named("first", grid.cuts[0]), clickhouse.Named("width", grid.width), clickhouse.Named("whole", whole),
	), func(rows driver.Rows) error {
		if err := rows.Scan(&id, &region, &start, &c.Up, &c.Degraded, &c.Down, &c.Unknown, &c.Missed); err != nil || c == (availability.Counts{}) {
			return err
		}
		cell := availability.Cell{Span: grid.span(start), Counts: c}
		if region == "" && slices.ContainsFunc(unsure, cell.Touches) {
			cell.Counts = availability.Counts{Unknown: c.Planned()}
		}
		return fn(int64(id), region, cell)
	})
}

// grid is where cells begin, in Unix milliseconds.
type grid struct {
	cuts  []int64 // ascending; the first is the beginning of the window
	end   int64
	width int64
}

func newGrid(q CellQuery) grid {
	g := grid{end: ceilMilli(q.To).UnixMilli(), width: q.Width.Milliseconds()}
	if g.width <= 0 {
		g.width = math.MaxInt64
	}
	start := ceilMilli(q.From).UnixMilli()
	g.cuts = []int64{start}
	for _, cut := range q.Cuts {
		if ms := ceilMilli(cut).UnixMilli(); ms > start && ms < g.end && ms%g.width != 0 { // cells end there anyway
			g.cuts = append(g.cuts, ms)
		}
	}
	slices.Sort(g.cuts)
	return g
}

// span is the cell that begins at start.
func (g grid) span(start int64) availability.Span {
	end := g.end
	if g.width < math.MaxInt64 {
		end = min(end, (floorDiv(start, g.width)+1)*g.width)
	}
	if i, found := slices.BinarySearch(g.cuts, start); found && i+1 < len(g.cuts) {
		end = min(end, g.cuts[i+1])
	} else if !found && i < len(g.cuts) {
		end = min(end, g.cuts[i])
	}
	return availability.Span{From: time.UnixMilli(start).UTC(), To: time.UnixMilli(end).UTC()}
}

// blindness is the blind windows of a question, one after the other.
type blindness struct {
	regions  []string
	from, to []int64 // in Unix milliseconds
}

// args are its parameters, to which others may be appended.
func (b blindness) args() []any {
	return slices.Clip([]any{clickhouse.Named("blind", b.regions), clickhouse.Named("blind_from", b.from), clickhouse.Named("blind_to", b.to)})
}

func (q CellQuery) blinded() (b blindness) {
	for _, region := range slices.Sorted(maps.Keys(q.Blind)) {
		for _, s := range q.Blind[region] {
			if s.Touches(availability.Span{From: q.From, To: q.To}) {
				b.regions, b.from, b.to = append(b.regions, region), append(b.from, ceilMilli(s.From).UnixMilli()), append(b.to, ceilMilli(s.To).UnixMilli())
			}
		}
	}
	return b
}
