package sharedcause

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// Kind is what targets can share.
type Kind string

// Kinds.
const (
	KindHost      Kind = "host"
	KindAddress   Kind = "address"
	KindNetwork   Kind = "network" // /24, or /48 of IPv6
	KindIssuer    Kind = "issuer"
	KindDNSServer Kind = "dns_server"
	KindFailure   Kind = "failure"
)

// Kinds are all of them, the most specific first.
func Kinds() []Kind {
	return []Kind{KindHost, KindAddress, KindNetwork, KindIssuer, KindDNSServer, KindFailure}
}

// Bounds of groups.
const (
	fewest    = 3                // members
	addresses = 5                // of a network
	hosts     = 3                // of an issuer, a name server or a failure
	slack     = 15 * time.Second // how much later than it began an outage can be seen
)

// Outage is a target that fails. What is not known of it stays zero.
type Outage struct {
	TargetID  int64
	Slot      time.Time // first failing
	Interval  time.Duration
	Failure   uptime.Failure
	Host      string
	Address   netip.Addr
	Issuer    string
	DNSServer string
}

// Value is something that targets can share.
type Value struct {
	Kind  Kind
	Value string
}

// Values are what a target has and others can have too, but for its failure: count the
// healthy ones by them.
func (o Outage) Values() []Value {
	var all []Value
	add := func(kind Kind, value string) {
		if value != "" {
			all = append(all, Value{kind, value})
		}
	}
	add(KindHost, o.Host)
	if a := o.Address.Unmap().WithZone(""); a.IsValid() {
		add(KindAddress, a.String())
		bits := 48
		if a.Is4() {
			bits = 24
		}
		if network, err := a.Prefix(bits); err == nil {
			add(KindNetwork, network.String())
		}
	}
	add(KindIssuer, o.Issuer)
	add(KindDNSServer, o.DNSServer)
	return all
}

// Causes are the values that can have caused its failure.
func (o Outage) Causes() []Value {
	all := slices.DeleteFunc(o.Values(), func(v Value) bool {
		dns := o.Failure == uptime.FailureDNS
		switch v.Kind {
		case KindAddress, KindNetwork:
			return dns
		case KindDNSServer:
			return !dns
		case KindIssuer:
			return !slices.Contains([]uptime.Failure{uptime.FailureTLSExpired, uptime.FailureTLSName, uptime.FailureTLSUntrusted, uptime.FailureTLSOther}, o.Failure)
		}
		return false
	})
	if o.Failure != uptime.FailureNone {
		all = append(all, Value{KindFailure, string(o.Failure)})
	}
	return all
}

// Census knows the targets that do not fail.
type Census interface {
	// Good is how many with a value were seen to be good in a slot from then on. Of those that
	// were not looked at since nobody can say.
	Good(v Value, since time.Time) int
	// All is how many there are.
	All() int
}

// Healthy is how many targets that do not fail have each value, and how many there are; all
// were seen a moment ago.
type Healthy struct {
	With  map[Value]int
	Total int
}

// Good is how many have a value.
func (h Healthy) Good(v Value, _ time.Time) int { return h.With[v] }

// All is how many there are.
func (h Healthy) All() int { return h.Total }

// Group is outages with one cause. Kind, value and slot name it.
type Group struct {
	Value
	Slot    time.Time // first failing slot of its members
	Members []int64   // targets, ascending
	Healthy int       // targets with this value that do not fail
}

// Find gives the groups, ordered by slot, kind and value, and the targets that stay alone.
func Find(outages []Outage, healthy Census) (groups []Group, alone []int64) {
	left := slices.Clone(outages)
	slices.SortFunc(left, func(a, b Outage) int { return cmp.Or(a.Slot.Compare(b.Slot), cmp.Compare(a.TargetID, b.TargetID)) })
	left = slices.CompactFunc(left, func(a, b Outage) bool { return a.TargetID == b.TargetID && a.Slot.Equal(b.Slot) })
	total := healthy.All() + len(left)
	candidates := map[Value][]Outage{}
	for _, o := range left {
		for _, v := range o.Causes() {
			candidates[v] = append(candidates[v], o)
		}
	}
	best := map[Value][]Outage{} // those of a value that began together
	for v, all := range candidates {
		if together := together(all); explains(v, together, healthy, total) {
			best[v] = together
		}
	}
	for len(best) > 0 {
		v := preferred(best)
		members := best[v]
		group := Group{Value: v, Slot: members[0].Slot, Healthy: healthy.Good(v, members[0].Slot)}
		taken := map[int64]bool{}
		for _, o := range members {
			taken[o.TargetID] = true
			group.Members = append(group.Members, o.TargetID)
		}
		slices.Sort(group.Members)
		groups = append(groups, group)
		gone := func(o Outage) bool { return taken[o.TargetID] }
		left = slices.DeleteFunc(left, gone)
		for v := range best {
			if !slices.ContainsFunc(candidates[v], gone) {
				continue
			}
			candidates[v] = slices.DeleteFunc(candidates[v], gone)
			if rest := together(candidates[v]); explains(v, rest, healthy, total) {
				best[v] = rest
			} else {
				delete(best, v)
			}
		}
	}
	slices.SortFunc(groups, func(a, b Group) int {
		return cmp.Or(a.Slot.Compare(b.Slot), cmp.Compare(rank(a.Kind), rank(b.Kind)), cmp.Compare(a.Value.Value, b.Value.Value))
	})
	for _, o := range left {
		alone = append(alone, o.TargetID)
	}
	slices.Sort(alone)
	return groups, alone
}

// Takes says whether an outage found later belongs to a group: it has the cause, and can have
// begun when the group did.
func (g Group) Takes(o Outage) bool {
	return slices.Contains(o.Causes(), g.Value) && !o.Slot.Add(-o.Interval).After(g.Slot.Add(slack)) && !o.Slot.Add(slack).Before(g.Slot)
}

func rank(kind Kind) int { return slices.Index(Kinds(), kind) }

// preferred explains the most, and of equal ones it is the most specific.
func preferred(best map[Value][]Outage) (first Value) {
	for v, members := range best {
		if first.Kind == "" || cmp.Or(-cmp.Compare(len(members), len(best[first])), cmp.Compare(rank(v.Kind), rank(first.Kind)), cmp.Compare(v.Value, first.Value)) < 0 {
			first = v
		}
	}
	return first
}

// together gives the most outages of which one instant can have been the beginning; they
// come and stay in the order of their slots.
func together(all []Outage) []Outage {
	type edge struct {
		at   time.Time
		open int
	}
	var edges []edge
	for _, o := range all {
		edges = append(edges, edge{o.Slot.Add(-o.Interval), 1}, edge{o.Slot.Add(slack), -1})
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(a.at.Compare(b.at), -cmp.Compare(a.open, b.open)) })
	open, most := 0, 0
	var instant time.Time
	for _, e := range edges {
		if open += e.open; open > most {
			most, instant = open, e.at
		}
	}
	var found []Outage
	for _, o := range all {
		if !o.Slot.Add(-o.Interval).After(instant) && !o.Slot.Add(slack).Before(instant) {
			found = append(found, o)
		}
	}
	return found
}

// explains says whether a value is the cause of outages that began together.
func explains(v Value, members []Outage, healthy Census, total int) bool {
	distinct := func(of func(Outage) string) int {
		seen := map[string]bool{}
		for _, o := range members {
			seen[of(o)] = true
		}
		return len(seen)
	}
	n := len(members)
	switch {
	case n < fewest:
		return false
	case v.Kind == KindFailure:
		return 2*n >= total && distinct(func(o Outage) string { return o.Host }) >= hosts
	case healthy.Good(v, members[0].Slot) > n:
		return false
	case v.Kind == KindNetwork:
		return distinct(func(o Outage) string { return o.Address.Unmap().String() }) >= addresses
	case v.Kind == KindIssuer, v.Kind == KindDNSServer:
		return distinct(func(o Outage) string { return o.Host }) >= hosts
	}
	return true
}
