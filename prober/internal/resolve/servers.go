package resolve

import "sync/atomic"

// servers are those in use, and which of them to ask first.
type servers struct {
	list      []*server
	preferred atomic.Int32
}

// inOrder gives the servers from the preferred one on, round once.
func (s *servers) inOrder() []*server {
	first := int(s.preferred.Load())
	if first == 0 {
		return s.list
	}
	return append(append(make([]*server, 0, len(s.list)), s.list[first:]...), s.list[:first]...)
}

// prefer asks this one first from now on: it answered after others had not.
func (s *servers) prefer(one *server) {
	for i, other := range s.list {
		if other == one {
			s.preferred.Store(int32(i))
		}
	}
}

// followSystem takes over a changed resolv.conf. Servers that stay keep what is known of them.
func (r *Resolver) followSystem() {
	content, changed := r.resolvConf.changed(r.now())
	if !changed {
		return
	}
	known := map[string]*server{}
	if old := r.servers.Load(); old != nil {
		for _, s := range old.list {
			known[s.name] = s
		}
	}
	fresh := new(servers)
	for _, configured := range parseResolvConf(content) {
		s := known[configured.String()]
		if s == nil {
			s = newServer(configured.String(), r.dial(configured))
		}
		fresh.list = append(fresh.list, s)
	}
	r.servers.Store(fresh)
}
