package supervisor

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"
)

// How a program is asked whether it is there. A program that wedges is killed
// within askEvery + askPatience of being silent for silentAfter: 20 seconds.
const (
	askEvery      = 2 * time.Second
	askPatience   = 3 * time.Second
	silentAfter   = 15 * time.Second
	startPatience = 60 * time.Second
	frozenAfter   = askEvery + askPatience + time.Second // between two looks: we ourselves stood still
)

// watch looks at one life of a program from outside: a process that is stopped, or
// whose runtime is wedged, cannot do it itself. Any answer counts, the worst
// included: what is wrong inside is the program's own to judge. Once it has
// answered it may not be silent for silentAfter. Before, it is starting: that may
// take startPatience, for programs listen before they do anything else.
type watch struct {
	ask      func(context.Context) bool
	kill     func(silent time.Duration)
	patience time.Duration             // with a program that has answered: silentAfter
	first    atomic.Pointer[time.Time] // when it answered first
}

// run looks until ctx ends or it has killed. Time in which this process itself did
// not run is forgiven: the program's answers may have come and gone meanwhile.
func (w *watch) run(ctx context.Context) {
	ticker := time.NewTicker(askEvery)
	defer ticker.Stop()
	answered := time.Now()
	for looked := time.Now(); ; {
		asking, cancel := context.WithTimeout(ctx, askPatience)
		ok := w.ask(asking)
		cancel()
		now := time.Now()
		frozen := now.Sub(looked) > frozenAfter
		looked = now
		if ok && w.first.Load() == nil {
			w.first.Store(&now)
		}
		patience := w.patience
		if w.first.Load() == nil {
			patience = startPatience
		}
		if ok || frozen {
			answered = now
		}
		if silent := now.Sub(answered); silent >= patience && ctx.Err() == nil {
			w.kill(silent)
			return
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// answeredFor is how long ago it answered first; 0 when it never did.
func (w *watch) answeredFor() time.Duration {
	first := w.first.Load()
	if first == nil {
		return 0
	}
	return time.Since(*first)
}

// asker asks one address, with a connection of its own each time: one that an
// earlier life left behind would say nothing about this one.
func asker(url string) func(context.Context) bool {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, Proxy: nil}}
	return func(ctx context.Context) bool {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return false
		}
		response, err := client.Do(request)
		if err != nil {
			return false
		}
		_ = response.Body.Close()
		return true
	}
}
