package resultstore

import (
	"slices"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// Whatever is sent again, in whatever order, a slot counts once and shows the best evidence.
//
// Promise: a slot counts once, whatever is stored for it
func TestSlotCountsOnce(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	slot := base()
	var (
		measured = up(1, "eu", slot)
		down     = measured
		late     = measured
		reason   = missed(1, "eu", slot)
		rerun    = measured
	)
	down.Status, down.Failure = uptime.StatusDown, uptime.FailureTimeout
	late.Status, late.Failure, late.Late = uptime.StatusDown, uptime.FailureTimeout, true
	late.IngestedAt = measured.IngestedAt.Add(time.Hour)
	reason.IngestedAt = measured.IngestedAt.Add(time.Hour)
	rerun.IngestedAt = down.IngestedAt.Add(time.Second)
	one := func(r uptime.Result) []uptime.Result { return []uptime.Result{r} }

	tests := map[string]struct {
		sends [][]uptime.Result // batches of their own
		same  bool              // all under the first one's token
		want  uptime.Status
		late  bool
	}{
		"same token again":                    {sends: [][]uptime.Result{one(measured), one(measured)}, same: true, want: uptime.StatusUp},
		"other batch":                         {sends: [][]uptime.Result{one(measured), one(measured)}, want: uptime.StatusUp},
		"run again, other status":             {sends: [][]uptime.Result{one(down), one(rerun)}, want: uptime.StatusUp},
		"run again, order turned":             {sends: [][]uptime.Result{one(rerun), one(down)}, want: uptime.StatusUp},
		"reason after measurement":            {sends: [][]uptime.Result{one(measured), one(reason)}, want: uptime.StatusUp},
		"measurement after reason":            {sends: [][]uptime.Result{one(reason), one(measured)}, want: uptime.StatusUp},
		"late after in time":                  {sends: [][]uptime.Result{one(measured), one(late)}, want: uptime.StatusUp},
		"late outranks a reason":              {sends: [][]uptime.Result{one(late), one(reason)}, want: uptime.StatusDown, late: true},
		"in one batch, the best is kept":      {sends: [][]uptime.Result{{reason, measured, late}}, want: uptime.StatusUp},
		"in one batch, among equals the last": {sends: [][]uptime.Result{{down, measured}}, want: uptime.StatusUp},
	}
	next := int64(100)
	for name, test := range tests {
		next++
		id := next
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			token := ""
			for _, rows := range test.sends {
				for i := range rows {
					rows[i].TargetID = id
				}
				b := batchOf(slices.Clone(rows)...)
				if test.same && token != "" {
					b.Token = token
				}
				token = b.Token
				insert(t, s, b)
			}
			got, err := s.Results(t.Context(), ResultQuery{TargetID: id, Limit: 10})
			if err != nil || len(got) != 1 || got[0].Status != test.want || got[0].Late != test.late {
				t.Errorf("results %+v, %v", got, err)
			}
			current, err := s.Newest(t.Context(), []int64{id})
			if err != nil || len(current) != 1 || current[0].Status != test.want || current[0].Late != test.late {
				t.Errorf("current %+v, %v", current, err)
			}
			u, err := s.Uptime(t.Context(), id, slot, slot.Add(time.Minute))
			if err != nil || u.Up+u.Degraded+u.Down+u.Unknown+u.Missed != 1 {
				t.Errorf("uptime %+v, %v", u, err)
			}
		})
	}
}

func TestSameTokenStoresNothingTwice(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	b := batchOf(up(1, "eu", base()), up(1, "us", base()), up(2, "eu", base().Add(-24*time.Hour)))
	for b.Attempt = 1; b.Attempt <= 3; b.Attempt++ {
		insert(t, s, b)
	}
	for sql, want := range map[string]uint64{
		`SELECT count() FROM results`:                3, // two days: two partitions
		`SELECT count() FROM results_latest`:         3,
		`SELECT count() FROM batches`:                1,
		`SELECT toUInt64(sum(rows)) FROM batches`:    3,
		`SELECT toUInt64(max(attempt)) FROM batches`: 1,
	} {
		if got := count(t, s, sql); got != want {
			t.Errorf("%s: %d, want %d", sql, got, want)
		}
	}
}

// The connection is cut when the rows are stored and before the answer arrives.
//
// Promise: an insert whose answer was lost counts once
func TestAmbiguousSendCountsOnce(t *testing.T) {
	t.Parallel()
	direct, url := open(t)
	proxy := startProxy(t, url)
	s := openAt(t, proxy.url)

	const n = 1000
	rows := make([]uptime.Result, n)
	for i := range rows {
		rows[i] = up(int64(i+1), "eu", base())
	}
	b := batchOf(rows...)
	proxy.holdAnswers(true)
	answer := make(chan error, 1)
	go func() { answer <- s.Insert(t.Context(), b) }()
	eventually(t, "the rows are stored", func() bool { return count(t, direct, `SELECT count() FROM results`) == n })
	proxy.cut()
	err := <-answer
	if !IsTransient(err) {
		t.Fatalf("a cut insert answered %v", err)
	}
	proxy.holdAnswers(false)
	b.Attempt++
	insert(t, s, b)
	for sql, want := range map[string]uint64{
		`SELECT count() FROM results`:                n,
		`SELECT count() FROM results_latest`:         n,
		`SELECT toUInt64(sum(attempt)) FROM batches`: 2, // noted once, by the attempt that was answered
	} {
		if got := count(t, direct, sql); got != want {
			t.Errorf("%s: %d, want %d", sql, got, want)
		}
	}
}
