package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

const (
	barWidth  = 40
	nameWidth = len("transfer")
)

// printCheck writes what each region saw as a waterfall: every bar begins where the one
// before ends, and all regions share one scale. Nothing in it is trusted.
func printCheck(out io.Writer, c checkJSON, now time.Time) {
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(out, format+"\n", args...) }
	say("%s  %s%s", plain(c.URL), plain(c.State), retries(c.RetryCount))
	if c.Error != "" {
		say("%s", plain(c.Error))
	}
	scale := int64(1)
	for _, r := range c.Results {
		for _, p := range phasesOf(r) {
			scale = max(scale, p.start+p.length)
		}
	}
	for _, r := range c.Results {
		say("\n%s", headline(r, now))
		if r.Message != "" {
			say("  %s", plain(r.Message))
		}
		for _, p := range phasesOf(r) {
			if p.hop != "" {
				say("  %s", p.hop)
			}
			if p.name != "" {
				say("    %-*s %s %10s%s", nameWidth, p.name, bar(p.start, p.length, scale), took(p.length), p.note)
			}
		}
	}
}

func retries(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return " after 1 retry"
	}
	return fmt.Sprintf(" after %d retries", n)
}

func headline(r regionJSON, now time.Time) string {
	parts := []string{plain(r.Region), strings.ToUpper(plain(r.Status))}
	if why := r.Failure + r.Reason; why != "" {
		parts[1] += " (" + plain(why) + ")"
	}
	if r.HTTPStatus != 0 {
		parts = append(parts, fmt.Sprint(r.HTTPStatus))
	}
	if r.TotalUS > 0 {
		parts = append(parts, took(int64(r.TotalUS)))
	}
	for _, text := range []string{r.Protocol, r.Address} {
		if text != "" {
			parts = append(parts, plain(text))
		}
	}
	if r.TLSVersion != "" {
		parts = append(parts, "TLS "+plain(r.TLSVersion))
	}
	if r.CertNotAfter != nil {
		parts = append(parts, certificate(r.CertNotAfter.Sub(now)))
	}
	return strings.Join(parts, "  ")
}

// certificate says how long the chain is valid, in whole days.
func certificate(left time.Duration) string {
	if left < 0 {
		return fmt.Sprintf("certificate expired %s ago", days(-left))
	}
	return "certificate " + days(left)
}

func days(d time.Duration) string {
	if n := int(d / (24 * time.Hour)); n != 1 {
		return fmt.Sprintf("%d days", n)
	}
	return "1 day"
}

var phaseNames = [...]string{"dns", "connect", "tls", "wait", "transfer"}

// phase is a line of the waterfall; the first of a hop carries its headline.
type phase struct {
	hop, name, note string
	start, length   int64 // µs
}

// phasesOf lays the phases of all hops end to end. Those that took no time are left out,
// but a name that came from the cache.
func phasesOf(r regionJSON) (list []phase) {
	at := int64(0)
	for _, hop := range r.Hops {
		title := strings.TrimSpace(fmt.Sprintf("%s  %s", plain(hop.URL), plain(hop.Address)))
		if hop.Status != 0 {
			title += fmt.Sprintf("  %d", hop.Status)
		}
		list = append(list, phase{hop: title, start: at})
		p := hop.Phases
		for i, us := range []uint32{p.DNS, p.Connect, p.TLS, p.Wait, p.Transfer} {
			part := phase{name: phaseNames[i], start: at, length: int64(us)}
			if i == 0 && hop.DNSCached {
				part.note = "  cached"
			} else if us == 0 {
				continue
			}
			at += part.length
			list = append(list, part)
		}
	}
	return list
}

// bar draws a length on a scale. What took any time at all is visible.
func bar(start, length, scale int64) string {
	from := min(int(start*barWidth/scale), barWidth-1)
	to := min(int((start+length)*barWidth/scale), barWidth)
	if length > 0 {
		to = max(to, from+1)
	}
	return strings.Repeat(" ", from) + strings.Repeat("█", to-from) + strings.Repeat(" ", barWidth-to)
}

func took(us int64) string { return fmt.Sprintf("%.1f ms", float64(us)/1000) }
