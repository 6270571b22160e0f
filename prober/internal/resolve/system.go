package resolve

import (
	"net/netip"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"
)

const (
	lookEvery  = 5 * time.Second // at the system's files
	maxSystem  = 3               // servers of resolv.conf (resolv.conf(5))
	maxFile    = 16 << 20
	hostsLabel = "hosts file"
)

// watched is a file that is read again after it changed. Of concurrent callers one looks.
type watched struct {
	path string

	mu     sync.Mutex
	looked bool
	next   time.Duration // when to look again
	mtime  time.Time
	size   int64
}

// changed gives the file's content when it is not what it was at the last call. A file
// that cannot be read is empty.
func (w *watched) changed(now time.Duration) (content []byte, changed bool) {
	if !w.mu.TryLock() {
		return nil, false
	}
	defer w.mu.Unlock()
	if w.looked && now < w.next {
		return nil, false
	}
	first := !w.looked
	w.looked, w.next = true, now+lookEvery
	var mtime time.Time
	size := int64(-1)
	if info, err := os.Stat(w.path); err == nil && info.Size() <= maxFile {
		mtime, size = info.ModTime(), info.Size()
	}
	if !first && size == w.size && mtime.Equal(w.mtime) {
		return nil, false
	}
	w.mtime, w.size = mtime, size
	if size < 0 {
		return nil, true
	}
	content, err := os.ReadFile(w.path)
	return content, err == nil || first
}

// parseResolvConf gives the servers of a resolv.conf(5), this machine's own when it names
// none. Its search domains and options are for names that people type.
func parseResolvConf(content []byte) []Server {
	var servers []Server
	seen := map[Server]bool{}
	for line := range strings.Lines(string(content)) {
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[0] != "nameserver" || len(servers) == maxSystem {
			continue
		}
		addr, err := netip.ParseAddr(fields[1])
		if err != nil {
			continue
		}
		if addr.IsUnspecified() { // as the C library reads it
			addr = netip.MustParseAddr("127.0.0.1")
		}
		if s := (Server{Protocol: UDP, Host: addr.Unmap().String(), Port: 53}); !seen[s] {
			seen[s] = true
			servers = append(servers, s)
		}
	}
	if len(servers) == 0 {
		return []Server{{Protocol: UDP, Host: "127.0.0.1", Port: 53}, {Protocol: UDP, Host: "::1", Port: 53}}
	}
	return servers
}

// hosts is what a hosts(5) file says, by normal name.
type hosts map[string][2][]netip.Addr

func parseHosts(content []byte) hosts {
	known := hosts{}
	for line := range strings.Lines(string(content)) {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		addr, err := netip.ParseAddr(fields[0])
		if err != nil {
			continue
		}
		addr = addr.Unmap()
		for _, field := range fields[1:] {
			name := normal(field)
			entry := known[name]
			if of := &entry[place(addr)]; len(*of) < maxAddresses {
				*of = append(*of, addr)
			}
			known[name] = entry
		}
	}
	return known
}

// place is the family's index wherever both are kept side by side.
func place(addr netip.Addr) int {
	if addr.Is4() {
		return 0
	}
	return 1
}

// questionTypes are those of the two families, in the order of place.
var questionTypes = [...]uint16{dns.TypeA, dns.TypeAAAA}
