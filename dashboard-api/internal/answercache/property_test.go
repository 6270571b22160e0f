package answercache

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/probefleet/probefleet/internal/availability"
)

// row is a slot that was down. Slots that were up would change nothing: the more an
// answer knows, the less green it is.
type row struct {
	target   int64
	at       time.Time
	readable time.Time
}

// world is what is stored, and what the cache hears of it.
type world struct {
	rows   []row
	cache  *Cache
	source *Source
	heard  time.Time // of everything up to then
	cut    bool
	missed []Write // while it was cut
}

// downs is what the store says at an instant.
func (w *world) downs(q Question, at time.Time) (n int) {
	for _, r := range w.rows {
		about := len(q.Targets) == 0
		for _, id := range q.Targets {
			about = about || id == r.target
		}
		if about && !r.readable.After(at) && q.Span.Touches(availability.Span{From: r.at, To: r.at.Add(1)}) {
			n++
		}
	}
	return n
}

func (w *world) hears() {
	if !w.cut {
		w.source.Beat()
		w.heard = time.Now()
	}
}

// write announces a row that can be read a little later, or tells of one when it is stored.
func (w *world) write(r *rand.Rand, target int64, at time.Time) {
	one := row{target, at, time.Now().Add(time.Duration(r.Int64N(int64(Settle))))}
	w.rows = append(w.rows, one)
	news := Write{target, availability.Span{From: at, To: at.Add(time.Millisecond)}}
	if w.cut {
		w.missed = append(w.missed, news)
		return
	}
	w.cache.Arriving(news)
}

// turn cuts the feed, or mends it: after a short while nothing of it is lost.
func (w *world) turn(patience time.Duration) {
	if w.cut = !w.cut; !w.cut {
		if time.Since(w.heard) <= patience {
			w.cache.Arriving(w.missed...)
		}
		w.missed = nil
	}
}

// Whatever happens in whatever order, an answer knows of every bad slot that an answer made
// just then would know of; while the feed is interrupted, of all those until it was last heard.
func TestAnswersAreNeverGreenerThanFreshOnes(t *testing.T) {
	t.Parallel()
	const patience = 4 * time.Second
	var given, kept int
	for seed := range uint64(300) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			start := time.Now()
			w := &world{cache: New(Options{MaxBytes: 20_000})}
			w.source = w.cache.Source(patience)
			w.hears()
			for step := range 200 {
				time.Sleep(time.Duration(r.Int64N(int64(700 * time.Millisecond))))
				w.hears()
				target := 1 + r.Int64N(3)
				switch r.IntN(20) {
				case 0:
					w.write(r, target, time.Now())
				case 1: // a late one
					w.write(r, target, start.Add(-time.Duration(r.Int64N(int64(48*time.Hour)))))
				case 2:
					w.turn(patience)
				default:
					span := availability.Span{From: start.Add(-24 * time.Hour), To: start.Add(time.Hour)} // until now
					if r.IntN(2) == 0 {
						span = availability.Span{From: start.Add(-48 * time.Hour), To: start.Add(-24 * time.Hour)} // long over
					}
					q := Question{Key: fmt.Sprint(target, span), Targets: []int64{target}, Span: span}
					if r.IntN(4) == 0 {
						q = Question{Key: fmt.Sprint("all", span), Span: span}
					}
					asked := false
					answer, err := w.cache.Get(t.Context(), q, func(context.Context) (Answer, error) {
						asked = true
						return Answer{Body: strconv.AppendInt(nil, int64(w.downs(q, time.Now())), 10), Until: time.Now().Add(time.Hour)}, nil
					})
					if err != nil {
						t.Fatal(err)
					}
					given++
					if !asked {
						kept++
						if time.Since(w.heard) > patience {
							t.Fatalf("seed %d, step %d: given although nothing was heard for %v", seed, step, time.Since(w.heard))
						}
					}
					got, _ := strconv.Atoi(string(answer.Body))
					if want := w.downs(q, w.heard); got < want {
						t.Fatalf("seed %d, step %d: %d bad slots, there are %d", seed, step, got, want)
					}
				}
			}
		})
	}
	if kept < given/10 {
		t.Errorf("only %d of %d answers were kept ones: this proves little", kept, given)
	}
}
