package httpapi

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// A region that has fallen silent says nothing of how the target is now, one that does not check
// it any more is not there at all.
func TestCurrentSaysWhatIsNoEvidenceAnyMore(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.hub.SetRegions([]string{"ap", "eu", "us"}, nil) // there was another, old
	b.create(`{"url":"https://example.com/","interval_s":600,"timeout_ms":10000}`)
	b.create(`{"url":"https://example.org/","interval_s":600,"timeout_ms":10000,"regions":["us"]}`)
	b.create(`{"url":"https://paused.example/","interval_s":600,"timeout_ms":10000,"active":false}`)
	b.create(`{"name":"job","kind":"heartbeat","heartbeat":{"period_s":600,"grace_s":60}}`)
	fresh := 2*10*time.Minute + 10*time.Second // for so long after its slot
	put := func(id int64, region string, ago time.Duration, status uptime.Status, lateness time.Duration) {
		slot := testNow.Add(-ago)
		r := uptime.Result{TargetID: id, Region: region, ScheduledAt: slot, Status: status}
		if status.Measured() {
			r.CheckedAt = slot.Add(lateness)
		}
		b.results.rows = append(b.results.rows, r)
	}
	put(1, "ap", fresh, uptime.StatusUp, 299*time.Second)
	put(1, "eu", fresh+time.Millisecond, uptime.StatusUp, 0)
	put(1, "ext-office", time.Minute, uptime.StatusDown, 0)
	put(1, "old", time.Minute, uptime.StatusUp, 0)
	put(1, "us", time.Minute, uptime.StatusMissed, 0)
	put(2, "eu", time.Minute, uptime.StatusUp, 0)
	put(2, "us", 10*time.Minute, uptime.StatusUp, 300*time.Second) // measured after it had expired
	put(3, "eu", time.Hour, uptime.StatusUp, 0)
	put(4, "push", fresh+time.Minute, uptime.StatusUp, 0)
	var page struct {
		Items []struct {
			TargetID int64 `json:"target_id"`
			Results  []struct {
				Region, Status string
				Fresh          bool
			}
		}
	}
	b.do("GET", "/api/v1/results/current", "", as(viewerKey)).into(t, &page)
	var got []string
	for _, item := range page.Items {
		for _, r := range item.Results {
			got = append(got, fmt.Sprint(item.TargetID, " ", r.Region, " ", r.Status, " ", r.Fresh))
		}
	}
	want := []string{
		"1 ap up true", "1 eu up false", "1 ext-office down true", "1 us missed false",
		"2 us up false", "3 eu up false", "4 push up true",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s, want\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
