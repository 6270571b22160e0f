package fairqueue

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// priced is the cost of what begins with a digit, and of anything else 1.
func priced(value string) uint64 {
	if n := value[0] - '0'; n <= 9 {
		return uint64(n)
	}
	return 1
}

// drained is what comes out, up to n of it.
func drained(q *Queue[string], n int) string {
	var out []string
	for range n {
		value, found := q.Pop(priced)
		if !found {
			break
		}
		out = append(out, value)
	}
	return strings.Join(out, " ")
}

func TestTurns(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ puts, want string }{
		"one party, in order":            {"1a 1a 1a", "1a1 1a2 1a3"},
		"one of each, as they came":      {"1c 3a 1b", "1c1 3a1 1b1"},
		"who has one waits for one":      {"1a 1a 1a 1a 1b", "1a1 1b1 1a2 1a3 1a4"},
		"turns":                          {"1a 1a 1a 1b 1b 1b", "1a1 1b1 1a2 1b2 1a3 1b3"},
		"what costs more has fewer":      {"3a 3a 1b 1b 1b 1b 1b 1b", "3a1 1b1 1b2 1b3 3a2 1b4 1b5 1b6"},
		"three":                          {"2a 2a 1b 1b 1c 1c", "2a1 1b1 1c1 1b2 1c2 2a2"},
		"one that costs much comes once": {"9a 9a 1b 1b 1b", "9a1 1b1 1b2 1b3 9a2"},
		"what costs nothing is no turn":  {"0a 0a 1a 1a 1b 1b", "0a1 0a2 1a1 1b1 1a2 1b2"},
		"nobody":                         {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var q Queue[string]
			puts, nth := strings.Fields(test.puts), map[string]int{}
			for _, put := range puts {
				nth[put]++
				q.Push(put[1:], fmt.Sprint(put, nth[put]))
			}
			if q.Len() != len(puts) {
				t.Errorf("%d of %d are in line", q.Len(), len(puts))
			}
			if got := drained(&q, len(puts)+1); got != test.want || q.Len() != 0 {
				t.Errorf("%s, want %s; %d left", got, test.want, q.Len())
			}
		})
	}
}

// A party that comes back as soon as its line is empty has no more turns than one whose line is long.
func TestComingBackIsNoAdvantage(t *testing.T) {
	t.Parallel()
	var q Queue[string]
	for range 10 {
		q.Push("a", "a")
		q.Push("b", "b")
	}
	q.Push("c", "c")
	counts := map[string]int{}
	for range 15 {
		value, _ := q.Pop(priced)
		counts[value]++
		if value == "c" {
			q.Push("c", "c")
		}
	}
	if counts["a"] != 5 || counts["b"] != 5 || counts["c"] != 5 {
		t.Error(counts)
	}
}

// Who was away begins with what the others have now, not with what they had then.
func TestBeingAwayIsNoCredit(t *testing.T) {
	t.Parallel()
	var q Queue[string]
	q.Push("b", "b")
	for range 20 {
		q.Push("a", "a")
	}
	drained(&q, 11)
	for range 5 {
		q.Push("b", "b")
	}
	if got := drained(&q, 6); got != "b a b a b a" && got != "a b a b a b" {
		t.Error(got)
	}
}

// Whatever comes and goes: nothing is lost, each party's come in order, those that wait together
// are given the same within one of each, and nobody is remembered when all is done.
func TestAnyTurnsAreFair(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var q Queue[[2]int]
		const parties, dearest = 5, 4
		put, got := [parties]int{}, [parties]int{}
		given := [parties]uint64{} // since all had something in line
		together := false
		price := func(value [2]int) uint64 { return uint64(value[0]%dearest) + 1 }
		for range 2000 {
			if rng.IntN(20) > 8 {
				party := rng.IntN(parties)
				q.Push(fmt.Sprint(party), [2]int{party, put[party]})
				put[party]++
			} else if value, found := q.Pop(price); found {
				party, nth := value[0], value[1]
				if nth != got[party] {
					t.Fatalf("seed %d: party %d has its %d. instead of its %d.", seed, party, nth, got[party])
				}
				got[party]++
				given[party] += price(value)
			}
			waiting := 0
			for party := range parties {
				if put[party] > got[party] {
					waiting++
				}
			}
			if all := waiting == parties; !all || !together {
				together, given = all, [parties]uint64{}
			}
			if least, most := slices.Min(given[:]), slices.Max(given[:]); most-least > 2*dearest {
				t.Fatalf("seed %d: of those that wait together one was given %d and one %d", seed, most, least)
			}
		}
		for q.Len() > 0 {
			value, _ := q.Pop(price)
			got[value[0]]++
		}
		if got != put || len(q.lines) != 0 || len(q.order) != 0 {
			t.Fatalf("seed %d: put %v, got %v, %d remembered", seed, put, got, len(q.lines))
		}
	}
}

func BenchmarkPushPop(b *testing.B) {
	var q Queue[int]
	names := make([]string, 1000)
	for i := range names {
		names[i] = fmt.Sprintf("host-%d.example", i)
	}
	for i := range 10_000 {
		q.Push(names[i%len(names)], i)
	}
	one := func(int) uint64 { return 1 }
	b.ReportAllocs()
	for i := range b.N {
		q.Push(names[i%len(names)], i)
		q.Pop(one)
	}
}
