//go:build failpoints

package failpoint

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	variable   = "PROBEFLEET_FAILPOINTS"
	exitConfig = 78
)

// point is what happens at one name.
type point struct {
	action string
	nth    int64
	hits   atomic.Int64
}

// armed is read at the first hit. It is the package's only state, and only in
// binaries built for tests.
var armed = sync.OnceValue(func() map[string]*point {
	points, err := parse(os.Getenv(variable))
	if err != nil {
		_, _ = fmt.Fprintf(os.Stderr, "%s: %v\n", variable, err)
		os.Exit(exitConfig)
	}
	return points
})

// Hit acts when this is the hit that the environment names.
func Hit(name string) {
	p, found := armed()[name]
	if !found || p.hits.Add(1) != p.nth {
		return
	}
	switch p.action {
	case "kill":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // until the signal lands
	case "stop":
		// To this very thread, which so stops before the call is over. One sent to
		// the process may go to another thread, and this one runs on until that
		// one wakes.
		runtime.LockOSThread()
		_ = syscall.Tgkill(os.Getpid(), syscall.Gettid(), syscall.SIGSTOP)
		runtime.UnlockOSThread()
	case "hang":
		<-time.After(math.MaxInt64)
	case "spin":
		for range runtime.GOMAXPROCS(0) {
			go spin()
		}
		go runtime.GC() // waits for the loops, and everybody waits for it
		spin()
	}
}

func spin() {
	for n := uint64(0); ; n++ { // no call, so no place to be preempted at
	}
}

func parse(text string) (map[string]*point, error) {
	points := map[string]*point{}
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		name, what, _ := strings.Cut(item, "=")
		action, nth, counted := strings.Cut(what, "@")
		p := &point{action: action, nth: 1}
		if counted {
			n, err := strconv.ParseInt(nth, 10, 64)
			if err != nil || n < 1 {
				return nil, fmt.Errorf("%q: after @ comes a number from 1 on", item)
			}
			p.nth = n
		}
		if !slices.Contains(Names(), name) {
			return nil, fmt.Errorf("%q: no such failpoint; there are %s", name, strings.Join(Names(), " "))
		}
		if !slices.Contains([]string{"kill", "stop", "hang", "spin"}, action) {
			return nil, fmt.Errorf("%q: want kill, stop, hang or spin", item)
		}
		if points[name] != nil {
			return nil, fmt.Errorf("%q is named twice", name)
		}
		points[name] = p
	}
	return points, nil
}
