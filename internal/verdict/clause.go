package verdict

import (
	"fmt"
	"strings"
	"time"
)

// Fact is what a clause says. The set is closed; pages rely on the words.
type Fact string

// Facts of a state.
const (
	FactPaused      Fact = "paused"
	FactMaintenance Fact = "maintenance"
	FactUnchecked   Fact = "unchecked" // no region is to check it
	FactUnheard     Fact = "unheard"   // the regions of names have not said anything yet
	FactNoData      Fact = "no_data"   // the last result is of at
	FactUp          Fact = "up"        // in all n regions that say something
	FactDown        Fact = "down"      // in n of them, which saw seen
	FactDegraded    Fact = "degraded"  // likewise
	FactDoubted     Fact = "doubted"   // what was seen does not count yet
	FactSilent      Fact = "silent"    // the regions of names
	FactBlind       Fact = "blind"     // likewise: not asked
	FactDepends     Fact = "depends"   // on name, which is down
)

// Facts of an incident, which come after those of the state in which it was opened.
const (
	FactChanged    Fact = "changed"    // from the severity what to name; goes first
	FactBegan      Fact = "began"      // at
	FactNeeds      Fact = "needs"      // n of of regions have to fail
	FactTimes      Fact = "times"      // each n times in a row
	FactLasting    Fact = "lasting"    // for n seconds
	FactHeld       Fact = "held"       // until now, by what: maintenance or parent
	FactDependents Fact = "dependents" // n targets depend on it
	FactTogether   Fact = "together"   // n targets, such as names, fail since at; they share name, of the kind what; of with the same are well
	FactMore       Fact = "more"       // n more of them, such as names
)

// Clause is a part of why something is as it is: what a sentence in English says, for who says
// it in another language. Which members there are depends on the fact.
type Clause struct {
	Is    Fact      `json:"is" enum:"paused,maintenance,unchecked,unheard,no_data,up,down,degraded,doubted,silent,blind,depends,changed,began,needs,times,lasting,held,dependents,together,more"`
	N     int       `json:"n,omitempty"`
	Of    int       `json:"of,omitempty"`
	What  string    `json:"what,omitempty"`
	Name  string    `json:"name,omitempty"`
	Names []string  `json:"names,omitempty" nullable:"false"`
	At    time.Time `json:"at,omitzero"`
	Seen  []Seen    `json:"seen,omitempty" nullable:"false"`
}

// Seen is what a region saw: a failure of the closed list, or what else makes it degraded.
type Seen struct {
	Region     string `json:"region"`
	What       string `json:"what" doc:"a failure; or degraded, slow (slower than the rule allows), certificate (it ends sooner than the rule allows), recovering (n of of good results in a row)"`
	HTTPStatus int    `json:"http_status,omitempty"`
	Said       string `json:"said,omitempty" doc:"by the answer, where it has no HTTP status"`
	N          int    `json:"n,omitempty" doc:"results in a row, of as many as count"`
	Of         int    `json:"of,omitempty"`
}

// What a region saw beside failures.
const (
	seenDegraded    = "degraded"
	seenSlow        = "slow"
	seenCertificate = "certificate"
	seenRecovering  = "recovering"
)

// sentenceOf says the clauses of a state in English.
func sentenceOf(clauses []Clause) string {
	parts := make([]string, len(clauses))
	for i := range clauses {
		parts[i] = clauses[i].String()
	}
	return strings.Join(parts, "; ") + "."
}

// String is a clause of a state in English; of incidents they are part of longer sentences.
func (c *Clause) String() string {
	switch c.Is {
	case FactPaused:
		return "Paused: not being checked"
	case FactMaintenance:
		return "In maintenance"
	case FactUnchecked:
		return "No data: no region is checking it"
	case FactUnheard:
		return "No data yet from " + strings.Join(c.Names, ", ")
	case FactNoData:
		return "No data: the last result is of " + clock(c.At)
	case FactUp:
		return fmt.Sprintf("Up in %d of %d %s", c.N, c.N, plural(c.N))
	case FactDown:
		return fmt.Sprintf("Down in %d of %d %s: %s", c.N, c.Of, plural(c.Of), listed(c.Seen))
	case FactDegraded:
		return fmt.Sprintf("Degraded in %d of %d %s: %s", c.N, c.Of, plural(c.Of), listed(c.Seen))
	case FactDoubted:
		return "not counted yet: " + listed(c.Seen)
	case FactSilent:
		return "silent: " + strings.Join(c.Names, ", ")
	case FactBlind:
		return "blind, so not asked: " + strings.Join(c.Names, ", ")
	case FactDepends:
		return DependsOn(c.Name)
	}
	return string(c.Is)
}

func listed(seen []Seen) string {
	all := make([]string, len(seen))
	for i := range seen {
		all[i] = seen[i].Region + " " + seen[i].words()
	}
	return strings.Join(all, ", ")
}
