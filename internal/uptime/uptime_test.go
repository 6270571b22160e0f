package uptime

import (
	"testing"
	"time"
)

func TestSlotsArePureAndEven(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	perSecond := make([]int, 60)
	for id := int64(1); id <= 60_000; id++ {
		at := NextSlot(id, time.Minute, start)
		if at.Before(start) || !at.Before(start.Add(time.Minute)) {
			t.Fatalf("target %d: first slot %v is not in the first minute", id, at)
		}
		if again := NextSlot(id, time.Minute, at.Add(time.Millisecond)); again.Sub(at) != time.Minute {
			t.Fatalf("target %d: slots are %v apart", id, again.Sub(at))
		}
		perSecond[at.Second()]++
	}
	for second, n := range perSecond {
		if n < 850 || n > 1150 {
			t.Errorf("second %d has %d of 60,000 slots: the hash does not spread", second, n)
		}
	}
}

func TestCountSlotsAgreesWithWalking(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 1, 0, 0, 0, 500, time.UTC)
	for id := int64(1); id <= 200; id++ {
		for _, interval := range []time.Duration{10 * time.Second, 37 * time.Second, time.Hour} {
			from, to := start.Add(time.Duration(id)*time.Millisecond), start.Add(3*time.Hour+time.Duration(id)*7*time.Millisecond)
			var walked int64
			for at := NextSlot(id, interval, from); at.Before(to); at = at.Add(interval) {
				walked++
			}
			if got := CountSlots(id, interval, from, to); got != walked {
				t.Fatalf("target %d every %v: counted %d, walked %d", id, interval, got, walked)
			}
		}
	}
}

func TestMeasurementOutranksReason(t *testing.T) {
	t.Parallel()
	early, late := time.UnixMilli(1_000), time.UnixMilli(9_000_000)
	inTime := Result{Status: StatusDown, IngestedAt: early}
	frozen := Result{Status: StatusUp, Late: true, IngestedAt: late}
	reason := Result{Status: StatusMissed, IngestedAt: late.Add(time.Hour)}
	if inTime.Revision() <= frozen.Revision() || frozen.Revision() <= reason.Revision() {
		t.Fatal("rank must be: measured in time, measured late, reason")
	}
	newer := inTime
	newer.IngestedAt = late
	if newer.Revision() <= inTime.Revision() {
		t.Fatal("among equals the newest wins")
	}
	same := inTime
	same.IngestedAt = time.UnixMicro(early.UnixMicro() / 1024 * 1024)
	for _, later := range []time.Duration{0, time.Millisecond} {
		if same.IngestedAt = same.IngestedAt.Add(later); same.Revision() != inTime.Revision() {
			t.Fatal("clocks do not agree to a millisecond: neither do revisions")
		}
	}
}

func TestStatusRange(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"204", "200-399", "100-599"} {
		r, err := ParseStatusRange(good)
		if err != nil || r.String() != good {
			t.Errorf("%q: %v %v", good, r, err)
		}
	}
	for _, bad := range []string{"", "99", "600", "300-200", "2xx", "200-", "-200", "200-300-400",
		"+200", "200-+299", "+200-299", "--200", "0200", "00200-299", " 200", "200 ", "200 - 299", "200–299", "2_00", "0xc8", "2e2", "200.", "٢٠٠", "-", "200,201", "200\n", "18446744073709551816"} {
		if r, err := ParseStatusRange(bad); err == nil {
			t.Errorf("%q was read as %v", bad, r)
		}
	}
	if !(Expect{}).Accepts(302) || (Expect{}).Accepts(404) {
		t.Error("default is 200-399")
	}
}
