//go:build bench

package historybench

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

// latency is of some runs, in ms.
type latency struct {
	P50  float64 `json:"p50_ms"`
	P95  float64 `json:"p95_ms"`
	Most float64 `json:"most_ms"`
}

func latencyOf(took []time.Duration) latency {
	slices.Sort(took)
	ms := func(d time.Duration) float64 {
		return float64(d.Round(10*time.Microsecond)) / float64(time.Millisecond)
	}
	return latency{ms(took[(len(took)-1)/2]), ms(took[(len(took)*95+99)/100-1]), ms(took[len(took)-1])}
}

// answers are how long questions took at one size of the history.
type answers struct {
	Rows      float64            `json:"million_rows"`
	Questions map[string]latency `json:"questions"`
	Bare      map[string]latency `json:"bare"`           // reading the same rows alone, in turns with the questions
	Yardstick map[string]latency `json:"yardstick"`      // what reads as much at every size, in turns with them: the machine's speed meanwhile
	Rate      float64            `json:"inserted_per_s"` // meanwhile
	Loading   loading            `json:"loading"`
	Computing computing          `json:"computing"`
}

// askAll asks every question of random targets, one after the other, while results arrive.
func (b *bench) askAll(t *testing.T) answers {
	l := b.goLive(t)
	found := answers{Questions: map[string]latency{}, Bare: map[string]latency{}, Yardstick: map[string]latency{}}
	rng := rand.New(rand.NewPCG(7, 7))
	var oldest time.Time
	b.one(t, `SELECT toDateTime(min(scheduled_at), 'UTC') FROM results`, &oldest)
	for _, q := range questions() {
		var took, bare, yardstick []time.Duration
		for range b.runs {
			a := asking{store: b.store, now: l.now(), rolled: l.rolledTo(), targets: shuffled(rng, b.targets), since: oldest, days: b.days, series: b.targets * len(regions())}
			began := time.Now()
			got, want, err := q.ask(b.ctx, a)
			took = append(took, time.Since(began))
			if err == nil {
				err = short(q.name, got, want)
			}
			if err != nil {
				l.cancel()
				t.Fatal(err)
			}
			a.targets = shuffled(rng, b.targets)
			for _, beside := range []struct {
				statements []string
				took       *[]time.Duration
			}{{q.bare(a), &bare}, {bareCurrent(a), &yardstick}} {
				began = time.Now()
				err = b.ask(beside.statements)
				*beside.took = append(*beside.took, time.Since(began))
				if err != nil {
					l.cancel()
					t.Fatal(err)
				}
			}
		}
		found.Questions[q.name], found.Bare[q.name], found.Yardstick[q.name] = latencyOf(took), latencyOf(bare), latencyOf(yardstick)
		t.Logf("  %s: %+v, aim %v/%v; bare: %+v; yardstick: %+v", q.name, found.Questions[q.name], q.p50, q.p95, found.Bare[q.name], found.Yardstick[q.name])
	}
	found.Rate = l.stop(t)
	return found
}

// ask runs statements at once, as a question asks its tables, and drops what they answer.
func (b *bench) ask(statements []string) error {
	tables, ctx := errgroup.WithContext(b.ctx)
	for _, sql := range statements {
		tables.Go(func() error {
			rows, err := b.conn.Query(ctx, sql)
			if err != nil {
				return err
			}
			var into []any
			for _, column := range rows.ColumnTypes() {
				into = append(into, reflect.New(column.ScanType()).Interface())
			}
			found := 0
			for ; rows.Next(); found++ {
				if err := rows.Scan(into...); err != nil {
					return errors.Join(err, rows.Close())
				}
			}
			if found == 0 {
				return errors.Join(rows.Err(), fmt.Errorf("nothing was found by %.200s", sql))
			}
			return errors.Join(rows.Err(), rows.Close())
		})
	}
	return tables.Wait()
}
