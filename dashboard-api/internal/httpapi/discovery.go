package httpapi

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	discoveryPath = "/api/v1/service-discovery/prometheus"

	// discoveryStep is how many targets are read at once.
	discoveryStep = 1000
)

// discoveredTarget is a target as the service discovery of Prometheus takes it.
type discoveredTarget struct {
	Targets []string         `json:"targets" nullable:"false" doc:"one: the URL of what is asked over HTTP or a websocket, else what is dialled, HOST or HOST:PORT; of a dns target without a server its URL"`
	Labels  discoveredLabels `json:"labels"`
}

// discoveredLabels are gone after relabelling, but for what is copied to labels of other names.
type discoveredLabels struct {
	ID       string `json:"__meta_probefleet_id"`
	Name     string `json:"__meta_probefleet_name"`
	Kind     string `json:"__meta_probefleet_kind"`
	URL      string `json:"__meta_probefleet_url" doc:"without user name and password"`
	Regions  string `json:"__meta_probefleet_regions" doc:"those that check it now, with a comma before and after each: ,eu,us,"`
	Tags     string `json:"__meta_probefleet_tags" doc:"likewise; empty: none"`
	ParentID string `json:"__meta_probefleet_parent_id" doc:"the target that it depends on; empty: none"`
}

type discoveryOutput struct {
	Body []discoveredTarget `nullable:"false"`
}

// discoverTargets gives all or nothing: Prometheus drops whatever is not in a list, and goes on with
// the one before when there is an error.
func (a *api) discoverTargets(ctx context.Context, in *struct{ TargetChoice }) (*discoveryOutput, error) {
	filter, err := in.filter()
	if err != nil {
		return nil, err
	}
	active := true
	filter.Active, filter.Limit = &active, discoveryStep
	out := &discoveryOutput{Body: []discoveredTarget{}}
	for {
		found, err := a.Targets.List(ctx, filter)
		if err != nil {
			return nil, err
		}
		for _, t := range found {
			if one, visited := discovered(t, a.Hub.Rules(t).Regions); visited {
				out.Body = append(out.Body, one)
			}
		}
		if len(found) < discoveryStep {
			return out, nil
		}
		filter.AfterID = found[len(found)-1].ID
	}
}

// discovered is what is told of a target, unless nothing visits it: a heartbeat is at no address.
// Its request, its answers and its secrets are not.
func discovered(t uptime.Target, regions []string) (one discoveredTarget, visited bool) {
	u, err := url.Parse(t.URL)
	if err != nil || t.Kind == uptime.KindHeartbeat {
		return one, false
	}
	text := t.URL
	if u.User != nil { // refused when it is saved: whatever came in otherwise is not told, either
		u.User = nil
		text = u.String()
	}
	one.Targets = []string{dialled(t.Kind, u, text)}
	one.Labels = discoveredLabels{ID: strconv.FormatInt(t.ID, 10), Name: t.Name, Kind: string(t.Kind), URL: text, Regions: between(regions), Tags: between(t.Tags)}
	if t.ParentID != 0 {
		one.Labels.ParentID = strconv.FormatInt(t.ParentID, 10)
	}
	return one, true
}

// dialled is an address as exporters take one for a module of the kind.
func dialled(kind uptime.Kind, u *url.URL, text string) string {
	switch {
	case kind == uptime.KindHTTP || kind == uptime.KindWebSocket || u.Host == "":
		return text
	case kind == uptime.KindICMP:
		return u.Hostname()
	case kind == uptime.KindTLS && u.Port() == "":
		return u.Host + ":443"
	}
	return u.Host
}

// between writes a list so that a pattern such as .*,eu,.* finds one of it.
func between(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return "," + strings.Join(list, ",") + ","
}
