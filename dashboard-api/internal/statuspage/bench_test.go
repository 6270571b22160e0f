package statuspage_test

import (
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/pagestore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

// scattered is days of which some were bad.
func scattered(id int64, n int) availability.Counts {
	switch (int(id)*31 + n*17) % 97 {
	case 0, 1:
		return availability.Counts{Up: 1400, Down: 40}
	case 2, 3:
		return availability.Counts{Up: 1400, Degraded: 40}
	case 4:
		return availability.Counts{}
	}
	return availability.Counts{Up: 1440}
}

func benchPage(b *testing.B) *rig {
	r := newRig(b, testbackend.SQLite(b))
	var all []pagestore.Component
	for i := range 50 {
		id := r.target(fmt.Sprint("t", i))
		r.result(id, uptime.StatusUp)
		all = append(all, pagestore.Component{Name: fmt.Sprint("Component number ", i), Rule: pagestore.RuleWorst, Targets: []int64{id}})
	}
	r.day = scattered
	r.page(pagestore.Page{Slug: "main", Terms: pagestore.Terms{Title: "Acme", Groups: components(all...)}})
	return r
}

// BenchmarkPage answers for a page of 50 components from its copy, over a whole request.
func BenchmarkPage(b *testing.B) {
	r := benchPage(b)
	r.get("/s/main")
	b.ReportAllocs()
	for b.Loop() {
		request := httptest.NewRequestWithContext(b.Context(), "GET", "/s/main", nil)
		request.Header.Set("Accept-Encoding", "gzip")
		answer := httptest.NewRecorder()
		if r.pages.ServeHTTP(answer, request); answer.Code != 200 {
			b.Fatal(answer.Code)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "req/s")
}

// BenchmarkRender makes the copy anew each time, as it is made every two seconds at most.
func BenchmarkRender(b *testing.B) {
	r := benchPage(b)
	for b.Loop() {
		r.pass(3e9)
		if answer := r.get("/s/main"); answer.Code != 200 {
			b.Fatal(answer.Code)
		}
	}
}
