package spool

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestIndexAgainstModel: counts and span after any order of appends and removals are
// those of the entries left.
func TestIndexAgainstModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(1, seed))
		var model []entry
		var seq uint64
		next := func() entry {
			seq += uint64(rng.IntN(2)) // numbers may clash
			first := rng.Int64N(100)
			e := entry{seq: seq, rows: rng.Int32N(9), blocks: rng.Int32N(5), first: first, last: first + rng.Int64N(50)}
			for slices.ContainsFunc(model, func(o entry) bool { return o.is(e.item()) }) {
				e.rows++
			}
			return e
		}
		for range rng.IntN(20) {
			model = append(model, next())
		}
		x := newIndex(slices.Clone(model))
		model = slices.Clone(x.entries)
		for step := range 300 {
			switch {
			case len(model) == 0 || rng.IntN(5) < 2:
				e := next()
				model = append(model, e)
				x.push(e)
			default:
				at := 0
				if rng.IntN(3) == 0 {
					at = rng.IntN(len(model))
				}
				found, ok := x.find(model[at].item())
				if !ok || found != at {
					t.Fatalf("seed %d step %d: found %d, %v; want %d", seed, step, found, ok, at)
				}
				x.drop(at)
				model = slices.Delete(model, at, at+1)
			}
			var rows int
			var bytes int64
			for _, e := range model {
				rows, bytes = rows+int(e.rows), bytes+e.bytes()
			}
			if !slices.Equal(model, x.entries) || rows != x.rows || bytes != x.bytes {
				t.Fatalf("seed %d step %d: %+v, want %+v", seed, step, x, model)
			}
			if first, last := x.span(); len(model) > 0 && (first != slices.MinFunc(model, func(a, b entry) int { return int(a.first - b.first) }).first || last != slices.MaxFunc(model, func(a, b entry) int { return int(a.last - b.last) }).last) {
				t.Fatalf("seed %d step %d: span %d to %d of %+v", seed, step, first, last, model)
			}
			if _, ok := x.find(Item{Seq: seq + 1}); ok {
				t.Fatal("found what is not there")
			}
		}
	}
}
