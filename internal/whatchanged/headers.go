package whatchanged

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/probefleet/probefleet/internal/uptime"
)

// headers compares those of the last answers that seldom change.
func (c *comparison) headers() {
	if c.kind != uptime.KindHTTP && c.kind != uptime.KindWebSocket && c.kind != uptime.KindGRPC {
		return
	}
	why := c.unknown(uptime.UnsteadyHeaders)
	if why == "" && !c.answered() {
		why = NotReached
	}
	if why != "" {
		c.gap(Headers, why)
		return
	}
	var was, is strings.Builder
	var changed []HeaderValue
	for _, name := range uptime.PrintHeaders {
		if beyond(c.bad.Evidence, name) || beyond(c.good.Evidence, name) {
			continue
		}
		before, after := joined(c.was, name), joined(c.is, name)
		steadyBefore, steadyAfter := uptime.SteadyValue(name, before), uptime.SteadyValue(name, after)
		was.WriteString(name + ": " + steadyBefore + "\n")
		is.WriteString(name + ": " + steadyAfter + "\n")
		if steadyBefore != steadyAfter {
			changed = append(changed, HeaderValue{name, before, after})
		}
	}
	if len(changed) > 0 {
		c.found = append(c.found, Difference{What: Headers, Before: short(was.String()), After: short(is.String()), Headers: changed})
	}
}

// beyond says that evidence has so many headers, in alphabetical order, that this one may have been cut off.
func beyond(e *uptime.Evidence, name string) bool {
	return e != nil && len(e.Headers) >= uptime.MaxEvidenceHeaders && name >= e.Headers[len(e.Headers)-1].Name
}

func joined(p *uptime.Print, name string) string {
	var values []string
	for _, h := range p.Headers {
		if h.Name == name {
			values = append(values, h.Value)
		}
	}
	return strings.Join(values, ", ")
}

// short is a hash to tell texts apart by.
func short(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}
