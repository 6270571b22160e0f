package statuspage

import (
	"slices"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/pagestore"
	"github.com/probefleet/probefleet/internal/verdict"
)

// ranks are the states, the worst first: what is not known is worse than what is planned.
var ranks = [...]string{pagestore.Down, pagestore.Degraded, pagestore.NoData, pagestore.Maintenance, pagestore.Up}

// Worst is the worst of states; "" of none.
func worst(states []string) string {
	for _, s := range ranks {
		if slices.Contains(states, s) {
			return s
		}
	}
	return ""
}

// combine makes one state of those of targets. Without targets there is no evidence.
func combine(rule string, states []string) string {
	if len(states) == 0 {
		return pagestore.NoData
	}
	if rule != pagestore.RuleMajority {
		return worst(states)
	}
	count := map[string]int{}
	for _, s := range states {
		count[s]++
	}
	for _, s := range ranks {
		if 2*count[s] > len(states) && (s != pagestore.Up || count[pagestore.Down]+count[pagestore.Degraded] == 0) {
			return s
		}
	}
	if count[pagestore.Down]+count[pagestore.Degraded] > 0 {
		return pagestore.Degraded
	}
	return pagestore.NoData
}

// stateOf puts a live state in the words of pages: nothing is known of what is paused.
func stateOf(s verdict.State) string {
	switch s {
	case verdict.StateUp:
		return pagestore.Up
	case verdict.StateDegraded:
		return pagestore.Degraded
	case verdict.StateDown:
		return pagestore.Down
	case verdict.StateMaintenance:
		return pagestore.Maintenance
	}
	return pagestore.NoData
}

// dayOf is the same for a day of a target.
func dayOf(f availability.Figures) string {
	switch f.State() {
	case availability.Up:
		return pagestore.Up
	case availability.Degraded:
		return pagestore.Degraded
	case availability.Down:
		return pagestore.Down
	}
	if f.Planned() == 0 && f.Excluded > 0 {
		return pagestore.Maintenance
	}
	return pagestore.NoData
}
