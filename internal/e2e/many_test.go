//go:build load || faults || browser || bench

package e2e

import (
	"fmt"
	"iter"
	"net/http"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/lab"
)

// number reads a size of the run from the environment.
func number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

func startLab(t *testing.T) *lab.Lab {
	t.Helper()
	server, err := lab.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	return server
}

// createMany registers n targets through the API, eight requests at a time.
func (s *system) createMany(url string, n, intervalS int) []int64 {
	s.t.Helper()
	ids := make([]int64, n)
	next := make(chan int)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for i := range next {
				ids[i] = s.create(target{Name: fmt.Sprintf("load %d %d", time.Now().UnixNano(), i), URL: fmt.Sprintf("%s/n/%d", url, i), IntervalS: intervalS}).ID
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wait.Wait()
	return ids
}

// progress is one line on how the installation does.
func (s *system) progress() string {
	status, fleet := s.try("GET", "/api/v1/fleet", nil)
	if status != http.StatusOK {
		return fmt.Sprintf("fleet: %d", status)
	}
	return string(fleet)
}

// tick yields every interval until the deadline.
func tick(t *testing.T, every time.Duration, deadline time.Time) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		for time.Now().Before(deadline) {
			select {
			case now := <-time.After(min(every, time.Until(deadline))):
				if !yield(now) {
					return
				}
			case <-t.Context().Done():
				return
			}
		}
	}
}
