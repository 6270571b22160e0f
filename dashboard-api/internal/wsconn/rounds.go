package wsconn

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/probefleet/probefleet/dashboard-api/internal/live"
)

// Run tells readers of changes, pings them and judges them again, until ctx ends.
func (s *Server) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { s.tell(ctx); return nil })
	group.Go(func() error { s.every(ctx, time.Second, s.beat); return nil })
	group.Go(func() error { s.every(ctx, reauthEvery, func() { s.judge(ctx) }); return nil })
	_ = group.Wait() // none of them fails
	return ctx.Err()
}

// tell wakes the sockets whenever the hub has changed.
func (s *Server) tell(ctx context.Context) {
	var all []*client
	for {
		changed := s.Hub.Changed()
		all = s.clients(all)
		for _, c := range all {
			c.wake()
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

func (s *Server) every(ctx context.Context, interval time.Duration, do func()) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			do()
		case <-ctx.Done():
			return
		}
	}
}

// beat pings, and ends the sockets of those that say nothing any more.
func (s *Server) beat() {
	now := time.Now().Unix()
	for _, c := range s.clients(nil) {
		heard := c.heard.Load()
		switch {
		case heard == 0: // it is being upgraded
		case now-heard > int64(silentAfter/time.Second):
			go c.drop() // one that is being closed holds whoever drops it
		case now-max(heard, c.pinged) >= int64(pingEvery/time.Second):
			c.pinged = now
			c.answer(encode(live.Ping{T: "ping"}))
		}
	}
}

// judge asks again whether the requests of open sockets are still allowed, once for all that
// came with the same key or session. It is asked beside the feed: a database that hangs must
// not stop it.
func (s *Server) judge(ctx context.Context) {
	byHolder := map[string][]*client{}
	for _, c := range s.clients(nil) {
		byHolder[c.holder] = append(byHolder[c.holder], c)
	}
	var group errgroup.Group
	group.SetLimit(16)
	for _, held := range byHolder {
		group.Go(func() error {
			limited, cancel := context.WithTimeout(ctx, reauthTimeout)
			defer cancel()
			if held[0].allowed(limited, held[0].request) != nil {
				for _, c := range held {
					c.close(closeRevoked, "no longer allowed")
				}
			}
			return nil
		})
	}
	_ = group.Wait() // none fails
}
