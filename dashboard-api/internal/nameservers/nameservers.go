// Package nameservers knows who answers for the zones of hosts: what targets on hosts and
// addresses of their own can still share when their names cannot be found any more.
//
// It has to be known before that happens, so it is asked ahead, once for many hours, and what
// is known stays while the answer fails. After a start it takes a while: nobody waits for it.
package nameservers

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/publicsuffix"
)

const (
	freshFor = 6 * time.Hour
	againIn  = 10 * time.Minute // after a question that nobody answered
	pause    = 50 * time.Millisecond
	patience = 5 * time.Second
	most     = 50_000 // hosts
)

// Lookup asks for the name servers of a name.
type Lookup func(ctx context.Context, name string) ([]*net.NS, error)

// Directory is what is known. Its methods may be called from several goroutines.
type Directory struct {
	lookup Lookup

	mu    sync.Mutex
	hosts map[string]*entry
	due   []string      // hosts to ask about, in turn
	more  chan struct{} // told when there are
}

type entry struct {
	servers string
	next    time.Time // when to ask again
	waiting bool
}

// New makes a directory that asks lookup; nil: the resolver of the system.
func New(lookup Lookup) *Directory {
	if lookup == nil {
		lookup = net.DefaultResolver.LookupNS
	}
	return &Directory{lookup: lookup, hosts: map[string]*entry{}, more: make(chan struct{}, 1)}
}

// Of says where the name servers of a host's zone are: the domains of their names, sorted, with
// commas between. It is empty while nobody knows; Run finds it out.
func (d *Directory) Of(host string) string {
	if _, err := netip.ParseAddr(host); err == nil || !strings.Contains(host, ".") {
		return ""
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	e, known := d.hosts[host]
	if !known {
		if len(d.hosts) >= most {
			return ""
		}
		e = &entry{}
		d.hosts[host] = e
	}
	if !e.waiting && !time.Now().Before(e.next) {
		e.waiting = true
		d.due = append(d.due, host)
		select {
		case d.more <- struct{}{}:
		default:
		}
	}
	return e.servers
}

// Run asks about one host after the other until ctx ends.
func (d *Directory) Run(ctx context.Context) error {
	zones := map[string]*entry{} // names asked in this turn, for the many hosts of one zone
	for {
		host, found := d.next()
		if !found {
			clear(zones)
			select {
			case <-ctx.Done():
				return nil
			case <-d.more:
			}
			continue
		}
		servers, err := d.ask(ctx, host, zones)
		if ctx.Err() != nil {
			return nil
		}
		d.learn(host, servers, err)
	}
}

func (d *Directory) next() (host string, found bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.due) == 0 {
		return "", false
	}
	host, d.due = d.due[0], d.due[1:]
	return host, true
}

func (d *Directory) learn(host, servers string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.hosts[host]
	e.waiting, e.next = false, time.Now().Add(freshFor)
	if err != nil {
		e.next = time.Now().Add(againIn)
		return
	}
	e.servers = servers
}

// ask goes up from a host to the domain that was registered, until a name is a zone.
func (d *Directory) ask(ctx context.Context, host string, zones map[string]*entry) (string, error) {
	top, err := publicsuffix.EffectiveTLDPlusOne(host)
	if err != nil {
		return "", nil //nolint:nilerr // a name without a domain that was registered has no zone of its own
	}
	for name := host; ; {
		zone, asked := zones[name]
		if !asked {
			servers, err := d.question(ctx, name)
			if err != nil {
				return "", err
			}
			zone = &entry{servers: servers}
			zones[name] = zone
		}
		if zone.servers != "" || name == top {
			return zone.servers, nil
		}
		_, name, _ = strings.Cut(name, ".")
	}
}

// question asks about one name; an empty answer says that it is no zone.
func (d *Directory) question(ctx context.Context, name string) (string, error) {
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case <-time.After(pause):
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	found, err := d.lookup(ctx, name+".")
	var trouble *net.DNSError
	if errors.As(err, &trouble) && trouble.IsNotFound {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return domains(found), nil
}

// domains are where servers have their names: those of one zone have several.
func domains(servers []*net.NS) string {
	var all []string
	for _, s := range servers {
		name := strings.ToLower(strings.TrimSuffix(s.Host, "."))
		if domain, err := publicsuffix.EffectiveTLDPlusOne(name); err == nil {
			name = domain
		}
		if name != "" {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ", ")
}
