package architecture

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	costsStart = "<!-- costs: written by `make generate` from docs/bench.json -->\n"
	costsEnd   = "<!-- end of costs -->"
)

// bench is what docs/bench.json says: see prober/internal/racetrack.
type bench struct {
	Go, CPU, Command string
	Cores            int
	Engine           *struct {
		measuredAt
		Rounds  int
		Seconds float64
		Lines   []struct {
			Who, What, Note string
			CPU             []float64 `json:"cpu_us"`
			Allocs, Bytes   float64
		}
	}
	Hanging *struct {
		measuredAt
		Checks int
		Plain  float64 `json:"plain_mb"`
		TLS    float64 `json:"tls_mb"`
	}
	Beside *besideHanging
	Error  *measuringErrors
	Pace   *struct {
		measuredAt
		Targets int
		Every   int     `json:"interval_s"`
		Jitter  float64 `json:"jitter_p99_ms"`
		Busy    float64 `json:"jitter_p99_busy_ms"`
		Share   float64 `json:"busy_share"`
		Idle    float64 `json:"idle_mb"`
		Peak    float64 `json:"peak_mb"`
	}
	Whole *struct {
		measuredAt
		Lines []struct {
			What     string
			Rate     float64
			CPU      []float64 `json:"cpu_us"`
			Bare     []float64 `json:"bare_us"`
			Lateness float64   `json:"lateness_p99_ms"`
			Capacity float64
			Busy     float64 `json:"capacity_busy_percent"`
		}
	}
	Overload *struct {
		measuredAt
		Lines []struct {
			What   string
			Rounds []struct {
				Capacity, Offered, Goodput, Missed float64
				Busy                               float64 `json:"busy_percent"`
				Others                             float64 `json:"others_percent"`
				Left                               int
			}
		}
	}
}

type measuredAt struct {
	At   time.Time
	Load float64
}

func (m measuredAt) String() string {
	return fmt.Sprintf("%s, load %.2f", m.At.Format("2006-01-02 15:04"), m.Load)
}

// costs is the README's section of what a check costs.
func costs(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "docs", "bench.json"))
	if err != nil {
		t.Fatal(err)
	}
	var b bench
	if err := json.Unmarshal(content, &b); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	b.race(&text)
	text.WriteString("| figure | measured | aim | | when |\n|---|--:|--:|---|---|\n")
	for _, f := range b.figures() {
		verdict := "met"
		if !f.met {
			verdict = "**not met**"
		}
		fmt.Fprintf(&text, "| %s | %s | %s | %s | %v |\n", f.what, f.measured, f.aim, verdict, f.when)
	}
	return text.String()
}

// race is the table of the contestants.
func (b bench) race(text *strings.Builder) {
	if b.Engine == nil {
		return
	}
	fmt.Fprintf(text, "CPU time of one check over a fresh connection, as the kernel accounts it to the process, with its core saturated; ×: times the engine's.\n"+
		"`%s` on %d cores of %s, %s, %d rounds of %.0f s in turn, medians (least to most), %v.\n\n", b.Command, b.Cores, b.CPU, b.Go, b.Engine.Rounds, b.Engine.Seconds, b.Engine.measuredAt)
	fmt.Fprintf(text, "The aims were set where bare sockets took %g and %g µs. Here they took %.0f and %.0f, %.1f and %.1f times as much, so what is in µs or checks a second is to be read beside them.\n\n", floors["http"], floors["https"],
		b.cpu(bareSockets, "http"), b.cpu(bareSockets, "https"), b.cpu(bareSockets, "http")/floors["http"], b.cpu(bareSockets, "https")/floors["https"])
	text.WriteString("| | HTTP | | HTTPS | | allocations, HTTP | |\n|---|--:|--:|--:|--:|--:|---|\n")
	for _, l := range b.Engine.Lines {
		if l.What != "http" {
			continue
		}
		allocs := ""
		if l.Allocs > 0 {
			allocs = fmt.Sprintf("%.0f, %.1f KB", l.Allocs, l.Bytes/1000)
		}
		fmt.Fprintf(text, "| %s | %s | %.2f × | %s | %.2f × | %s | %s |\n", l.Who, spread(b.rounds(l.Who, "http")), b.cpu(l.Who, "http")/b.cpu(ours, "http"),
			spread(b.rounds(l.Who, "https")), b.cpu(l.Who, "https")/b.cpu(ours, "https"), allocs, l.Note)
	}
	text.WriteString("\n")
}

const (
	ours        = "probefleet"
	bareSockets = "bare sockets"
)

func (b bench) cpu(who, what string) float64 { return middle(b.rounds(who, what)) }

func (b bench) rounds(who, what string) []float64 {
	for _, l := range b.Engine.Lines {
		if l.Who == who && l.What == what {
			return l.CPU
		}
	}
	return nil
}

// spread is the median of figures in µs, with the least and the most of them.
func spread(of []float64) string {
	if len(of) == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f µs (%.0f to %.0f)", middle(of), slices.Min(of), slices.Max(of))
}

func middle(of []float64) float64 {
	if len(of) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}

// figure is a promise and what became of it.
type figure struct {
	what, measured, aim string
	met                 bool
	when                measuredAt
}

func atMost(what string, v, aim float64, format string, when measuredAt) figure {
	return figure{what, fmt.Sprintf(format, v), "≤ " + fmt.Sprintf(format, aim), v <= aim, when}
}

// floors are what bare sockets took where the aims were set, in µs of CPU.
var floors = map[string]float64{"http": 46, "https": 205}

// ratios are of the figures of each window.
func ratios(of, against []float64) (all []float64) {
	for i := range of {
		all = append(all, of[i]/against[i])
	}
	return all
}

func (b bench) figures() (all []figure) {
	if e := b.Engine; e != nil {
		for _, what := range []string{"http", "https"} {
			name := strings.ToUpper(what)
			aims := map[string][4]float64{"http": {60, 1.6, 1. / 6, 60 / floors["http"]}, "https": {245, .65, 1 / 3.5, 245 / floors["https"]}}[what]
			all = append(all, atMost("engine, "+name+", CPU", b.cpu(ours, what), aims[0], "%.0f µs", e.measuredAt))
			all = append(all, atMost("… against bare sockets, the floor", b.cpu(ours, what)/b.cpu(bareSockets, what), aims[3], "%.2f ×", e.measuredAt))
			if wrk := b.cpu("wrk", what); wrk > 0 {
				all = append(all, atMost("… against wrk, which records and verifies nothing", b.cpu(ours, what)/wrk, aims[1], "%.2f ×", e.measuredAt))
			}
			if blackbox := b.cpu("blackbox_exporter", what); blackbox > 0 {
				all = append(all, atMost("… against blackbox_exporter", b.cpu(ours, what)/blackbox, aims[2], "%.2f ×", e.measuredAt))
			}
		}
		for _, l := range e.Lines {
			if l.Who == ours && l.What == "http" {
				all = append(all, atMost("allocations of an HTTP check", l.Allocs, 40, "%.0f", e.measuredAt), atMost("… bytes", l.Bytes/1000, 5, "%.1f KB", e.measuredAt))
			}
		}
	}
	if w := b.Whole; w != nil {
		for _, l := range w.Lines {
			aim := map[string]float64{"http": 72, "https": 270}[l.What]
			what := fmt.Sprintf("whole prober (read, probe, three assertions, insert, announce, acknowledge), %s, at %.0f checks a second", strings.ToUpper(l.What), l.Rate)
			all = append(all, figure{what, spread(l.CPU), fmt.Sprintf("≤ %.0f µs", aim), middle(l.CPU) <= aim, w.measuredAt})
			if len(l.Bare) == len(l.CPU) {
				all = append(all, atMost("… against bare sockets on the same core, in turns", middle(ratios(l.CPU, l.Bare)), aim/floors[l.What], "%.2f ×", w.measuredAt))
			}
			if l.Capacity > 0 {
				least := map[string]float64{"http": 13_000, "https": 3_600}[l.What]
				what := "… checks a second that it settles at most, " + strings.ToUpper(l.What)
				if l.Busy > 0 {
					what += fmt.Sprintf(" (its core was busy for %.0f %%; all others share the other one)", l.Busy)
				}
				all = append(all, figure{what, fmt.Sprintf("%.0f", l.Capacity), fmt.Sprintf("≥ %.0f", least), l.Capacity >= least, w.measuredAt})
			}
		}
	}
	if h := b.Hanging; h != nil {
		all = append(all, atMost(fmt.Sprintf("memory of the engine with %d checks that nobody answers", h.Checks), h.Plain, 250, "%.0f MB", h.measuredAt),
			atMost("… after a TLS handshake", h.TLS, 450, "%.0f MB", h.measuredAt))
	}
	if h := b.Beside; h != nil {
		all = append(all, h.figure())
	}
	if e := b.Error; e != nil {
		for _, l := range e.Lines {
			all = append(all, l.figure(e.measuredAt))
		}
	}
	if p := b.Pace; p != nil {
		what := fmt.Sprintf("start jitter p99, %d targets every %d s", p.Targets, p.Every)
		all = append(all, atMost("memory of an idle prober that has "+fmt.Sprint(p.Targets)+" targets", p.Idle, 60, "%.0f MB", p.measuredAt), atMost(what, p.Jitter, 20, "%.1f ms", p.measuredAt),
			atMost(fmt.Sprintf("… with its core kept busy by another process for %.0f %% of the time", 100*p.Share), p.Busy, 20, "%.1f ms", p.measuredAt))
	}
	if w := b.Overload; w != nil {
		for _, o := range w.Lines {
			var shares, busy, others []float64
			left, offered, missed := 0, 0.0, 0.0
			for _, r := range o.Rounds {
				shares, busy, others = append(shares, 100*r.Goodput/r.Capacity), append(busy, r.Busy), append(others, r.Others)
				left, offered, missed = left+r.Left, offered+r.Offered, missed+r.Missed
			}
			what := fmt.Sprintf("goodput when 1.3 times the capacity measured before is offered, against that before and after (%s, median of %d: %.0f to %.0f %%; of %.0f a second %.0f are stated as missed, %d without a row; the prober's core was busy for %.0f %%, that of all others for %.0f %%)",
				strings.ToUpper(o.What), len(shares), slices.Min(shares), slices.Max(shares), offered/float64(len(shares)), missed/float64(len(shares)), left, middle(busy), middle(others))
			all = append(all, figure{what, fmt.Sprintf("%.1f %%", middle(shares)), "≥ 90 %", middle(shares) >= 90 && left == 0, w.measuredAt})
		}
	}
	return all
}
