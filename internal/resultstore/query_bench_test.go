package resultstore

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// BenchmarkQuestions asks what pages ask, of random targets of 2,000 in 3 regions with two
// days of results and 90 days of rollups, and says how long the middle and the slowest
// twentieth of the answers took.
func BenchmarkQuestions(b *testing.B) {
	s, _ := open(b)
	const targets, days = 2000, 90
	today := time.Now().UTC().Truncate(day)
	for h := today.Add(-day); h.Before(time.Now().Truncate(hour)); h = h.Add(hour) {
		load(b, s, targets, h, 1)
	}
	version := time.Now()
	for h := today.Add(-day); h.Before(version); h = h.Add(hour) {
		if _, err := s.RecomputeHour(b.Context(), Rollup{Bucket: h, Version: version}); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := s.RecomputeDay(b.Context(), Rollup{Bucket: today.Add(-day), Version: version}); err != nil {
		b.Fatal(err)
	}
	for table, until := range map[string]int{"rollup_1h": 30, "rollup_1d": days} { // the days before are as yesterday was
		for d := 1; d < until; d++ {
			if _, err := s.write(b.Context(), fmt.Sprintf(`INSERT INTO %s SELECT * REPLACE (bucket - %d AS bucket) FROM %s WHERE bucket >= {from:DateTime('UTC')} AND bucket < {to:DateTime('UTC')}`, table, d*86400, table),
				[]any{seconds("from", today.Add(-day)), seconds("to", today)}); err != nil {
				b.Fatal(err)
			}
		}
	}
	for _, table := range []string{"results", "results_latest", "rollup_1h", "rollup_1d"} { // as they are an hour later
		if err := s.conn.Exec(b.Context(), `OPTIMIZE TABLE `+table+` FINAL`); err != nil {
			b.Fatal(err)
		}
	}
	s.RolledUp(version)
	now := today.Add(version.Sub(today).Truncate(hour))
	if now.Equal(today) {
		now = today.Add(-time.Minute)
	}
	s.now = func() time.Time { return now }
	random := rand.New(rand.NewPCG(1, 2))
	one := func() int64 { return 1 + random.Int64N(targets) }
	series := func(q SeriesQuery) func() error {
		return func() error { q.TargetID = one(); _, err := s.Series(b.Context(), q); return err }
	}
	window := func() WindowQuery { return WindowQuery{TargetID: one(), From: now.Add(-day), To: now} }
	for name, ask := range map[string]func() error{
		"latest-90-of-50": func() error {
			ids := make([]int64, 50)
			for i := range ids {
				ids[i] = one()
			}
			_, err := s.LatestN(b.Context(), ids, 90, now.Add(-91*time.Minute))
			return err
		},
		"day-of-one":       series(SeriesQuery{From: now.Add(-day), To: now}),
		"day-of-one-whole": series(SeriesQuery{From: now.Add(-day), To: now, Whole: true}),
		"month-of-one":     series(SeriesQuery{From: now.Add(-29 * day), To: now}),
		"90-days-of-one":   series(SeriesQuery{From: now.Add(-90 * day), To: now}),
		"90-days-whole":    series(SeriesQuery{From: now.Add(-90 * day), To: now, Whole: true}),
		"matrix-of-a-day": func() error {
			_, err := s.Matrix(b.Context(), SeriesQuery{TargetID: one(), From: now.Add(-day), To: now})
			return err
		},
		"failures-of-a-day":  func() error { _, err := s.Failures(b.Context(), window()); return err },
		"histogram-of-a-day": func() error { _, err := s.Histogram(b.Context(), window()); return err },
		"present-of-all":     func() error { _, err := s.Current(b.Context(), nil); return err },
	} {
		b.Run(name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				if err := ask(); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
		})
	}
}
