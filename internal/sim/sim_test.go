package sim

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"
)

func three() []string { return []string{"ap", "eu", "us"} }

func faults() []fault {
	return []fault{noFault, hijack, resolverDown, uplinkCut, loss, delay}
}

// many plays a plan with the seeds 1 to runs, two at a time.
func many(p plan, runs int) (all outcome) {
	results := make([]outcome, runs)
	var group sync.WaitGroup
	for worker := range 2 {
		group.Go(func() {
			for i := worker; i < runs; i += 2 {
				results[i] = run(p, uint64(i+1))
			}
		})
	}
	group.Wait()
	for _, one := range results {
		all.add(one)
	}
	return all
}

func percentile(all []time.Duration, n int) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[(len(sorted)-1)*n/100]
}

// check holds an outcome against what is promised.
func check(t *testing.T, p plan, o outcome) {
	t.Helper()
	if p.alone() && p.fault == loss {
		return // nothing is promised: whoever looks from one region only sees what it sees
	}
	if o.falsePages > 0 {
		t.Errorf("%d false pages, such as %q", o.falsePages, o.example)
	}
	if o.untold > 0 || o.outages == 0 && p.outages > 0 && !p.alone() {
		t.Errorf("nobody was told of %d of %d outages", o.untold, o.outages)
	}
	if late := percentile(o.detected, 100); late > p.bound() {
		t.Errorf("an outage was told after %v, later than %v", late, p.bound())
	}
	if len(o.blind)+o.unblinded == 0 {
		return
	}
	if o.unblinded > 0 || percentile(o.blind, 100) > 20*time.Second {
		t.Errorf("not found blind in %d runs, else within %v", o.unblinded, percentile(o.blind, 100))
	}
	if percentile(o.back, 100) > p.interval || percentile(o.counted, 100) > p.interval+3*time.Second {
		t.Errorf("back after %v, the last target after %v", percentile(o.back, 100), percentile(o.counted, 100))
	}
}

func TestFaultsOfOneRegion(t *testing.T) {
	t.Parallel()
	targets, runs := 100, 3
	if testing.Short() {
		targets, runs = 30, 1
	}
	for _, f := range faults() {
		for _, interval := range []time.Duration{10 * time.Second, 30 * time.Second, time.Minute} {
			for _, regions := range [][]string{three(), three()[:2], three()[:1]} {
				t.Run(fmt.Sprint(f, " ", interval, " ", len(regions)), func(t *testing.T) {
					p := plan{targets: targets, outages: targets / 10, regions: regions, interval: interval, fault: f, slots: 12}
					check(t, p, many(p, runs))
				})
			}
		}
	}
}

// Packets that are lost are sent again, and a failure is looked at twice.
func TestRandomLoss(t *testing.T) {
	t.Parallel()
	targets, runs := 200, 4
	if testing.Short() {
		targets, runs = 40, 1
	}
	for _, regions := range [][]string{three(), three()[:1]} {
		p := plan{targets: targets, outages: 1, regions: regions, interval: 30 * time.Second, fault: noFault, lossEverywhere: 0.01, slots: 99}
		check(t, p, many(p, runs))
	}
}

func TestSameSeedSameRun(t *testing.T) {
	t.Parallel()
	p := plan{targets: 30, outages: 3, regions: three(), interval: 10 * time.Second, fault: loss, slots: 12}
	if a, b := run(p, 7), run(p, 7); fmt.Sprint(a) != fmt.Sprint(b) {
		t.Errorf("%+v\n%+v", a, b)
	}
}
