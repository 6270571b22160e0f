package resultstore

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/errgroup"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/uptime"
)

// MaxPoints is the largest number of points of a series.
const MaxPoints = 11_000

// SeriesQuery asks for one target's results in [From, To), folded into steps.
type SeriesQuery struct {
	TargetID int64
	From, To time.Time
	Step     time.Duration // whole seconds; 0: chosen by the length of the window
	Region   string        // "" means all
	Whole    bool          // count the target as a whole: all regions of one slot time once. Not with a region
}

// Series is columnar: index i of every column is the step [At[i], At[i]+Step). Steps
// are aligned to the Unix epoch and none is left out, so gaps are visible. Latencies
// and phases are of up and degraded results, in µs, and NaN where there are none.
//
// The server picks the Tier by the window and the step (planSeries). What it covers is
// [From, To): as asked, but widened to whole hours or days where it is made from those.
type Series struct {
	Tier                                       Tier
	Step                                       time.Duration
	From, To                                   time.Time
	At                                         []time.Time
	Count, Up, Degraded, Down, Unknown, Missed []uint64
	P50, P95, P99                              []float64
	DNS, Connect, TLS, Wait, Transfer          []float64   // means
	RevisedAt                                  []time.Time // when an hour of the step was last corrected; zero: never
}

// Series folds the results of a target into steps. A *BoundError says what cannot be had.
func (s *Store) Series(ctx context.Context, q SeriesQuery) (Series, error) {
	all, plan, err := s.steps(ctx, q, false)
	if err != nil {
		return Series{}, fmt.Errorf("read series: %w", err)
	}
	series, found := all[""]
	if !found {
		series = newSeries(plan)
	}
	if q.Whole && q.Region == "" && len(series.At) > 0 {
		if err := s.countWhole(ctx, q.TargetID, series); err != nil {
			return Series{}, fmt.Errorf("read series: %w", err)
		}
	}
	return *series, nil
}

// Matrix folds the results of a target into steps, by region. All have the same steps; a
// region without results is absent. Region and Whole of the question are not used.
func (s *Store) Matrix(ctx context.Context, q SeriesQuery) (map[string]Series, error) {
	q.Region, q.Whole = "", false
	all, _, err := s.steps(ctx, q, true)
	if err != nil {
		return nil, fmt.Errorf("read matrix: %w", err)
	}
	matrix := make(map[string]Series, len(all))
	for region, series := range all {
		matrix[region] = *series
	}
	return matrix, nil
}

// countWhole replaces the counts by those of the target as a whole.
func (s *Store) countWhole(ctx context.Context, id int64, series *Series) error {
	for _, column := range [][]uint64{series.Count, series.Up, series.Degraded, series.Down, series.Unknown, series.Missed} {
		clear(column)
	}
	q := CellQuery{IDs: []int64{id}, From: series.From, To: series.To, Width: series.Step, Whole: true}
	return s.Cells(ctx, q, func(_ int64, _ string, c availability.Cell) error {
		i, err := series.index(floorDiv(c.From.UnixMilli(), series.Step.Milliseconds()))
		if err == nil {
			series.count(i, c.Counts)
		}
		return err
	})
}

// steps reads the series of a target: by region, or one of all, as region "".
func (s *Store) steps(ctx context.Context, q SeriesQuery, byRegion bool) (map[string]*Series, seriesPlan, error) {
	if !q.From.Before(q.To) {
		return nil, seriesPlan{}, nil
	}
	plan, err := planSeries(q, s.keeps())
	if err != nil {
		return nil, plan, err
	}
	all := map[string]*Series{}
	of := func(region string) *Series {
		if all[region] == nil {
			all[region] = newSeries(plan)
		}
		return all[region]
	}
	questions, revisions := plan.questions(q, byRegion)
	var revised []revisedHour
	tables, ctx := errgroup.WithContext(ctx)
	if revisions != nil {
		tables.Go(func() error {
			maybe, err := s.mayBeCorrected(ctx, q.TargetID)
			if err != nil || !maybe {
				return err
			}
			revised, err = s.revisedHours(ctx, *revisions)
			return err
		})
	}
	var one sync.Mutex // at a time, of the answers
	for _, question := range questions {
		tables.Go(func() error {
			return s.query(ctx, pageBound, question.sql, question.args, func(rows driver.Rows) error {
				found, err := question.scan(rows)
				if err != nil {
					return err
				}
				one.Lock()
				defer one.Unlock()
				return of(found.region).add(found)
			})
		})
	}
	if err := tables.Wait(); err != nil {
		return nil, plan, err
	}
	for _, r := range revised {
		if err := of(r.region).reviseHour(r.from, r.at); err != nil {
			return nil, plan, err
		}
	}
	return all, plan, nil
}

// revisedHour is the correction of an hour that was read from results.
type revisedHour struct {
	region string
	from   int64  // ms
	at     uint32 // s
}

func (s *Store) revisedHours(ctx context.Context, revisions ask) (revised []revisedHour, err error) {
	err = s.query(ctx, pageBound, revisions.sql, revisions.args, func(rows driver.Rows) error {
		var r revisedHour
		err := rows.Scan(&r.region, &r.from, &r.at)
		revised = append(revised, r)
		return err
	})
	return revised, err
}

// step is what an answer says of one.
type step struct {
	region    string
	at        int64 // since the Unix epoch, in steps
	counts    availability.Counts
	quantiles [3]float64
	phases    [5]uint64 // sums
	revised   uint32    // s
}

func scanStep(rows driver.Rows) (s step, err error) {
	var quantiles []float64
	c, p := &s.counts, &s.phases
	err = rows.Scan(&s.region, &s.at, &c.Up, &c.Degraded, &c.Down, &c.Unknown, &c.Missed, &quantiles, &p[0], &p[1], &p[2], &p[3], &p[4], &s.revised)
	copy(s.quantiles[:], quantiles)
	return s, err
}

// scanExact reads a row of exactSteps.
func scanExact(rows driver.Rows) (s step, err error) {
	var (
		status      uint8
		n, degraded uint64
		quantiles   []float64
	)
	p := &s.phases
	err = rows.Scan(&s.region, &s.at, &status, &n, &degraded, &quantiles, &p[0], &p[1], &p[2], &p[3], &p[4])
	switch uptime.Status(status) {
	case uptime.StatusUp:
		s.counts.Up, s.counts.Degraded = n-degraded, degraded
	case uptime.StatusDown:
		s.counts.Down = n
	case uptime.StatusUnknown:
		s.counts.Unknown = n
	case uptime.StatusMissed:
		s.counts.Missed = n
	}
	copy(s.quantiles[:], quantiles)
	return s, err
}

// add takes over what was found of a step: of exact ones a part.
func (s *Series) add(found step) error {
	i, err := s.index(found.at)
	if err != nil {
		return err
	}
	s.count(i, found.counts)
	s.revise(i, found.revised)
	timed := float64(found.counts.Up + found.counts.Degraded)
	if timed == 0 {
		return nil // ClickHouse answers quantiles of nothing with 0, and failures have no latency
	}
	s.P50[i], s.P95[i], s.P99[i] = found.quantiles[0], found.quantiles[1], found.quantiles[2]
	for phase, column := range [][]float64{s.DNS, s.Connect, s.TLS, s.Wait, s.Transfer} {
		column[i] = float64(found.phases[phase]) / timed
	}
	return nil
}

// index is the place of a step, which is counted from the Unix epoch.
func (s *Series) index(step int64) (int, error) {
	i := step - floorDiv(s.From.UnixMilli(), s.Step.Milliseconds())
	if i < 0 || i >= int64(len(s.At)) {
		return 0, fmt.Errorf("series answer has step %d of %d", i, len(s.At))
	}
	return int(i), nil
}

func (s *Series) count(i int, c availability.Counts) {
	s.Count[i] += c.Planned()
	s.Up[i] += c.Up
	s.Degraded[i] += c.Degraded
	s.Down[i] += c.Down
	s.Unknown[i] += c.Unknown
	s.Missed[i] += c.Missed
}

// revise notes a correction at an instant in Unix seconds; 0 is none.
func (s *Series) revise(i int, at uint32) {
	if t := time.Unix(int64(at), 0).UTC(); at > 0 && t.After(s.RevisedAt[i]) {
		s.RevisedAt[i] = t
	}
}

// reviseHour notes the correction of an hour, which begins at an instant in ms, on what
// was read of it.
func (s *Series) reviseHour(from int64, at uint32) error {
	step := s.Step.Milliseconds()
	for ms := max(from, s.From.UnixMilli()); ms < min(from+hour.Milliseconds(), s.To.UnixMilli()); ms = (floorDiv(ms, step) + 1) * step {
		i, err := s.index(floorDiv(ms, step))
		if err != nil {
			return err
		}
		s.revise(i, at)
	}
	return nil
}

// newSeries has all the steps of a plan, and nothing in them.
func newSeries(p seriesPlan) *Series {
	if p.step == 0 {
		return &Series{}
	}
	step := p.step.Milliseconds()
	first, last := floorDiv(p.from.UnixMilli(), step), floorDiv(p.to.UnixMilli()-1, step)
	n := int(last - first + 1)
	none := func() []float64 {
		column := make([]float64, n)
		for i := range column {
			column[i] = math.NaN()
		}
		return column
	}
	counts := func() []uint64 { return make([]uint64, n) }
	s := Series{
		Tier: p.tier, Step: p.step, From: p.from.UTC(), To: p.to.UTC(),
		At: make([]time.Time, n), Count: counts(), Up: counts(), Degraded: counts(), Down: counts(), Unknown: counts(), Missed: counts(),
		P50: none(), P95: none(), P99: none(), DNS: none(), Connect: none(), TLS: none(), Wait: none(), Transfer: none(), RevisedAt: make([]time.Time, n),
	}
	for i := range s.At {
		s.At[i] = time.UnixMilli((first + int64(i)) * step).UTC()
	}
	return &s
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
