package statuspage

import (
	"strconv"

	"github.com/probefleet/probefleet/internal/pagestore"
)

// gatusStatus is an endpoint as the API of Gatus lists them, with one result: how it is now.
type gatusStatus struct {
	Name    string        `json:"name"`
	Group   string        `json:"group,omitempty"`
	Key     string        `json:"key"`
	Results []gatusResult `json:"results"`
}

// gatusResult is what a page says now. Of a check of theirs it has no status code, hostname or
// duration: a page does not say them.
type gatusResult struct {
	Duration   *int64           `json:"duration"`
	Conditions []gatusCondition `json:"conditionResults"`
	Success    bool             `json:"success"`
	Timestamp  string           `json:"timestamp"`
}

type gatusCondition struct {
	Condition string `json:"condition"`
	Success   bool   `json:"success"`
}

// gatus writes a page as Gatus does. They know success and failure alone: what is not up, or not
// known to be, is none, and the condition says which.
func gatus(v *View) any {
	all := []gatusStatus{}
	for _, g := range v.Groups {
		for _, c := range g.Components {
			state := c.State
			if c.Manual {
				state += ", by hand"
			}
			up := c.State == pagestore.Up
			all = append(all, gatusStatus{
				Name: c.Name, Group: g.Name, Key: "component-" + strconv.FormatInt(c.ID, 10),
				Results: []gatusResult{{Conditions: []gatusCondition{{"[STATE] (" + state + ") == up", up}}, Success: up, Timestamp: milli(v.MadeAt)}},
			})
		}
	}
	return all
}
