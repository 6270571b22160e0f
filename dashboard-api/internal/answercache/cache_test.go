package answercache

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/uptime"
)

// lastHour is a question about a target that moves with the clock.
func lastHour(target int64) Question {
	return Question{Key: fmt.Sprint("hour ", target), Targets: []int64{target}, Span: availability.Span{From: time.Now().Add(-time.Hour), To: time.Now().Add(time.Hour)}}
}

func now(target int64) Write {
	return Write{target, availability.Span{From: time.Now().Add(-time.Second), To: time.Now()}}
}

// counting answers with the number of the question.
func counting(asked *int) func(context.Context) (Answer, error) {
	return func(context.Context) (Answer, error) {
		*asked++
		return Answer{Body: fmt.Append(nil, *asked), Until: time.Now().Add(time.Minute)}, nil
	}
}

// flowing makes a cache that is told of everything, and the source that may fall silent.
func flowing() (*Cache, *Source) {
	then := time.Now().Add(-Settle)
	c := New(Options{Now: func() time.Time { return then }})
	s := c.Source(time.Hour)
	s.Beat()
	c.now = time.Now
	return c, s
}

func get(t *testing.T, c *Cache, q Question, ask func(context.Context) (Answer, error)) Answer {
	t.Helper()
	a, err := c.Get(t.Context(), q, ask)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// What changes an answer, and what does not.
func TestWritesEndAnswers(t *testing.T) {
	t.Parallel()
	earlier := func(target int64) Write {
		return Write{target, availability.Span{From: time.Now().Add(-3 * time.Hour), To: time.Now().Add(-time.Hour)}}
	}
	for name, c := range map[string]struct {
		happens func(*Cache, *Source)
		ends    bool
	}{
		"nothing":                       {func(*Cache, *Source) {}, false},
		"time passes":                   {func(*Cache, *Source) { time.Sleep(59 * time.Second) }, false},
		"it is too old":                 {func(*Cache, *Source) { time.Sleep(time.Minute) }, true},
		"a result arrives":              {func(c *Cache, _ *Source) { c.Arriving(now(1)) }, true},
		"a result of another arrives":   {func(c *Cache, _ *Source) { c.Arriving(now(2)) }, false},
		"an earlier slot":               {func(c *Cache, _ *Source) { c.Changed(earlier(1)) }, false},
		"figures change":                {func(c *Cache, _ *Source) { c.Changed(now(1)) }, true},
		"figures of all change":         {func(c *Cache, _ *Source) { c.Changed(now(AllTargets)) }, true},
		"earlier figures of all change": {func(c *Cache, _ *Source) { c.Changed(earlier(AllTargets)) }, false},
		"the target is edited":          {func(c *Cache, _ *Source) { c.Forget(1) }, true},
		"another is edited":             {func(c *Cache, _ *Source) { c.Forget(2) }, false},
		"everything is dropped":         {func(c *Cache, _ *Source) { c.Changed(Everything()) }, true},
		"a source falls silent":         {func(c *Cache, _ *Source) { c.Source(time.Second) }, true},
		"a source was silent":           {func(c *Cache, _ *Source) { s := c.Source(time.Second); s.Beat(); time.Sleep(2 * time.Second); s.Beat() }, true},
		"a source beats in time":        {func(_ *Cache, s *Source) { time.Sleep(time.Second); s.Beat() }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				cache, source := flowing()
				q, all, asked, askedAll := lastHour(1), lastHour(0), 0, 0
				all.Targets = nil
				first := get(t, cache, q, counting(&asked))
				get(t, cache, all, counting(&askedAll))
				c.happens(cache, source)
				again := get(t, cache, q, counting(&asked))
				get(t, cache, all, counting(&askedAll))
				if (asked == 2) != c.ends {
					t.Errorf("asked %d times", asked)
				}
				if same := first.ETag == again.ETag && first.At.Equal(again.At); same == c.ends {
					t.Errorf("%+v, then %+v", first, again)
				}
				if of := strings.Contains(name, "another"); (askedAll == 2) != (c.ends || of) {
					t.Errorf("the answer about all was asked for %d times", askedAll)
				}
			})
		})
	}
}

// What was announced may not be readable yet: what is asked meanwhile is not kept.
func TestNothingIsKeptUntilItHasSettled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, _ := flowing()
		asked, others := 0, 0
		ask, other := counting(&asked), counting(&others)
		c.Arriving(now(1))
		get(t, c, lastHour(1), ask)
		get(t, c, lastHour(2), other)
		time.Sleep(Settle - 1)
		c.Arriving(now(3))
		get(t, c, lastHour(1), ask)
		get(t, c, lastHour(2), other)
		if asked != 2 || others != 1 {
			t.Errorf("asked %d times, and %d times about another target", asked, others)
		}
		time.Sleep(time.Nanosecond)
		get(t, c, lastHour(1), ask)
		get(t, c, lastHour(1), ask)
		if asked != 3 {
			t.Errorf("asked %d times", asked)
		}
		time.Sleep(2 * Settle)
		c.Arriving(now(4))
		if n := len(c.holds.byTarget); n != 2 {
			t.Errorf("%d holds are left", n)
		}
		c.Arriving(now(AllTargets))
		get(t, c, lastHour(1), ask)
		if get(t, c, lastHour(1), ask); asked != 5 {
			t.Errorf("after all were announced: asked %d times", asked)
		}
	})
}

// slow answers when it is let go.
type slow struct {
	begun chan struct{}
	end   chan error
}

func newSlow() *slow { return &slow{make(chan struct{}, 10), make(chan error)} }

func (s *slow) ask(ctx context.Context) (Answer, error) {
	s.begun <- struct{}{}
	select {
	case err := <-s.end:
		return Answer{Body: []byte("x"), Until: time.Now().Add(time.Minute)}, err
	case <-ctx.Done():
		return Answer{}, context.Cause(ctx)
	}
}

func TestOneQuestionForManyReaders(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]error{"it answers": nil, "it fails": errors.New("broken")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, _ := flowing()
				s, q, ended := newSlow(), lastHour(1), make(chan error, 10)
				for range 10 {
					go func() {
						_, err := c.Get(t.Context(), q, s.ask)
						ended <- err
					}()
				}
				synctest.Wait()
				if len(s.begun) != 1 || len(ended) != 0 {
					t.Fatalf("%d questions, %d answers", len(s.begun), len(ended))
				}
				s.end <- broken
				for range 10 {
					if err := <-ended; !errors.Is(err, broken) {
						t.Error(err)
					}
				}
			})
		})
	}
}

// Who comes after a write does not get what was asked before it, and all of them
// together ask once more.
func TestReadersAfterAWriteAskAgain(t *testing.T) {
	t.Parallel()
	for name, happens := range map[string]func(*Cache, *Source){
		"a write":               func(c *Cache, _ *Source) { c.Changed(now(1)) },
		"an announcement":       func(c *Cache, _ *Source) { c.Arriving(now(1)) },
		"the feed is cut":       func(c *Cache, _ *Source) { c.Source(time.Second) },
		"the target is deleted": func(c *Cache, _ *Source) { c.Forget(1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, source := flowing()
				s, q, before, after := newSlow(), lastHour(1), make(chan error, 1), make(chan error, 5)
				go func() {
					_, err := c.Get(t.Context(), q, s.ask)
					before <- err
				}()
				synctest.Wait()
				happens(c, source)
				for range 5 {
					go func() {
						_, err := c.Get(t.Context(), q, s.ask)
						after <- err
					}()
				}
				synctest.Wait()
				if len(s.begun) != 1 {
					t.Fatalf("%d questions at once", len(s.begun))
				}
				s.end <- nil
				synctest.Wait()
				if len(before) != 1 || len(after) != 0 || len(s.begun) != 2 {
					t.Fatalf("%d and %d answers to %d questions", len(before), len(after), len(s.begun))
				}
				s.end <- nil
				synctest.Wait()
				if len(after) != 5 || len(s.begun) != 2 {
					t.Fatalf("%d answers to %d questions", len(after), len(s.begun))
				}
			})
		})
	}
}

// The question ends when nobody wants its answer any more, and not before.
func TestLastReaderToLeaveCancels(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, _ := flowing()
		s, q, ended := newSlow(), lastHour(1), make(chan error, 3)
		readers := make([]context.CancelFunc, 2)
		for i := range readers {
			ctx, leave := context.WithCancel(t.Context())
			readers[i] = leave
			go func() {
				_, err := c.Get(ctx, q, s.ask)
				ended <- err
			}()
			synctest.Wait()
		}
		f := c.flights[q.Key]
		readers[0]()
		synctest.Wait()
		select {
		case <-f.done:
			t.Fatal("it ended with the first reader, whom another had joined")
		default:
		}
		readers[1]()
		<-f.done
		if err := <-ended; !errors.Is(err, context.Canceled) || !errors.Is(f.err, context.Canceled) {
			t.Error(err, f.err)
		}
		go func() { _, err := c.Get(t.Context(), q, s.ask); ended <- err }()
		synctest.Wait()
		s.end <- nil
		if <-ended; len(s.begun) != 2 {
			t.Errorf("%d questions", len(s.begun))
		}
		if err := <-ended; err != nil {
			t.Error("the next reader:", err)
		}
	})
}

// A reader with a deadline does not wait longer, also for what it cannot use.
func TestReadersLeaveInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, _ := flowing()
		s, q := newSlow(), lastHour(1)
		go func() { _, _ = c.Get(t.Context(), q, s.ask) }()
		synctest.Wait()
		c.Changed(now(1))
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.Get(ctx, q, s.ask); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Error(err, time.Since(began))
		}
		s.end <- nil
		synctest.Wait()
		if _, err := c.Get(ctx, lastHour(2), s.ask); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

func TestPanicsEndTheRequestAlone(t *testing.T) {
	t.Parallel()
	c, _ := flowing()
	_, err := c.Get(t.Context(), lastHour(1), func(context.Context) (Answer, error) { panic("oops") })
	if err == nil || !strings.Contains(err.Error(), "oops") || !strings.Contains(err.Error(), "cache_test.go") {
		t.Error(err)
	}
}

func TestSizeIsBounded(t *testing.T) {
	t.Parallel()
	const most = 100_000
	c, _ := flowing()
	c.most = most
	c.metrics = newMetrics(prometheus.NewRegistry(), c)
	asked := map[int64]int{}
	ask := func(target int64, size int) {
		get(t, c, Question{Key: fmt.Sprint(target), Targets: []int64{target}, Span: always()}, func(context.Context) (Answer, error) {
			asked[target]++
			return Answer{Body: make([]byte, size), Until: time.Now().Add(time.Hour)}, nil
		})
	}
	for target := range int64(1000) {
		ask(target, 900)
		ask(7, 900) // used all the time: it stays
		ask(1_000_000, most/8)
		if c.kept.bytes > most {
			t.Fatalf("%d bytes", c.kept.bytes)
		}
	}
	if asked[7] != 1 || asked[1_000_000] != 1000 {
		t.Errorf("what is in use was asked for %d times, what is too large %d times", asked[7], asked[1_000_000])
	}
	if n := len(c.kept.byKey); n < 50 || n != c.kept.order.Len() || n != len(c.kept.byTarget) {
		t.Errorf("%d answers of %d targets", n, len(c.kept.byTarget))
	}
	c.Changed(Everything())
	if s := c.kept; s.bytes != 0 || len(s.byKey)+len(s.byTarget)+len(s.general)+s.order.Len() != 0 {
		t.Errorf("after everything was dropped: %+v", s)
	}
}

// Who listens hears of everything, and of when it can be read, once no answer says otherwise.
func TestWritesAreHandedOn(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	c := New(Options{Now: func() time.Time { return at }})
	c.Forget(1) // nobody listens yet
	var heard []string
	c.Listen(func(readable time.Time, writes []Write) {
		for _, w := range writes {
			heard = append(heard, fmt.Sprint(w.Target, " ", readable.Sub(at)))
		}
	})
	c.Arriving(Slots([]uptime.Result{{TargetID: 2, ScheduledAt: at}, {TargetID: 3, ScheduledAt: at}})...)
	c.Arriving()
	c.Changed(Everything())
	c.Forget(4)
	if want := []string{"2 3s", "3 3s", "0 0s", "4 0s"}; !slices.Equal(heard, want) {
		t.Errorf("heard %v, want %v", heard, want)
	}
}
