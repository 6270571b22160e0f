package bisect

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
)

var errBad = errors.New("bad")

// store refuses parts with bad rows, and checks that every row is settled once, in
// order, and that a token always stands for the same rows.
type store struct {
	t       *testing.T
	bad     map[int]bool
	tries   int
	settled []int // per row: 0 not yet, 1 stored or aside, 2 rejected
	names   map[string]Part
	last    int
	aside   func(p Part) bool
	refuse  func(p Part) bool
}

func newStore(t *testing.T, n int, bad ...int) *store {
	s := &store{t: t, bad: map[int]bool{}, settled: make([]int, n), names: map[string]Part{}}
	for _, b := range bad {
		s.bad[b] = true
	}
	return s
}

func (s *store) try(p Part) (Outcome, error) {
	s.tries++
	if was, ok := s.names[p.Token]; ok && was != p {
		s.t.Fatalf("token %s was %+v and is %+v", p.Token, was, p)
	}
	s.names[p.Token] = p
	if s.aside != nil && s.aside(p) {
		s.settle(p, 1)
		return Aside, nil
	}
	for i := p.From; i < p.To; i++ {
		if s.bad[i] {
			return Refused, errBad
		}
	}
	if s.refuse != nil && s.refuse(p) {
		return Refused, errBad
	}
	s.settle(p, 1)
	return Stored, nil
}

func (s *store) settle(p Part, how int) {
	if p.From != s.last {
		s.t.Fatalf("rows %d-%d settled after row %d", p.From, p.To, s.last-1)
	}
	for i := p.From; i < p.To; i++ {
		s.settled[i] = how
	}
	s.last = p.To
}

func (s *store) run() {
	s.t.Helper()
	Settle("t", len(s.settled), s.try, func(row int, why error) {
		if why == nil {
			s.t.Errorf("row %d rejected without a reason", row)
		}
		s.settle(Part{From: row, To: row + 1}, 2)
	})
	for i, how := range s.settled {
		if want := map[bool]int{false: 1, true: 2}[s.bad[i]]; how != want && s.aside == nil {
			s.t.Fatalf("row %d of %d settled as %d, want %d (bad %v)", i, len(s.settled), how, want, s.bad)
		}
		if how == 0 {
			s.t.Fatalf("row %d is not settled", i)
		}
	}
}

func TestOneBadRowCostsAtMostElevenInserts(t *testing.T) {
	t.Parallel()
	for bad := range 1000 {
		s := newStore(t, 1000, bad)
		s.run()
		if extra := s.tries - 1; extra > 11 {
			t.Fatalf("bad row %d: %d more inserts", bad, extra)
		}
	}
}

func TestEveryRowIsSettledOnce(t *testing.T) {
	t.Parallel()
	for n := range 9 {
		for mask := range 1 << n {
			var bad []int
			for i := range n {
				if mask>>i&1 == 1 {
					bad = append(bad, i)
				}
			}
			newStore(t, n, bad...).run()
		}
	}
}

func TestManyBadRowsCostFewerThanTwoInsertsARow(t *testing.T) {
	t.Parallel()
	for _, every := range []int{1, 2, 10} {
		var bad []int
		for i := 0; i < 1000; i += every {
			bad = append(bad, i)
		}
		s := newStore(t, 1000, bad...)
		s.run()
		if s.tries >= 2000 {
			t.Errorf("every %d. row is bad: %d inserts", every, s.tries)
		}
	}
}

// A refusal of the whole that was a whim costs inserts, and no row.
func TestAWhimRejectsNothing(t *testing.T) {
	t.Parallel()
	for n := 2; n < 40; n++ {
		s := newStore(t, n)
		s.refuse = func(Part) bool { return s.tries == 1 }
		s.run()
	}
}

// Once a part was set aside nothing is known about the rows after it: none may be
// rejected on the strength of an earlier refusal.
func TestPartsSetAside(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n := 1 + rng.IntN(40)
		var bad []int
		for i := range n {
			if rng.IntN(12) == 0 {
				bad = append(bad, i)
			}
		}
		s := newStore(t, n, bad...)
		s.aside = func(Part) bool { return rng.IntN(5) == 0 }
		s.run()
		for i, how := range s.settled {
			if how == 2 && !s.bad[i] {
				t.Fatalf("seed %d: good row %d of %d rejected, bad %v", seed, i, n, bad)
			}
		}
	}
}

func ExampleSettle() {
	Settle("token", 4, func(p Part) (Outcome, error) {
		fmt.Printf("insert rows %d-%d as %s\n", p.From, p.To, p.Token)
		if p.From <= 2 && 2 < p.To {
			return Refused, errBad
		}
		return Stored, nil
	}, func(row int, why error) { fmt.Println("reject", row, why) })
	// Output:
	// insert rows 0-4 as token
	// insert rows 0-2 as token/0
	// insert rows 2-3 as token/1/0
	// reject 2 bad
	// insert rows 3-4 as token/3-4
}
