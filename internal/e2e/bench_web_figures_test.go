//go:build bench

package e2e

import (
	"fmt"
	"strings"
	"time"
)

// webFigures are what docs/bench-web.json holds. The aims are those of each table line.
type webFigures struct {
	At       time.Time  `json:"at"`
	Partly   *time.Time `json:"partly_at,omitempty"` // when a part was measured anew
	CPU      string     `json:"cpu"`
	Load     string     `json:"load"`
	Chromium string     `json:"chromium"`
	First    firstWeb   `json:"first"`
	Chart    chartWeb   `json:"chart"`
	Live     liveWeb    `json:"live"`
	Changes  changesWeb `json:"changes"`
	Heap     heapWeb    `json:"heap"`
	Many     manyWeb    `json:"many"`
	Aims     []aim      `json:"aims"`
}

type firstWeb struct {
	UpSeconds     float64 `json:"up_s"` // from the command to its link
	Seconds       float64 `json:"seconds"`
	TypingSeconds float64 `json:"of_these_typing_s"`
	KeyMS         float64 `json:"key_ms"`
	Fields        int     `json:"fields"`
}

type loadsWeb struct {
	Loads         int     `json:"loads"`
	LoadEvent     float64 `json:"load_event_ms"`
	FirstData     float64 `json:"first_data_ms"`
	FirstDataP50  float64 `json:"first_data_p50_ms"`
	FirstAfter    float64 `json:"first_data_after_load_ms"`
	FirstAfterP50 float64 `json:"first_data_after_load_p50_ms"`
	LiveAt        float64 `json:"live_ms"`
	LiveP50       float64 `json:"live_p50_ms"`
	LoadingTaskMS float64 `json:"loading_longest_task_ms"`
}

type framesWeb struct {
	Seconds    float64 `json:"seconds"`
	Frames     int     `json:"frames"`
	P50        float64 `json:"frame_p50_ms"`
	P95        float64 `json:"frame_p95_ms"`
	P99        float64 `json:"frame_p99_ms"`
	Most       float64 `json:"frame_most_ms"`
	Task       float64 `json:"longest_task_ms"` // 0: none of 50 ms
	Tasks      int     `json:"tasks_over_50_ms"`
	RowChanges float64 `json:"row_changes_per_s"`
}

type liveWeb struct {
	Chromium string  `json:"chromium,omitempty"`
	Targets  int     `json:"targets"`
	Results  float64 `json:"results_per_s"`
	loadsWeb
	framesWeb
	Bare framesWeb `json:"bare"`
}

type heapWeb struct {
	Minutes float64 `json:"minutes"`
	Start   float64 `json:"start_mb"`
	End     float64 `json:"end_mb"`
	Most    float64 `json:"most_mb"`
	Slope   float64 `json:"slope_mb_per_min"`
}

// chartWeb is three months of a target in five phases.
type chartWeb struct {
	Steps      int     `json:"steps"`
	Paint      float64 `json:"paint_ms"` // from the end of the answer
	PaintP50   float64 `json:"paint_p50_ms"`
	Clicked    float64 `json:"clicked_ms"` // from the click that asks for them
	ClickedP50 float64 `json:"clicked_p50_ms"`
}

type delays struct {
	Changes int     `json:"changes"`
	P50     float64 `json:"p50_ms"`
	P99     float64 `json:"p99_ms"`
	Most    float64 `json:"most_ms"`
}

// changesWeb are those to up and degraded, which are believed at once, and those to down, for which
// a prober waits for its canaries.
// Of these Title and Icon are when the tab says it; nil: it was not measured, or says the same.
type changesWeb struct {
	delays
	ToDown struct {
		delays
		Title *delays `json:"title,omitempty"`
		Icon  *delays `json:"icon,omitempty"`
	} `json:"to_down"`
}

type manyWeb struct {
	Targets int `json:"targets"`
	loadsWeb
	Search       float64 `json:"search_ms"`
	Filter       float64 `json:"filter_ms"`
	Sort         float64 `json:"sort_ms"`
	Select       float64 `json:"select_ms"`
	Pause        float64 `json:"pause_ms"`
	WhilePausing struct {
		framesWeb
		Paused int     `json:"paused"`
		Done   float64 `json:"done_ms"` // until all of them were answered
	} `json:"while_pausing"`
}

// aim is one line of the table.
type aim struct {
	What  string  `json:"what"`
	Is    float64 `json:"is"`
	Unit  string  `json:"unit"`
	Bound float64 `json:"bound"` // at most
	Met   bool    `json:"met"`
}

// verdict is what is printed of it.
func (a aim) verdict() string {
	if a.Met {
		return "met"
	}
	return "NOT MET"
}

// table is what is printed, and which aims were missed.
func (f *webFigures) table() (text string, missed []string) {
	l, m, heap := f.Live, f.Many, f.Heap
	f.Aims = []aim{
		{What: "empty database to the first live tick, by a person's path", Is: f.First.Seconds + f.First.UpSeconds, Unit: "s", Bound: 60},
		{What: fmt.Sprintf("%d targets, %.0f results/s: frame p95", l.Targets, l.Results), Is: l.P95, Unit: "ms", Bound: 20},
		{What: fmt.Sprintf("longest task of %.0f s (0: none of 50 ms)", l.Seconds), Is: l.Task, Unit: "ms", Bound: 50},
		{What: fmt.Sprintf("live after the address was asked for, worst of %d", l.Loads), Is: l.LiveAt, Unit: "ms", Bound: 1500},
		{What: fmt.Sprintf("growth of the heap in %.1f min, of %.1f MB", heap.Minutes, heap.Start), Is: heap.Slope * heap.Minutes, Unit: "MB", Bound: max(1, heap.Start/20)},
		{What: fmt.Sprintf("chart of 90 days, %d steps of five phases: from the answer to the picture", f.Chart.Steps), Is: f.Chart.Paint, Unit: "ms", Bound: 250},
		{What: fmt.Sprintf("end of a check to the frame that shows it, p99 of %d", f.Changes.Changes), Is: f.Changes.P99, Unit: "ms", Bound: 250},
		{What: fmt.Sprintf("the same of %d that went down", f.Changes.ToDown.Changes), Is: f.Changes.ToDown.P99, Unit: "ms", Bound: 250},
		{What: fmt.Sprintf("%d targets: first rows after the load event, worst of %d without a cache (median %.0f)", m.Targets, m.Loads, m.FirstAfterP50), Is: m.FirstAfter, Unit: "ms", Bound: 500},
		{What: "search, a key", Is: m.Search, Unit: "ms", Bound: 200},
		{What: "filter by state", Is: m.Filter, Unit: "ms", Bound: 200},
		{What: "sort", Is: m.Sort, Unit: "ms", Bound: 200},
		{What: "select one, all that match, nothing", Is: m.Select, Unit: "ms", Bound: 200},
		{What: fmt.Sprintf("pause all, until it shows that it does (they are paused after %.1f s, longest frame meanwhile %.0f ms)", m.WhilePausing.Done/1000, m.WhilePausing.Most), Is: m.Pause, Unit: "ms", Bound: 200},
	}
	var b strings.Builder
	for i := range f.Aims {
		a := &f.Aims[i]
		a.Met = a.Is <= a.Bound
		if !a.Met {
			missed = append(missed, fmt.Sprintf("%s: %.1f %s, at most %.1f", a.What, a.Is, a.Unit, a.Bound))
		}
		fmt.Fprintf(&b, "%-72s %8.1f %-3s aim %6.1f  %s\n", a.What, a.Is, a.Unit, a.Bound, a.verdict())
	}
	fmt.Fprintf(&b, "\nframes p50 %.1f, p95 %.1f, p99 %.1f, most %.1f ms; a copy of the page in which as many rows change: p95 %.1f, p99 %.1f ms: ratio of the p95 %.2f\n",
		l.P50, l.P95, l.P99, l.Most, l.Bare.P95, l.Bare.P99, l.P95/max(l.Bare.P95, 1))
	fmt.Fprintf(&b, "heap %.1f to %.1f MB, %.3f MB a minute; changes p50 %.0f ms, to down %.0f ms\n",
		heap.Start, heap.End, heap.Slope, f.Changes.P50, f.Changes.ToDown.P50)
	fmt.Fprintf(&b, "the chart of 90 days, from the click: p50 %.0f, most %.0f ms (from the answer p50 %.0f)\n", f.Chart.ClickedP50, f.Chart.Clicked, f.Chart.PaintP50)
	for _, said := range []struct {
		what string
		took *delays
	}{{"title", f.Changes.ToDown.Title}, {"icon", f.Changes.ToDown.Icon}} {
		if said.took == nil {
			fmt.Fprintf(&b, "the %s of the tab was not seen to say that something went down (the icon says the same of all above nine)\n", said.what)
			continue
		}
		fmt.Fprintf(&b, "the %s of the tab said it of %d that went down: p50 %.0f, p99 %.0f ms\n", said.what, said.took.Changes, said.took.P50, said.took.P99)
	}
	fmt.Fprintf(&b, "%d targets: first rows %.0f ms and live %.0f ms after the address was asked for; longest task of loading %.0f ms; %d were paused in %.0f ms: in %.0f s from then on frame p95 %.1f ms, %d tasks over 50 ms\n",
		m.Targets, m.FirstData, m.LiveAt, m.LoadingTaskMS, m.WhilePausing.Paused, m.WhilePausing.Done, m.WhilePausing.Seconds, m.WhilePausing.P95, m.WhilePausing.Tasks)
	return b.String(), missed
}
