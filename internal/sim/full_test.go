//go:build bench

package sim

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/verdict"
)

var runs = flag.Int("runs", 200, "runs of each row")

// TestSimulation plays everything in full: `make sim`.
func TestSimulation(t *testing.T) {
	fmt.Println(header)
	for _, regions := range [][]string{three(), three()[:1]} {
		for _, f := range faults() {
			for _, interval := range []time.Duration{10 * time.Second, 30 * time.Second, time.Minute} {
				p := plan{targets: 1000, outages: 20, regions: regions, interval: interval, fault: f, slots: 9}
				n := *runs
				if len(regions) == 1 {
					n = max(1, n/10)
				}
				o := many(p, n)
				fmt.Println(o.row(p))
				check(t, p, o)
			}
		}
	}
	ten, half := 10*time.Second, 30*time.Second
	for _, c := range []struct {
		note     string
		regions  []string
		interval time.Duration
		packets  float64
		attempts float64
		policy   verdict.Policy
		most     int // false pages of 10 million checks; -1: nothing is promised
	}{
		{"1 % of packets lost everywhere", three()[:1], half, 0.01, 0, verdict.Policy{}, 10},
		{"1 % of packets lost everywhere", three(), half, 0.01, 0, verdict.Policy{}, 0},
		{"1 % of packets lost everywhere, no time for a second look at a timeout", three()[:1], ten, 0.01, 0, verdict.Policy{}, -1},
		{"the same, down_after 2", three()[:1], ten, 0.01, 0, verdict.Policy{DownAfter: 2}, 10},
		{"the same, default policy", three(), ten, 0.01, 0, verdict.Policy{}, 0},
		{"1 % of visits fail at random", three()[:1], half, 0, 0.01, verdict.Policy{}, -1},
		{"the same, down_after 2", three()[:1], half, 0, 0.01, verdict.Policy{DownAfter: 2}, 10},
		{"the same, default policy", three(), half, 0, 0.01, verdict.Policy{}, 10},
	} {
		p := plan{targets: 1000, regions: c.regions, interval: c.interval, fault: noFault, lossEverywhere: c.packets, attemptsLost: c.attempts, policy: c.policy, slots: 96}
		o := many(p, max(1, *runs/2/len(c.regions)+1))
		fmt.Println(o.row(p), c.note)
		if c.most >= 0 && o.falsePages*10_000_000 > c.most*max(o.checks, 10_000_000) {
			t.Errorf("%s, %d regions: %d false pages of %d checks", c.note, len(c.regions), o.falsePages, o.checks)
		}
	}
}

func (o outcome) row(p plan) string {
	s := func(d time.Duration) string { return fmt.Sprintf("%.1f", d.Seconds()) }
	blind, back, counted := "-", "-", "-"
	if len(o.blind) > 0 {
		blind, back, counted = s(percentile(o.blind, 100)), s(percentile(o.back, 100)), s(percentile(o.counted, 100))
	}
	return fmt.Sprintf("| %s | %d | %s | %d | %d | %s | %s | %s | %d of %d | %s | %s | %s | %s |", p.fault, len(p.regions), p.interval, o.checks, o.falsePages, blind, back, counted,
		o.outages-o.untold, o.outages, s(percentile(o.detected, 50)), s(percentile(o.detected, 99)), s(percentile(o.detected, 100)), s(p.bound()))
}

const header = "| fault in one region | regions | interval | checks | false pages | blind within, s | back after, s | last target after, s | outages told | told after p50, s | p99, s | most, s | bound, s |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|"
